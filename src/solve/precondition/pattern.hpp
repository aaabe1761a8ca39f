#pragma once
#include <weft/array.hpp>
#include <weft/csr.hpp>
#include <weft/runtime.hpp>

#include "solve/precondition/systems.hpp"

namespace weft::precondition {

/// Where a sparse approximate inverse may have entries, see Groups.
struct Pattern {
  Array<Index> starts;
  Array<Offset> offsets;
  Array<Index> columns;

  Index rows() const { return static_cast<Index>(offsets.size() - 1); }
  Index groups() const { return static_cast<Index>(starts.size() - 1); }
  Offset nonzeros() const { return offsets.back(); }
  Offset unknowns(Index group) const { return offsets[starts[group] + 1] - offsets[starts[group]]; }
  Index group_rows(Index group) const { return starts[group + 1] - starts[group]; }
  Groups view() const { return {starts.data(), offsets.data(), columns.data()}; }
};

/// How a pattern follows from a matrix, see SparseInverseOptions.
struct PatternRules {
  int power = 1;
  double drop = 0;
  int block = 1;  ///< rows of a node; divides the rows of the matrix
  Index max_unknowns = 256;
  bool lower = false;  ///< as in fsai: the lower triangle only, of nodes, and steps are relative to the diagonal
  bool short_rows_only = false;  ///< a node is not in another's row if its own is long: spai needs the whole of it
};

template <Value V>
Pattern find_pattern(const Csr<V>& matrix, const PatternRules& rules, const Progress& progress);

/// Blocks of these many rows each, which add up to those of the matrix, on the diagonal.
Pattern diagonal_blocks(const std::vector<Index>& sizes);

}  // namespace weft::precondition
