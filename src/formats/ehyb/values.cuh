#pragma once
#include "facts/blocks.hpp"
#include "formats/ehyb/multiply.cuh"

// How values come to their places on a GPU. All it takes of the matrix is what does not change with its values: its row
// offsets, and which of its entries are in the extra part.
namespace weft::WEFT_SIMT_NAMESPACE::ehyb {

template <class V>
struct DeviceStorage {
  DeviceLayout layout;
  DeviceBuffer<V> values;
  DeviceBuffer<V> extra_values;
};

template <class T>
__global__ void __launch_bounds__(simt::block_threads) ehyb_clear(Offset count, T* elements) {
  const Offset i = simt::global_thread_id();
  if (i < count) elements[i] = T(0);
}

/// Values of the extra part; in `marks`, a bit per entry of the matrix, those entries are marked.
template <class V>
__global__ void __launch_bounds__(simt::block_threads)
    ehyb_place_extra(Offset count, const Offset* positions, const V* csr_values, V* values, std::uint32_t* marks) {
  const Offset i = simt::global_thread_id();
  if (i >= count) return;
  const Offset position = positions[i];
  values[i] = position < 0 ? V(0) : csr_values[position];
  if (position >= 0) simt::atomic_or(marks[position / 32], 1u << (position % 32));
}

/// Values of slices, a warp per slice, and zeros where there is nothing. Entries that are marked are skipped; without
/// marks there are none.
template <class V>
__global__ void __launch_bounds__(simt::block_threads)
    ehyb_place_values(const Part* parts, const Index* order, const Slice* slices, const std::uint16_t* all_columns,
                      int block, const Offset* offsets, const std::uint32_t* marks, const V* csr_values,
                      V* all_values) {
  const Part part = parts[blockIdx.x];
  const int lane = simt::lane_id();
  const Index warps = static_cast<Index>(gridDim.y * blockDim.x / 32);
  for (Index s = static_cast<Index>(blockIdx.y * blockDim.x / 32) + simt::warp_id(); s < part.slices; s += warps) {
    const Slice slice = slices[part.slice + s];
    const std::uint16_t* const columns = all_columns + slice.entry;
    V* const values = all_values + slice.entry * (block * block);
    const bool live = s * slice_rows + lane < part.rows;
    const Offset node = live ? order[part.row + s * slice_rows + lane] : 0;
    Offset next[max_block];
    WEFT_UNROLL
    for (int r = 0; r < max_block; ++r) next[r] = live && r < block ? offsets[node * block + r] : 0;
    for (Index k = 0; k < slice.width; ++k) {
      const bool padding = columns[place_in_slice(lane, k, slice_rows, slice.width, column_pack)] == part.cached;
      WEFT_UNROLL
      for (int r = 0; r < max_block; ++r) {
        if (r >= block) break;
        if (marks && slice.extra >= 0 && !padding)
          while (marks[next[r] / 32] >> (next[r] % 32) & 1u) ++next[r];
        for (int c = 0; c < block; ++c)
          values[::weft::bro_sell::value_place(lane, k, r * block + c, slice_rows, slice.width, block, value_pack<V>)] =
              padding ? V(0) : csr_values[next[r]++];
      }
    }
  }
}

/// Places values that are in csr's order. `entries` of them there are in the matrix, `offsets` are those of its rows.
template <class V>
void place_values(Device device, const Offset* offsets, Offset entries, const V* csr_values,
                  DeviceStorage<V>& storage) {
  constexpr int threads = simt::block_threads;
  const DeviceLayout& layout = storage.layout;
  const Array<Offset>& positions = layout.extra.positions;
  DeviceBuffer<std::uint32_t> marks;
  DeviceBuffer<Offset> positions_there;
  if (layout.extra.pieces > 0) {
    marks = DeviceBuffer<std::uint32_t>(device, static_cast<std::size_t>(entries) / 32 + 1);
    positions_there = DeviceBuffer<Offset>(device, positions);
    const auto words = static_cast<Offset>(marks.size()), count = static_cast<Offset>(positions.size());
    simt::launch(WEFT_KERNEL(ehyb_clear<std::uint32_t>), simt::blocks_for(words, threads), threads, 0, {}, words,
                 marks.data());
    simt::launch(WEFT_KERNEL(ehyb_place_extra<V>), simt::blocks_for(count, threads), threads, 0, {}, count,
                 std::as_const(positions_there).data(), csr_values, storage.extra_values.data(), marks.data());
  }
  const unsigned blocks_per_part = device.kind() == Device::Kind::emulator ? 1 : 8;
  simt::launch(WEFT_KERNEL(ehyb_place_values<V>), dim3(static_cast<unsigned>(layout.part_count), blocks_per_part),
               threads, 0, {}, layout.parts.data(), layout.order.data(), layout.slices.data(), layout.columns.data(),
               layout.shape.block, offsets, layout.extra.pieces > 0 ? std::as_const(marks).data() : nullptr, csr_values,
               storage.values.data());
  synchronize(device);  // before marks and positions go
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
