#pragma once
#include "formats/bro_sell/setup.cuh"

// A part in a GPU's memory, and how its values come to their places.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

template <class V>
struct DevicePart {
  DeviceLayout layout;
  DeviceBuffer<V> values;
};

/// Copies the values to their places, and zeros where there is nothing. Needs of the matrix only what does not change
/// with its values: its offsets.
template <class V>
__global__ void __launch_bounds__(simt::block_threads)
    bro_sell_fill(const Offset* offsets, const V* csr_values, const Index* order, Shape shape, Index slice_count,
                  const Slice* slices, const std::uint32_t* all_words, V* values) {
  using namespace ::weft::bro_sell;
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slice slice = slices[s];
  const int b = shape.block, lane = simt::lane_id();
  const std::uint32_t* const words = all_words + slice.word;
  const WordLayout layout = word_layout(slice.width, slice.marks, 32, b);
  const auto length = [&](int i) {
    return slice.marks & ragged ? static_cast<Index>(words[layout.lengths + i]) : slice.width;
  };
  const auto mask = [&](int i, Index k) -> std::uint64_t {
    if (!(slice.marks & masked)) return ~std::uint64_t(0);
    const std::uint32_t* const at = words + layout.masks + (static_cast<Offset>(k) * 32 + i) * mask_words(b);
    return mask_words(b) == 1 ? at[0] : at[0] | static_cast<std::uint64_t>(at[1]) << 32;
  };
  const Offset slot = s * 32 + lane;
  const Index own = length(lane);
  Offset next[max_block] = {};
  if (own > 0) {
    const Offset place = slot / shape.threads;
    const Offset row = order ? order[place] : place;
    WEFT_UNROLL
    for (int r = 0; r < max_block; ++r)
      if (r < b) next[r] = offsets[row * b + r];
    // What the pieces before this one hold.
    for (auto before = static_cast<int>(lane - slot % shape.threads); before < lane; ++before)
      for (Index k = 0; k < length(before); ++k) WEFT_UNROLL
    for (int r = 0; r < max_block; ++r)
      if (r < b) next[r] += simt::popcount(static_cast<std::uint32_t>(mask(before, k) >> (r * b)) & ((1u << b) - 1));
  }
  V* const to = values + slice.value;
  for (Index k = 0; k < slice.width; ++k) {
    const std::uint64_t bits = k < own ? mask(lane, k) : 0;
    WEFT_UNROLL
    for (int r = 0; r < max_block; ++r) {
      if (r >= b) break;
      for (int c = 0; c < b; ++c) {
        const int e = r * b + c;
        to[value_place(lane, k, e, 32, slice.width, b, shape.pack)] = bits >> e & 1 ? csr_values[next[r]++] : V(0);
      }
    }
  }
}

template <class V>
void place_values(Device device, const Offset* offsets, const V* csr_values, DevicePart<V>& part) {
  const DeviceLayout& layout = part.layout;
  if (layout.rows == 0) return;
  constexpr int threads = simt::block_threads;
  simt::launch(WEFT_KERNEL(bro_sell_fill<V>), simt::blocks_for(static_cast<Offset>(layout.slice_count) * 32, threads),
               threads, 0, {}, offsets, csr_values, layout.order_data(), layout.shape, layout.slice_count,
               layout.slices.data(), layout.words.data(), part.values.data());
  synchronize(device);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
