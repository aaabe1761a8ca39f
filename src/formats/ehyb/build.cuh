#pragma once
#include <algorithm>
#include <optional>

#include "core/timer.hpp"
#include "facts/device_facts.hpp"
#include "facts/source_facts.hpp"
#include "formats/ehyb/values.cuh"
#include "order/partition/coordinates.hpp"
#include "order/partition/multilevel/device.hpp"

// A matrix, or a storage from a file, into a GPU's memory.
namespace weft::WEFT_SIMT_NAMESPACE::ehyb {

using ::weft::ehyb::BlockChoice;
using ::weft::ehyb::Blocks;
using ::weft::ehyb::Caches;
using ::weft::ehyb::Limits;
using ::weft::ehyb::Storage;

template <class V>
Limits limits_of(Device device) {
  Limits limits;
  limits.multiprocessors = device.kind() == Device::Kind::emulator ? 2 : std::max(1, describe(device).multiprocessors);
  limits.cache_bytes = limits.max_cache_bytes = max_cache_bytes(device);
  limits.slice_rows = slice_rows;
  limits.pack = column_pack;
  limits.value_pack = value_pack<V>;
  return limits;
}

/// What the host has laid out, to the device; columns are allocated only.
template <Value V>
DeviceLayout upload_layout(Device device, const Storage<V>& from) {
  DeviceLayout layout;
  layout.shape = from.shape;
  layout.max_cached = from.max_cached;
  Array<Part> parts = part_table(from.caches.row_begin, layout);
  for (Index p = 0; p < layout.part_count; ++p) {
    parts[p].cache = from.caches.cache_begin[p];
    parts[p].cached = from.caches.cached_by(p);
  }
  layout.parts = DeviceBuffer<Part>(device, parts);
  layout.cached = DeviceBuffer<Index>(device, from.caches.cached);
  layout.order = DeviceBuffer<Index>(device, from.order);
  layout.slices = DeviceBuffer<Slice>(device, from.slices);
  layout.columns = DeviceBuffer<std::uint16_t>(device, static_cast<std::size_t>(from.entries));
  const ::weft::ehyb::Extra<V>& extra = from.extra;
  if (extra.pieces == 0) return layout;
  layout.extra.pieces = extra.pieces;
  layout.extra.entries = std::ranges::count_if(extra.columns, [](Index column) { return column >= 0; });
  layout.extra.slices = DeviceBuffer<Slice>(device, extra.slices);
  layout.extra.columns = DeviceBuffer<Index>(device, extra.columns);
  layout.extra.places = DeviceBuffer<Index>(device, extra.places);
  layout.extra.ranges = DeviceBuffer<Range>(device, extra.ranges);
  layout.extra.host_columns = extra.columns;
  layout.extra.positions = extra.positions;
  return layout;
}

template <class V>
DeviceStorage<V> with_room_for_values(Device device, DeviceLayout layout) {
  const auto entries = static_cast<std::size_t>(layout.shape.block * layout.shape.block);
  DeviceBuffer<V> values(device, layout.columns.size() * entries), extra(device, layout.extra.columns.size());
  return {std::move(layout), std::move(values), std::move(extra)};
}

/// Who has which rows.
struct Rows {
  Array<Index> part_of, row_begin;
};

/// The part of each node. Weft's partitioner works where the matrix is, and so does halving by coordinates; what is
/// given, or must be done for a matrix that is not square, is done on the host.
template <Value V>
Array<Index> find_parts(const MatrixSource<V>& source, const PatternView& single, const PatternOnDevice& pattern,
                        bool all_full, const Shape& shape, const BuildOptions& options, Index& parts) {
  const bool square = source.rows() == source.cols();
  if (options.partition || !(square || options.coordinates) || shape.parts <= 1)
    return ::weft::ehyb::find_parts(source.host(), shape, options, parts);
  parts = shape.parts;
  const ordering::PartSizes sizes{.parts = shape.parts, .capacity = shape.max_nodes, .even_entries = true};
  const ordering::Pulse pulse(options.progress);
  if (options.coordinates) {
    const Stopwatch watch;
    Array<Index> part_of = multilevel::halve_points(
        {.device = options.device, .rows = single.rows, .offsets = single.offsets, .block = shape.block},
        ordering::points_of_nodes(*options.coordinates, single.rows, shape.block), sizes, pulse);
    if (options.times) options.times->partition += watch.seconds();
    return part_of;
  }
  // Where all blocks are full, they have mirrors if the entries do, and there are fewer of them.
  const DevicePattern blocks{options.device,        pattern.view().rows,    pattern.view().rows,
                             pattern.count(),       pattern.view().offsets, nullptr,
                             pattern.view().columns};
  const bool symmetric = all_full ? facts::find_symmetry<V>(blocks, nullptr).pattern_symmetric
                                  : ::weft::symmetry(source).pattern_symmetric;
  const Stopwatch watch;
  // Where all blocks are full and have a mirror, edges weigh the same, and nodes are the rows of the pattern.
  const bool by_pattern = all_full && symmetric;
  const PatternView& nodes = by_pattern ? pattern.view() : single;
  Array<Index> part_of = multilevel::find_parts({.device = options.device,
                                                 .rows = nodes.rows,
                                                 .entries = by_pattern ? pattern.count() : source.nonzeros(),
                                                 .offsets = nodes.offsets,
                                                 .columns = nodes.columns,
                                                 .symmetric = symmetric,
                                                 .block = by_pattern ? 1 : shape.block},
                                                sizes, pulse);
  if (options.times) options.times->partition += watch.seconds();
  return part_of;
}

/// 1. Blocks; where some are not full, which, on the host. 2. Parts. 3. Where everything is stored: on the
/// device if it can, else on the host. 4. Columns and values, on the device.
template <Value V>
DeviceStorage<V> build_on_device(const MatrixSource<V>& source, const BlockChoice& choice, const BuildOptions& options,
                                 Rows& rows) {
  const Device device = options.device;
  const Source<V> csr = csr_on_device(source, device);
  const PatternView single = bro_sell::pattern_of(csr);
  const bool square = source.rows() == source.cols();
  int block = choice.size;
  std::optional<PatternOnDevice> pattern(std::in_place, device, single, source.nonzeros(), block);
  const bool all_full = pattern->count() * block * block == source.nonzeros();
  std::optional<Blocks> on_host;
  if (!all_full) {
    on_host = ::weft::ehyb::find_blocks(source.host(), choice);
    if (on_host->pattern.block != block) {
      block = on_host->pattern.block;
      pattern.emplace(device, single, source.nonzeros(), block);
    }
  }

  const Shape shape = ::weft::ehyb::choose_shape(pattern->view().rows, block, sizeof(V), limits_of<V>(device), options);
  Index parts = 0;
  rows.part_of = find_parts(source, single, *pattern, all_full, shape, options, parts);
  const CachesOnDevice caches(device, rows.part_of, parts, square);
  rows.row_begin = caches.row_begin();

  std::optional<DeviceLayout> layout;
  if (all_full)
    layout = lay_out_on_device({.device = device,
                                .shape = shape,
                                .pattern = pattern->view(),
                                .node_cols = source.cols() / block,
                                .blocks = pattern->count(),
                                .value_bytes = sizeof(V),
                                .caches = caches,
                                .options = options});
  if (!layout) {
    if (!on_host) on_host = ::weft::ehyb::find_blocks(source.host(), choice);
    Caches host_caches = ::weft::ehyb::group_rows(pattern->view().rows, square, rows.part_of, parts);
    ::weft::ehyb::find_caches(*on_host, shape, host_caches);
    Storage<V> laid_out = ::weft::ehyb::lay_out(source.host(), *on_host, std::move(host_caches), shape, options);
    ::weft::ehyb::lay_out_extra(source.host(), *on_host, laid_out);
    layout = upload_layout(device, laid_out);
  }
  fill_columns(device, single, pattern->view(), caches, *layout);
  DeviceStorage<V> storage = with_room_for_values<V>(device, std::move(*layout));
  place_values(device, csr.offsets, source.nonzeros(), csr.values, storage);
  return storage;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
