// The values of a part, on the CPU.
#include <algorithm>
#include <bit>

#include "core/parallel.hpp"
#include "facts/blocks.hpp"
#include "formats/bro_sell/runs.hpp"

namespace weft::bro_sell {

constexpr Index slots_at_once = 1024;  // of a parallel loop

namespace {

/// The values of one slice in runs.
template <Value V>
void place_runs(const Part<V>& part, Offset s, const Array<Offset>& offsets, std::span<const V> csr_values, V* to) {
  const Slice& slice = part.slices[s];
  const Index c = part.shape.slice_rows;
  const int b = part.shape.block;
  std::fill_n(to, Offset(slice.width) * b * b * c, V(0));
  for (Index i = 0; i < std::min<Offset>(c, part.rows - s * c); ++i) {
    const Offset place = s * c + i;
    const Index row = part.order.empty() ? static_cast<Index>(place) : part.order[place];
    Offset next[max_block] = {};
    for (int r = 0; r < b; ++r) next[r] = offsets[Offset(row) * b + r];
    for_each_step(slice, part.words.data() + slice.word, b, c, i, [&](Index run) {
      for (int r = 0; r < b; ++r)
        for (int column = 0; column < b; ++column)
          to[run_value_place(i, run, r, column, c, b)] = csr_values[static_cast<std::size_t>(next[r]++)];
    });
  }
}

}  // namespace

template <Value V>
void place_values(const Part<V>& part, const Array<Offset>& offsets, std::span<const V> csr_values, V* values) {
  const Shape& shape = part.shape;
  const Index c = shape.slice_rows;
  const int b = shape.block, entries = b * b;
  parallel_for(static_cast<Offset>(part.slices.size()), std::max(1, slots_at_once / c), [&](Offset s) {
    const Slice& slice = part.slices[s];
    if (slice.marks & in_runs) return place_runs(part, s, offsets, csr_values, values + slice.value);
    const std::uint32_t* const words = part.words.data() + slice.word;
    const WordLayout layout = word_layout(slice.width, slice.marks, c, b);
    const auto length = [&](Index i) {
      return slice.marks & ragged ? static_cast<Index>(words[layout.lengths + i]) : slice.width;
    };
    const auto mask = [&](Index i, Index k) -> std::uint64_t {
      if (!(slice.marks & masked)) return ~std::uint64_t(0);
      const std::uint32_t* const at = words + layout.masks + (Offset(k) * c + i) * mask_words(b);
      return mask_words(b) == 1 ? at[0] : at[0] | std::uint64_t(at[1]) << 32;
    };
    V* const to = values + slice.value;
    for (Index i = 0; i < c; ++i) {
      const Offset slot = s * c + i;
      Offset next[max_block] = {};
      if (length(i) > 0) {
        const Index row =
            part.order.empty() ? static_cast<Index>(slot / shape.threads) : part.order[slot / shape.threads];
        for (int r = 0; r < b; ++r) next[r] = offsets[Offset(row) * b + r];
        // What the pieces before this one hold.
        for (auto before = static_cast<Index>(i - slot % shape.threads); before < i; ++before)
          for (Index k = 0; k < length(before); ++k)
            for (int r = 0; r < b; ++r)
              next[r] += std::popcount(mask(before, k) >> (r * b) & ((std::uint64_t(1) << b) - 1));
      }
      for (Index k = 0; k < slice.width; ++k) {
        const std::uint64_t bits = k < length(i) ? mask(i, k) : 0;
        for (int e = 0; e < entries; ++e)
          to[value_place(i, k, e, c, slice.width, b, shape.pack)] =
              bits >> e & 1 ? csr_values[static_cast<std::size_t>(next[e / b]++)] : V(0);
      }
    }
  });
}

#define WEFT_INSTANTIATE(V) template void place_values<V>(const Part<V>&, const Array<Offset>&, std::span<const V>, V*);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_sell
