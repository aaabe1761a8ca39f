#pragma once
#include "order/partition/multilevel/bisection.hpp"
#include "order/pattern.hpp"

// Parts by where the rows of a matrix are in space.
namespace weft::ordering {

/// Throws Error(invalid_argument) unless these are points of 1 to 3 finite numbers each, one per row or per `block`
/// rows.
void require_coordinates(const Coordinates& coordinates, Index rows, int block);
/// The same for nodes of any number of rows, all alike.
void require_coordinates_of_nodes(const Coordinates& coordinates, Index rows);

/// Where the nodes of `block` rows are, as whole numbers: where the first of their rows is. The same scale in all
/// directions, so that shapes are kept.
Array<multilevel::Point> points_of_nodes(const Coordinates& coordinates, Index rows, int block);

/// Halves the nodes of a matrix, of any shape, by where they are. Parts have at most their capacity, and as many nodes
/// as others or, with even_entries, as many entries in their rows.
Array<Index> coordinate_parts(const Pattern& pattern, int block, const Coordinates& coordinates, const PartSizes& sizes,
                              const Pulse& pulse);

}  // namespace weft::ordering
