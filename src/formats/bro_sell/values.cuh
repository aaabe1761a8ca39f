#pragma once
#include <weft/buffer.hpp>

#include "formats/bro_sell/bro_sell.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"

// A part in a GPU's memory, and how its values come to their places.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

using ::weft::bro_sell::Shape;
using ::weft::bro_sell::Slice;
using ::weft::bro_sell::WordLayout;

/// The arrays of a Part on a GPU.
template <class V>
struct DevicePart {
  Shape shape;
  Index rows = 0;
  Index slice_count = 0;
  Index masked_slices = 0;
  Index width = 0;  // of all slices, when they are equally wide, else 0
  bool wide = false;
  DeviceBuffer<Index> order;  // empty when the part holds all block rows in their order
  DeviceBuffer<Slice> slices;
  DeviceBuffer<Index> bases;
  DeviceBuffer<std::uint32_t> words;
  DeviceBuffer<V> values;

  const Index* order_data() const { return order.size() == 0 ? nullptr : order.data(); }
};

__device__ __forceinline__ Offset slice_of_warp() { return simt::global_thread_id() / 32; }

/// Copies the values to their places, and zeros where there is nothing. Needs of the matrix only what does not change
/// with its values: its offsets.
template <class V>
__global__ void __launch_bounds__(::weft::simt::block_threads)
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
  Offset next[6] = {};
  if (own > 0) {
    const Offset place = slot / shape.threads;
    const Offset row = order ? order[place] : place;
    WEFT_UNROLL
    for (int r = 0; r < 6; ++r)
      if (r < b) next[r] = offsets[row * b + r];
    // What the pieces before this one hold.
    for (auto before = static_cast<int>(lane - slot % shape.threads); before < lane; ++before)
      for (Index k = 0; k < length(before); ++k) WEFT_UNROLL
    for (int r = 0; r < 6; ++r)
      if (r < b) next[r] += simt::popcount(static_cast<std::uint32_t>(mask(before, k) >> (r * b)) & ((1u << b) - 1));
  }
  V* const to = values + slice.value;
  for (Index k = 0; k < slice.width; ++k) {
    const std::uint64_t bits = k < own ? mask(lane, k) : 0;
    WEFT_UNROLL
    for (int r = 0; r < 6; ++r) {
      if (r >= b) break;
      for (int c = 0; c < b; ++c) {
        const int e = r * b + c;
        to[value_place(lane, k, e, 32, slice.width, b, shape.pack)] = bits >> e & 1 ? csr_values[next[r]++] : V(0);
      }
    }
  }
}

template <class V>
void fill(Device device, const Offset* offsets, const V* csr_values, DevicePart<V>& part) {
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(bro_sell_fill<V>), simt::blocks_for(static_cast<Offset>(part.slice_count) * 32, threads),
               threads, 0, {}, offsets, csr_values, part.order_data(), part.shape, part.slice_count,
               std::as_const(part.slices).data(), std::as_const(part.words).data(), part.values.data());
  synchronize(device);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
