#pragma once
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/coo/row_walker.hpp"
#include "formats/csr_on_device.cuh"
#include "simt/scan.cuh"

// The encoder of bro-coo on a GPU. It delivers the same arrays as the one on the CPU, bit by bit.
namespace weft::WEFT_SIMT_NAMESPACE::bro_coo {

using ::weft::bro_coo::Shape;
using ::weft::bro_coo::Storage;
using ::weft::coo::RowWalker;
constexpr int lanes = ::weft::bro_coo::lanes;
using simt::block_threads;

/// The entries that a lane follows.
struct Stretch {
  Offset interval = 0;
  int lane = 0;
  int steps = 0;
  Offset first = 0;  // of the interval's entries
  Offset count = 0;  // of the interval's entries; the lane's own end there, at most

  __device__ Stretch(const Shape& shape, Offset thread)
      : interval(thread / lanes), lane(static_cast<int>(thread % lanes)) {
    if (interval >= shape.intervals()) return;
    steps = shape.steps_of(interval);
    first = static_cast<Offset>(lane) * steps;
    count = shape.count_in(interval);
  }
  __device__ int live() const {
    const Offset left = count - first;
    return left >= steps ? steps : left > 0 ? static_cast<int>(left) : 0;
  }
};

/// The rows and the width of each interval, and the words its symbols need.
static __global__ void __launch_bounds__(block_threads)
    bro_coo_measure(Shape shape, const Offset* offsets, Index rows, Index* bounds, std::uint8_t* widths,
                    Offset* words) {
  const Stretch stretch(shape, simt::global_thread_id());
  if (stretch.interval >= shape.intervals()) return;  // for the whole warp
  const Offset begin = shape.begin_of(stretch.interval);
  // A lane also looks at the last entry before its own.
  const Offset from = begin + stretch.first - (stretch.lane > 0 ? 1 : 0);
  Index first_row = 0, last_row = 0, largest = 0;
  if (stretch.live() > 0) {
    RowWalker walker(offsets, rows, from);
    first_row = last_row = walker.row_of(from);
    for (Offset k = begin + stretch.first; k < begin + stretch.first + stretch.live(); ++k) {
      const Index row = walker.row_of(k);
      if (row - last_row > largest) largest = row - last_row;
      last_row = row;
    }
  }
  largest = simt::warp_reduce(largest, simt::Max{});
  last_row = simt::warp_reduce(last_row, simt::Max{});  // lanes without an entry have 0
  if (stretch.lane != 0) return;
  const int width = bits_for(static_cast<std::uint32_t>(largest));
  bounds[2 * stretch.interval] = first_row;
  bounds[2 * stretch.interval + 1] = last_row;
  widths[stretch.interval] = static_cast<std::uint8_t>(width);
  words[stretch.interval] = lanes * shape.words_per_lane(stretch.steps, width);
}

template <class Symbol>
__global__ void __launch_bounds__(block_threads)
    bro_coo_pack(Shape shape, const Offset* offsets, Index rows, const std::uint8_t* widths, const Offset* words,
                 std::uint32_t* symbols) {
  const Stretch stretch(shape, simt::global_thread_id());
  if (stretch.interval >= shape.intervals()) return;
  const int width = widths[stretch.interval];
  if (width == 0) return;
  const Offset begin = shape.begin_of(stretch.interval);
  const Offset from = begin + stretch.first - (stretch.lane > 0 ? 1 : 0);
  auto* const to = reinterpret_cast<Symbol*>(symbols + words[stretch.interval]) + stretch.lane;
  BitWriter<Symbol> writer(to, lanes, 8 * static_cast<int>(sizeof(Symbol)));
  if (stretch.live() > 0) {
    RowWalker walker(offsets, rows, from);
    Index before = walker.row_of(from);
    for (int step = 0; step < stretch.live(); ++step) {
      const Index row = walker.row_of(begin + stretch.first + step);
      writer.put(static_cast<std::uint32_t>(row - before), width);
      before = row;
    }
  }
  for (int step = stretch.live(); step < stretch.steps; ++step) writer.put(0, width);
  writer.finish();
}

/// Copies the entries to their places, and padding after them. Without columns, only values of entries are written.
template <class V>
__global__ void __launch_bounds__(block_threads)
    bro_coo_fill(Shape shape, Source<V> source, Index* columns, V* values) {
  const Stretch stretch(shape, simt::global_thread_id());
  if (stretch.interval >= shape.intervals()) return;
  const Offset begin = shape.begin_of(stretch.interval);
  for (int step = 0; step < stretch.steps; ++step) {
    const Offset place = begin + static_cast<Offset>(step) * lanes + stretch.lane;
    const Offset entry = begin + stretch.first + step;
    const bool live = step < stretch.live();
    if (live || columns) values[place] = live ? source.values[entry] : V(0);
    if (columns) columns[place] = live ? source.columns[entry] : 0;
  }
}

/// The arrays of bro_coo::Storage on a GPU.
template <class V>
struct DeviceStorage {
  Shape shape;
  DeviceBuffer<Index> bounds;
  DeviceBuffer<std::uint8_t> widths;
  DeviceBuffer<Offset> words;
  DeviceBuffer<std::uint32_t> symbols;
  DeviceBuffer<Index> columns;
  DeviceBuffer<V> values;

  std::size_t bytes() const {
    return bounds.bytes() + widths.bytes() + words.bytes() + symbols.bytes() + columns.bytes() + values.bytes();
  }
};

inline unsigned blocks_of(const Shape& shape) { return simt::blocks_for(shape.intervals() * lanes, block_threads); }

template <class V>
void fill(const Source<V>& source, DeviceStorage<V>& storage, bool with_columns) {
  simt::launch(WEFT_KERNEL(bro_coo_fill<V>), blocks_of(storage.shape), block_threads, 0, {}, storage.shape, source,
               with_columns ? storage.columns.data() : nullptr, storage.values.data());
}

/// 1. The rows and the width of each interval; 2. where its symbols are stored; 3. the symbols, columns and values.
template <class V>
DeviceStorage<V> encode_on_device(Device device, const Source<V>& source, const Shape& shape) {
  const auto intervals = static_cast<std::size_t>(shape.intervals());
  DeviceStorage<V> storage;
  storage.shape = shape;
  storage.bounds = DeviceBuffer<Index>(device, 2 * intervals);
  storage.widths = DeviceBuffer<std::uint8_t>(device, intervals);
  storage.words = DeviceBuffer<Offset>(device, intervals + 1);
  simt::launch(WEFT_KERNEL(bro_coo_measure), blocks_of(shape), block_threads, 0, {}, shape, source.offsets, source.rows,
               storage.bounds.data(), storage.widths.data(), storage.words.data());
  simt::exclusive_scan(device, storage.words.data(), shape.intervals());
  Offset words = 0;
  ::weft::detail::copy_to_host(device, &words, storage.words.data() + intervals, sizeof words, {});
  storage.symbols = DeviceBuffer<std::uint32_t>(device, static_cast<std::size_t>(words));
  const auto pack = [&](const auto& kernel) {
    simt::launch(kernel, blocks_of(shape), block_threads, 0, {}, shape, source.offsets, source.rows,
                 std::as_const(storage.widths).data(), std::as_const(storage.words).data(), storage.symbols.data());
  };
  if (shape.symbol_bits == 64)
    pack(WEFT_KERNEL(bro_coo_pack<std::uint64_t>));
  else
    pack(WEFT_KERNEL(bro_coo_pack<std::uint32_t>));
  storage.columns = DeviceBuffer<Index>(device, static_cast<std::size_t>(shape.places()));
  storage.values = DeviceBuffer<V>(device, static_cast<std::size_t>(shape.places()));
  fill(source, storage, true);
  synchronize(device);  // what is read may be gone afterwards
  return storage;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_coo
