#pragma once
#include <algorithm>

#include "formats/bce/bce.hpp"
#include "formats/bce/grouping.cuh"

// From csr to blocked ELL on a GPU (section 6.1 of the paper), with the same result as set_up.cpp:
//  1. the matrix goes to the GPU as csr,
//  2. a kernel counts the rows of each length and lists the long ones; the host makes the layout of these few numbers,
//  3. rows and pieces are grouped by block (grouping.cuh),
//  4. a kernel finds the width of each sub-block; the host places them,
//  5. a kernel writes columns and values.
namespace weft::WEFT_SIMT_NAMESPACE::bce {

using ::weft::bce::Settings;
using ::weft::bce::Storage;
using ::weft::simt::block_threads;

/// bce::Storage in a GPU's memory; the kernels do without full_widths.
template <class V>
struct DeviceStorage {
  Index rows = 0;
  Layout layout;
  DeviceBuffer<Offset> block_rows;
  DeviceBuffer<Index> threads;
  DeviceBuffer<Index> row_numbers;
  DeviceBuffer<Index> widths;
  DeviceBuffer<Offset> positions;
  DeviceBuffer<Index> columns;
  DeviceBuffer<V> values;

  std::size_t bytes() const {
    return block_rows.bytes() + threads.bytes() + row_numbers.bytes() + widths.bytes() + positions.bytes() +
           columns.bytes() + values.bytes();
  }
};

/// rows_of[length] for lengths up to `longest`; the other rows to `long_rows`, in any order.
__global__ void __launch_bounds__(block_threads)
    bce_count_lengths(Index rows, const Offset* offsets, Index longest, Index* rows_of, Index* long_rows,
                      Index* long_count) {
  const std::int64_t row = simt::global_thread_id();
  const Offset length = row < rows ? offsets[row + 1] - offsets[row] : -1;
  const bool is_long = length > longest;
  if (is_long) long_rows[simt::atomic_add(*long_count, 1)] = static_cast<Index>(row);
  // Neighbouring rows are often of one length: a warp counts them together.
  const Index bin = is_long ? -1 : static_cast<Index>(length);
  const unsigned same = simt::match_any(simt::full_mask, bin);
  if (bin >= 0 && simt::first_set(static_cast<std::uint32_t>(same)) - 1 == simt::lane_id())
    simt::atomic_add(rows_of[bin], simt::popcount(static_cast<std::uint32_t>(same)));
}

/// A warp a sub-block: the longest of its rows, rounded up to a multiple of the threads that share one.
__global__ void __launch_bounds__(block_threads)
    bce_measure(Offset sub_blocks, const Offset* block_rows, const Index* threads, const Index* row_numbers,
                RowEntries entries, Index* widths) {
  const Offset s = simt::global_thread_id() / 32;
  if (s >= sub_blocks) return;  // for the whole warp
  Index longest = 0;
  for (Offset place = block_rows[s] + simt::lane_id(); place < block_rows[s + 1]; place += 32) {
    const Piece range = entries.of(row_numbers[place]);
    const Index length = static_cast<Index>(range.end - range.begin);
    longest = length > longest ? length : longest;
  }
  longest = simt::warp_reduce(longest, simt::Max{});
  if (simt::lane_id() == 0) widths[s] = (longest + threads[s] - 1) / threads[s] * threads[s];
}

/// What bce_fill reads and writes; without csr_columns it writes values only.
template <class V>
struct Filling {
  const Offset* block_rows = nullptr;
  const Index* threads = nullptr;
  const Index* row_numbers = nullptr;
  const Index* widths = nullptr;
  const Offset* positions = nullptr;
  RowEntries entries;
  const Index* csr_columns = nullptr;
  const V* csr_values = nullptr;
  Index* columns = nullptr;
  V* values = nullptr;
  int group = 1;
};

/// A thread block a sub-block, which writes side by side; of each row it reads as many neighbours as lie together.
template <class V>
__global__ void __launch_bounds__(block_threads) bce_fill(Filling<V> filling) {
  WEFT_SHARED(Offset, begins, block_threads);
  WEFT_SHARED(Offset, ends, block_threads);
  const Offset s = blockIdx.x;
  const Offset first = filling.block_rows[s];
  const int rows = static_cast<int>(filling.block_rows[s + 1] - first);
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < rows) {
    const Piece range = filling.entries.of(filling.row_numbers[first + thread]);
    begins[thread] = range.begin;
    ends[thread] = range.end;
  }
  simt::sync_block();

  const auto put = [&](Offset to, Offset from) {
    if (filling.csr_columns) filling.columns[to] = from < 0 ? -1 : filling.csr_columns[from];
    filling.values[to] = from < 0 ? V(0) : filling.csr_values[from];
  };
  const Index width = filling.widths[s];
  Offset position = filling.positions[s];
  for (Index column = 0, together = 0; column < width; column += together) {
    together = ::weft::bce::columns_together(filling.threads[s], filling.group, width - column);
    const int shift = simt::first_set(static_cast<std::uint32_t>(together)) - 1;
    for (int at = thread; at < rows << shift; at += block_threads) {
      const Offset begin = begins[at >> shift], end = ends[at >> shift];
      const Offset from = begin + column + (at & (together - 1));
      put(position + at, from < end ? from : -1);
    }
    position += rows << shift;
  }
  for (Offset to = position + thread; to < filling.positions[s + 1]; to += block_threads) put(to, -1);
}

/// Counts the rows of each length on the GPU and makes the layout on the host.
inline Layout make_layout(const DeviceBuffer<Offset>& offsets, const Array<Offset>& host_offsets, Index rows,
                          const Settings& settings, Device device) {
  const auto longest = static_cast<Index>(settings.longest_row);
  const auto most_long_rows = static_cast<std::size_t>(host_offsets.back() / (settings.longest_row + 1) + 1);
  DeviceBuffer<Index> counts(device, Array<Index>(static_cast<std::size_t>(longest) + 2, 0));
  DeviceBuffer<Index> long_rows(device, most_long_rows);
  simt::launch(WEFT_KERNEL(bce_count_lengths), simt::blocks_for(rows, block_threads), block_threads, 0, {}, rows,
               offsets.data(), longest, counts.data(), long_rows.data(), counts.data() + longest + 1);
  const Array<Index> rows_of = counts.download();
  std::vector<LengthCount> lengths;
  for (Index length = 0; length <= longest; ++length)
    if (rows_of[length] > 0) lengths.push_back({length, rows_of[length]});
  std::vector<Index> sorted(static_cast<std::size_t>(rows_of[longest + 1]));
  ::weft::detail::copy_to_host(device, sorted.data(), long_rows.data(), sorted.size() * sizeof(Index), {});
  std::sort(sorted.begin(), sorted.end());
  return ::weft::bce::make_layout(lengths, sorted, host_offsets, settings);
}

template <Value V>
void fill(DeviceStorage<V>& storage, const RowEntries& entries, const Index* csr_columns, const V* csr_values) {
  const Filling<V> filling{.block_rows = storage.block_rows.data(),
                           .threads = storage.threads.data(),
                           .row_numbers = storage.row_numbers.data(),
                           .widths = storage.widths.data(),
                           .positions = storage.positions.data(),
                           .entries = entries,
                           .csr_columns = csr_columns,
                           .csr_values = csr_values,
                           .columns = storage.columns.data(),
                           .values = storage.values.data(),
                           .group = storage.layout.group};
  simt::launch(WEFT_KERNEL(bce_fill<V>), simt::blocks_for(storage.layout.sub_blocks(), 1), block_threads, 0, {},
               filling);
}

template <Value V>
DeviceStorage<V> set_up_on_gpu(const Csr<V>& matrix, const Settings& settings, Device device) {
  DeviceStorage<V> storage;
  storage.rows = matrix.rows;
  const DeviceBuffer<Offset> offsets(device, matrix.offsets);
  const DeviceBuffer<Index> csr_columns(device, matrix.columns);
  const DeviceBuffer<V> csr_values(device, matrix.values);

  storage.layout = make_layout(offsets, matrix.offsets, matrix.rows, settings, device);
  const Layout& layout = storage.layout;
  const DeviceBuffer<Piece> pieces(device, layout.pieces);
  const RowEntries entries{matrix.rows, offsets.data(), pieces.data()};
  storage.block_rows = DeviceBuffer<Offset>(device, layout.block_rows);
  storage.threads = DeviceBuffer<Index>(device, layout.threads);
  storage.row_numbers = group_rows(layout, entries, settings.longest_row, device);

  storage.widths = DeviceBuffer<Index>(device, layout.threads.size());
  simt::launch(WEFT_KERNEL(bce_measure), simt::blocks_for(layout.sub_blocks(), block_threads / 32), block_threads, 0,
               {}, layout.sub_blocks(), storage.block_rows.data(), storage.threads.data(), storage.row_numbers.data(),
               entries, storage.widths.data());
  const Array<Offset> positions = ::weft::bce::place_sub_blocks(layout, storage.widths.download(), settings.alignment);
  storage.positions = DeviceBuffer<Offset>(device, positions);

  storage.columns = DeviceBuffer<Index>(device, static_cast<std::size_t>(positions.back()));
  storage.values = DeviceBuffer<V>(device, static_cast<std::size_t>(positions.back()));
  fill(storage, entries, csr_columns.data(), csr_values.data());
  synchronize(device);  // before the csr arrays go
  return storage;
}

/// New values in the order of csr.
template <Value V>
void refill(DeviceStorage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values, Device device) {
  const DeviceBuffer<Offset> csr_offsets(device, offsets);
  const DeviceBuffer<Piece> pieces(device, storage.layout.pieces);
  const DeviceBuffer<V> values(device, csr_values);
  fill(storage, {storage.rows, csr_offsets.data(), pieces.data()}, nullptr, values.data());
  synchronize(device);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
