#pragma once
#include <algorithm>

#include "facts/source_facts.hpp"
#include "formats/bce/bce.hpp"
#include "formats/bce/grouping.cuh"
#include "formats/csr_on_device.cuh"

// From csr to blocked ELL on a GPU (section 6.1 of the paper), with the same result as set_up.cpp:
//  1. the source puts the matrix on the GPU as csr, and counts the rows of each length,
//  2. a kernel lists the long ones; the host makes the layout from these few numbers,
//  3. rows and pieces are grouped by block (grouping.cuh),
//  4. a kernel finds the width of each sub-block; the host places them,
//  5. a kernel writes columns and values.
namespace weft::WEFT_SIMT_NAMESPACE::bce {

using simt::block_threads;
using ::weft::bce::Settings;
using ::weft::bce::Storage;

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

/// The entries of the rows longer than `longest`, in any order.
static __global__ void __launch_bounds__(block_threads)
    bce_list_long_rows(Index rows, const Offset* offsets, Offset longest, Piece* long_rows, Index* count) {
  const std::int64_t row = simt::global_thread_id();
  if (row >= rows || offsets[row + 1] - offsets[row] <= longest) return;
  long_rows[simt::atomic_add(*count, 1)] = {offsets[row], offsets[row + 1]};
}

/// A warp per sub-block: the longest of its rows, rounded up to a multiple of the threads that share one.
static __global__ void __launch_bounds__(block_threads)
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

/// A thread block per sub-block, which writes side by side; of each row it reads as many neighbours as lie together.
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

  // Columns come in groups of as many as lie together, all alike but for the last few. A thread loads several of its
  // places before it stores the first, so that their loads are on their way together.
  constexpr int steps = 4;
  const Index width = filling.widths[s];
  Offset position = filling.positions[s];
  for (Index column = 0; column < width;) {
    const Index together = ::weft::bce::columns_together(filling.threads[s], filling.group, width - column);
    const Index groups = (width - column) / together;
    const int shift = simt::first_set(static_cast<std::uint32_t>(together)) - 1;
    const int places = rows << shift;
    for (int at = thread; at < places; at += block_threads) {
      const Offset begin = begins[at >> shift] + column + (at & (together - 1)), end = ends[at >> shift];
      for (Index group = 0; group < groups; group += steps) {
        Index columns[steps];
        V values[steps];
        WEFT_UNROLL
        for (int step = 0; step < steps; ++step) {
          const Offset from = begin + static_cast<Offset>(group + step) * together;
          const bool there = from < end && group + step < groups;
          columns[step] = there && filling.csr_columns ? simt::load_readonly(filling.csr_columns + from) : -1;
          values[step] = there ? simt::load_readonly(filling.csr_values + from) : V(0);
        }
        WEFT_UNROLL
        for (int step = 0; step < steps; ++step) {
          if (group + step >= groups) break;
          const Offset to = position + static_cast<Offset>(group + step) * places + at;
          if (filling.csr_columns) filling.columns[to] = columns[step];
          filling.values[to] = values[step];
        }
      }
    }
    column += groups * together;
    position += static_cast<Offset>(groups) * places;
  }
  for (Offset to = position + thread; to < filling.positions[s + 1]; to += block_threads) {
    if (filling.csr_columns) filling.columns[to] = -1;
    filling.values[to] = V(0);
  }
}

/// The rows that must be cut, ascending.
inline std::vector<Piece> find_long_rows(const Offset* offsets, const RowLengths& lengths, const Settings& settings,
                                         Device device) {
  Index count = 0;
  for (const LengthCount& found : lengths.row_lengths)
    if (found.length > settings.longest_row) count += found.rows;
  std::vector<Piece> sorted(static_cast<std::size_t>(count));
  if (count == 0) return sorted;
  DeviceBuffer<Index> counter(device, Array<Index>(1, 0));
  DeviceBuffer<Piece> long_rows(device, sorted.size());
  simt::launch(WEFT_KERNEL(bce_list_long_rows), simt::blocks_for(lengths.rows, block_threads), block_threads, 0, {},
               lengths.rows, offsets, settings.longest_row, long_rows.data(), counter.data());
  ::weft::detail::copy_to_host(device, sorted.data(), long_rows.data(), long_rows.bytes(), {});
  std::ranges::sort(sorted, {}, &Piece::begin);
  return sorted;
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
DeviceStorage<V> set_up_on_gpu(const MatrixSource<V>& matrix, const Settings& settings, Device device) {
  const Source<V> source = csr_on_device(matrix, device);
  const RowLengths& lengths = row_lengths(matrix);
  DeviceStorage<V> storage;
  storage.rows = source.rows;
  storage.layout = ::weft::bce::make_layout(lengths.row_lengths,
                                            find_long_rows(source.offsets, lengths, settings, device), settings);
  const Layout& layout = storage.layout;
  const DeviceBuffer<Piece> pieces(device, layout.pieces);
  const RowEntries entries{source.rows, source.offsets, pieces.data()};
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
  fill(storage, entries, source.columns, source.values);
  synchronize(device);  // before the pieces go
  return storage;
}

/// New values in the order of csr, whose offsets are given.
template <Value V>
void refill(DeviceStorage<V>& storage, const Offset* offsets, const V* csr_values, Device device) {
  const DeviceBuffer<Piece> pieces(device, storage.layout.pieces);
  fill(storage, {storage.rows, offsets, pieces.data()}, nullptr, csr_values);
  synchronize(device);  // before the pieces go
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
