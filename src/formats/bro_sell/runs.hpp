#pragma once
#include "facts/runs.hpp"
#include "formats/bro_sell/bro_sell.hpp"

// Slices that are nothing but runs, on a CPU: blocks of neighbouring block rows at the same distance from the diagonal,
// so that what they need of x is one piece of it. Like sell's (formats/sell/cpu_storage.hpp), with blocks for entries.
namespace weft::bro_sell {

/// The runs of a slice, by ascending distance in block columns.
struct RunCut {
  std::vector<facts::Run> full;     ///< every slot has a block
  std::vector<facts::Run> partial;  ///< bit i of the mask: slot i has one

  Index steps() const { return static_cast<Index>(full.size() + partial.size()); }
  bool operator==(const RunCut&) const = default;

  /// The slots are block rows `first` to first + count - 1. False, perhaps half done, when there would be too much
  /// padding.
  bool find(const Pattern& pattern, Index first, Index count, Index places);
};

/// Whether slices of such a shape may be runs: kernels know C.
constexpr bool may_have_runs(const Shape& shape) {
  return shape.runs && shape.threads == 1 && (shape.slice_rows == 8 || shape.slice_rows == 16);
}

/// Whether rows had better stay unsorted for the sake of runs: judged by a sample of slices.
bool runs_instead_of_order(const Pattern& pattern, const Shape& shape);

/// Marks the slices that can be stored as runs, and sets their widths. Linear, parallel; the same for any number of
/// threads.
template <Value V>
void find_runs(const Pattern& pattern, Part<V>& part);

/// The words of one slice in runs.
void write_runs(const RunCut& cut, int block, Index slice_rows, std::uint32_t* words);

/// Calls body(step) for the blocks of slot i of such a slice, by ascending column.
template <class F>
void for_each_step(const Slice& slice, const std::uint32_t* words, int block, Index slice_rows, Index i, F&& body) {
  const RunWords runs(slice, words, block);
  const auto has = [&](Index run) { return runs.masks(run)[i * block / slice_rows] >> (i * block % slice_rows) & 1; };
  Index f = 0, p = runs.full;
  for (;;) {
    while (p < slice.width && !has(p)) ++p;
    if (f == runs.full && p == slice.width) return;
    if (p == slice.width || (f < runs.full && runs.distance(f) < runs.distance(p)))
      body(f++);
    else
      body(p++);
  }
}

}  // namespace weft::bro_sell
