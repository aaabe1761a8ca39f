#pragma once
#include <weft/order.hpp>

#include <bit>
#include <span>

#include "order/pattern.hpp"

namespace weft::ordering {

/// How many elements of x lie in a cache line. Throws Error(invalid_argument) for a model that is none.
template <Value V>
Index line_elements(const BarModel& model);

/// Bits that the step from `before` to `column` takes when it is packed: columns count from 1, so that 0 is left for
/// padding. `before` is -1 at the start of a row.
inline int step_bits(Index before, Index column) {
  return std::bit_width(static_cast<std::uint32_t>(column) - static_cast<std::uint32_t>(before));
}

/// One slice in the model: `rows` are the rows in it.
class SliceCounter {
 public:
  SliceCounter(const Pattern& pattern, const BarModel& model, Index line_elements);

  /// The slice's part of the objective.
  Offset cost(std::span<const Index> rows);

 private:
  void next_round();
  const Pattern& pattern_;
  const BarModel& model_;
  Index line_elements_;
  std::vector<Index> longest_first_;
  std::vector<std::uint64_t> table_;  // lines seen, with the round they were seen in
  std::uint64_t round_ = 0;
};

/// Orders the rows of a few slices anew, if that lessens their part of the objective: the greedy of Algorithm 2 among
/// at most `chunk_slices` clusters.
constexpr int chunk_slices = 64;
void improve_chunk(const Pattern& pattern, std::span<Index> rows, const BarModel& model, Index line_elements);

/// The objective of the rows in this order; `rows` has them all.
Offset objective(const Pattern& pattern, std::span<const Index> rows, const BarModel& model, Index line_elements);

}  // namespace weft::ordering
