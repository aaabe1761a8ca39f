#pragma once
#include <weft/array.hpp>
#include <weft/types.hpp>

#include "order/pattern.hpp"

namespace weft::ordering {

/// The graph of A + A^T for a square A: node i and j are neighbours where A has an entry (i, j) or (j, i). Loops may be
/// among the neighbours; each neighbour stands once, ascending.
class Graph {
 public:
  explicit Graph(const Pattern& pattern);

  Index nodes() const { return nodes_; }
  std::span<const Index> neighbours(Index node) const {
    return {columns_ + offsets_[node], static_cast<std::size_t>(offsets_[node + 1] - offsets_[node])};
  }
  Offset degree(Index node) const { return offsets_[node + 1] - offsets_[node]; }

 private:
  Index nodes_;
  const Offset* offsets_;  // the pattern's own arrays when it is symmetric
  const Index* columns_;
  Array<Offset> own_offsets_;
  Array<Index> own_columns_;
};

}  // namespace weft::ordering
