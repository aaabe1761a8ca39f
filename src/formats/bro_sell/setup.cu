// The set-up of bro-sell on a GPU: which kernels, in which order.
#include "formats/bro_sell/setup.cuh"

#include "formats/bro_sell/encode.cuh"
#include "formats/sort_windows.cuh"
#include "simt/scan.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {
namespace {

/// The widths and marks of slices: enough to see which blocks are not full.
struct Measured {
  DeviceLayout layout;
  DeviceBuffer<Offset> columns;  // the width of each slice
};

Measured measure(const SetupInput& input, const PatternView& pattern, const Shape& shape, DeviceBuffer<Index> order,
                 Index rows) {
  constexpr int threads = simt::block_threads;
  Measured measured;
  DeviceLayout& layout = measured.layout;
  layout.shape = shape;
  layout.rows = rows;
  layout.order = std::move(order);
  layout.slice_count = static_cast<Index>((static_cast<Offset>(rows) * shape.threads + 31) / 32);
  layout.slices = DeviceBuffer<Slice>(input.device, static_cast<std::size_t>(layout.slice_count));
  measured.columns = DeviceBuffer<Offset>(input.device, static_cast<std::size_t>(layout.slice_count) + 1);
  const Census zero;
  DeviceBuffer<Census> census(input.device, std::span<const Census>(&zero, 1));
  simt::launch(WEFT_KERNEL(bro_sell_measure), simt::blocks_for(static_cast<Offset>(layout.slice_count) * 32, threads),
               threads, 0, {}, input.matrix, pattern, layout.order_data(), rows, shape.threads, layout.slice_count,
               layout.slices.data(), measured.columns.data(), census.data());
  const Census found = census.download()[0];
  layout.masked_slices = found.masked_slices;
  layout.width = found.widest;
  return measured;
}

Offset last_of(Device device, const DeviceBuffer<Offset>& sums) {
  Offset last = 0;
  ::weft::detail::copy_to_host(device, &last, sums.data() + sums.size() - 1, sizeof last, {});
  return last;
}

/// Where everything is stored, and the packed columns.
DeviceLayout finish(const SetupInput& input, const PatternView& pattern, Measured measured) {
  constexpr int threads = simt::block_threads;
  const Device device = input.device;
  DeviceLayout layout = std::move(measured.layout);
  const Index slices = layout.slice_count;
  const auto count = static_cast<std::size_t>(slices);
  const unsigned thread_per_slice = simt::blocks_for(slices, threads);
  const unsigned warp_per_slice = simt::blocks_for(static_cast<Offset>(slices) * 32, threads);
  const Index* const order = layout.order_data();
  const auto require_sensible = [&](Offset max_words) {
    ::weft::bro_sell::require_sensible(layout.entries, max_words, input.nonzeros, input.value_bytes, input.options);
  };

  simt::exclusive_scan(device, measured.columns.data(), slices);
  Offset columns = last_of(device, measured.columns);
  layout.width = layout.shape.may_widen ? equal_width(layout.width, columns, slices) : 0;
  if (layout.width > 0) columns = static_cast<Offset>(slices) * layout.width;
  layout.entries = columns * layout.shape.block * layout.shape.block * 32;
  require_sensible(0);
  DeviceBuffer<Offset> groups(device, count + 1);
  simt::launch(WEFT_KERNEL(bro_sell_place), thread_per_slice, threads, 0, {}, slices, layout.width, layout.shape.block,
               std::as_const(measured.columns).data(), layout.slices.data(), groups.data());
  simt::exclusive_scan(device, groups.data(), slices);

  const auto all_groups = static_cast<std::size_t>(last_of(device, groups));
  layout.bases = DeviceBuffer<Index>(device, all_groups * group_columns);
  DeviceBuffer<std::uint8_t> codes(device, all_groups);
  DeviceBuffer<Offset> words(device, count + 1);
  const Census zero;
  DeviceBuffer<Census> census(device, std::span<const Census>(&zero, 1));
  simt::launch(WEFT_KERNEL(bro_sell_measure_groups), warp_per_slice, threads, 0, {}, pattern, order, layout.rows,
               layout.shape.threads, slices, std::as_const(groups).data(), layout.slices.data(), layout.bases.data(),
               codes.data(), words.data(), census.data());
  const Census found = census.download()[0];
  layout.wide = found.wide != 0;
  require_sensible(found.max_words);
  simt::exclusive_scan(device, words.data(), slices);

  layout.words = DeviceBuffer<std::uint32_t>(device, static_cast<std::size_t>(last_of(device, words)));
  simt::launch(WEFT_KERNEL(bro_sell_pack), warp_per_slice, threads, 0, {}, input.matrix, pattern, order, layout.rows,
               layout.shape.threads, slices, std::as_const(words).data(), std::as_const(codes).data(),
               std::as_const(layout.bases).data(), layout.slices.data(), layout.words.data());
  synchronize(device);  // before codes and words go
  return layout;
}

/// The block rows to store in blocks, and those that take fewer bytes as single entries.
Split split(const SetupInput& input, const PatternView& pattern, const DeviceLayout& layout) {
  constexpr int threads = simt::block_threads;
  DeviceBuffer<std::uint8_t> cheaper(input.device, static_cast<std::size_t>(layout.slice_count));
  simt::launch(WEFT_KERNEL(bro_sell_compare_bytes),
               simt::blocks_for(static_cast<Offset>(layout.slice_count) * 32, threads), threads, 0, {}, input.matrix,
               pattern, layout.order_data(), layout.rows, layout.shape.threads, layout.slice_count,
               layout.slices.data(), static_cast<Offset>(input.value_bytes), cheaper.data());
  return split_rows(layout.shape, layout.rows, layout.order.download(), cheaper.download());
}

}  // namespace

DeviceLayouts lay_out(const SetupInput& input) {
  DeviceLayouts layouts;
  if (input.matrix.rows == 0) return layouts;
  const int block = input.block;
  const PatternOnDevice pattern(input.device, input.matrix, input.nonzeros, block);
  const Index rows = pattern.view().rows;
  const Shape shape = input.choose_shape(
      block,
      block == 1 ? input.rows : ::weft::sell::RowsToCut{input.device, pattern.view().offsets, rows, pattern.count()},
      input.options);
  Measured whole = measure(input, pattern.view(), shape,
                           sorted_rows_on_device(input.device, pattern.view().offsets, rows, shape.window), rows);
  if (block == 1) {
    layouts.singles = finish(input, pattern.view(), std::move(whole));
    return layouts;
  }
  if (whole.layout.masked_slices > 0) {
    const Split rows_of = split(input, pattern.view(), whole.layout);
    if (!rows_of.singles.empty()) {
      const auto part = [&](const PatternView& view, const Shape& cut, const Array<Index>& order) {
        return finish(
            input, view,
            measure(input, view, cut, DeviceBuffer<Index>(input.device, order), static_cast<Index>(order.size())));
      };
      layouts.blocks.shape = shape;
      if (!rows_of.blocks.empty()) layouts.blocks = part(pattern.view(), shape, rows_of.blocks);
      const Singles singles =
          cut_singles(input.host_offsets(), rows_of.singles, block, input.options, input.choose_shape);
      layouts.singles = part(input.matrix, singles.shape, singles.order);
      return layouts;
    }
  }
  layouts.blocks = finish(input, pattern.view(), std::move(whole));
  return layouts;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
