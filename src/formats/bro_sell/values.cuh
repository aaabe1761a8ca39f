#pragma once
#include "formats/block_size.hpp"
#include "formats/bro_sell/setup.cuh"

// A part in a GPU's memory, and how its values come to their places.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

template <class V>
struct DevicePart {
  DeviceLayout layout;
  DeviceBuffer<V> values;
};

/// Places of a lane that are loaded before the first is stored, so that their loads are on their way together.
constexpr int steps_of_fill(int block) { return block == 1 ? 8 : block == 2 ? 2 : 1; }

/// Copies the values to their places, and zeros where there is nothing. Needs of the matrix only what does not change
/// with its values: its offsets.
template <class V, int Block>
__global__ void __launch_bounds__(simt::block_threads)
    bro_sell_fill(const Offset* offsets, const V* csr_values, const Index* order, Shape shape, Index slice_count,
                  const Slice* slices, const std::uint32_t* all_words, V* values) {
  using namespace ::weft::bro_sell;
  constexpr int steps = steps_of_fill(Block);
  const Offset s = slice_of_warp();
  if (s >= slice_count) return;
  const Slice slice = slices[s];
  const int lane = simt::lane_id();
  const std::uint32_t* const words = all_words + slice.word;
  const WordLayout layout = word_layout(slice.width, slice.marks, 32, Block);
  const auto length = [&](int i) {
    return slice.marks & ragged ? static_cast<Index>(words[layout.lengths + i]) : slice.width;
  };
  const auto mask = [&](int i, Index k) -> std::uint64_t {
    if (!(slice.marks & masked)) return ~std::uint64_t(0);
    const std::uint32_t* const at = words + layout.masks + (static_cast<Offset>(k) * 32 + i) * mask_words(Block);
    return mask_words(Block) == 1 ? at[0] : at[0] | static_cast<std::uint64_t>(at[1]) << 32;
  };
  const Offset slot = s * 32 + lane;
  const Index own = length(lane);
  Offset next[Block] = {};
  if (own > 0) {
    const Offset place = slot / shape.threads;
    const Offset row = order ? order[place] : place;
    WEFT_UNROLL
    for (int r = 0; r < Block; ++r) next[r] = offsets[row * Block + r];
    // What the pieces before this one hold.
    for (auto before = static_cast<int>(lane - slot % shape.threads); before < lane; ++before)
      for (Index k = 0; k < length(before); ++k) {
        const std::uint64_t bits = mask(before, k);
        WEFT_UNROLL
        for (int r = 0; r < Block; ++r)
          next[r] += simt::popcount(static_cast<std::uint32_t>(bits >> (r * Block)) & ((1u << Block) - 1));
      }
  }
  V* const to = values + slice.value;
  for (Index k = 0; k < slice.width; k += steps) {
    V found[steps][Block * Block];
    WEFT_UNROLL
    for (int step = 0; step < steps; ++step) {
      const std::uint64_t bits = k + step < own ? mask(lane, k + step) : 0;
      WEFT_UNROLL
      for (int e = 0; e < Block * Block; ++e)
        found[step][e] = bits >> e & 1 ? simt::load_readonly(csr_values + next[e / Block]++) : V(0);
    }
    WEFT_UNROLL
    for (int step = 0; step < steps; ++step) {
      if (k + step >= slice.width) break;
      WEFT_UNROLL
      for (int e = 0; e < Block * Block; ++e)
        to[value_place(lane, k + step, e, 32, slice.width, Block, shape.pack)] = found[step][e];
    }
  }
}

template <class V>
void place_values(Device device, const Offset* offsets, const V* csr_values, DevicePart<V>& part) {
  const DeviceLayout& layout = part.layout;
  if (layout.rows == 0) return;
  constexpr int threads = simt::block_threads;
  with_block_size(layout.shape.block, [&](auto block) {
    simt::launch(WEFT_KERNEL(bro_sell_fill<V, decltype(block)::value>),
                 simt::blocks_for(static_cast<Offset>(layout.slice_count) * 32, threads), threads, 0, {}, offsets,
                 csr_values, layout.order_data(), layout.shape, layout.slice_count, layout.slices.data(),
                 layout.words.data(), part.values.data());
  });
  synchronize(device);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
