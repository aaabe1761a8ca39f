#pragma once
#include <weft/order.hpp>

#include "order/pattern.hpp"

// The ways to order, each in a file of its own.
namespace weft::ordering {

/// Row numbers, the longest rows first, equally long ones as they stood.
Array<Index> by_length(const Pattern& pattern);
/// Likewise, from an order of the rows: equally long ones stay as they stand in it.
Array<Index> by_length(const Pattern& pattern, const Array<Index>& rows);

Array<Index> reverse_cuthill_mckee(const Pattern& pattern, const Progress& progress);

/// Throws Error(unsupported) in a build without SuiteSparse.
Array<Index> approximate_minimum_degree(const Pattern& pattern, const Progress& progress);

/// `line_elements` elements of x are in one cache line.
Array<Index> bro_aware(const Pattern& pattern, const BarModel& model, Index line_elements, const Progress& progress);

}  // namespace weft::ordering
