// The set-up of ehyb on a GPU: which kernels, in which order.
#include "formats/ehyb/setup.cuh"

#include <algorithm>

#include "formats/ehyb/parts.cuh"
#include "formats/sort_windows.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::ehyb {
namespace {

using ::weft::ehyb::Caches;

/// Numbers that a hash table or a list of the set-up may have in shared memory.
Index max_in_table(Device device) {
  return static_cast<Index>(std::min<std::size_t>(max_places, max_cache_bytes(device) / sizeof(Index)));
}

}  // namespace

std::size_t max_cache_bytes(Device device) {
  // One thread block per multiprocessor, with all of its shared memory but what kernels use besides.
  return static_cast<std::size_t>(describe(device).shared_bytes) - 256;
}

Array<Part> part_table(const Array<Index>& row_begin, DeviceLayout& layout) {
  const auto count = static_cast<Index>(row_begin.size()) - 1;
  Array<Part> parts(static_cast<std::size_t>(count), Part{});
  Index slice = 0;
  for (Index p = 0; p < count; ++p) {
    Part& part = parts[p];
    part.row = row_begin[p];
    part.rows = row_begin[p + 1] - part.row;
    part.slice = slice;
    part.slices = part.rows / slice_rows + (part.rows % slice_rows != 0);
    slice += part.slices;
    layout.max_slices = std::max(layout.max_slices, part.slices);
  }
  layout.part_count = count;
  layout.slice_count = slice;
  return parts;
}

CachesOnDevice::CachesOnDevice(Device device, const Array<Index>& part_of, Index parts, bool square)
    : square_(square),
      part_of_(device, part_of),
      own_place_(device, square ? part_of.size() : 0),
      rows_(device, part_of.size()) {
  const auto nodes = static_cast<Index>(part_of.size());
  // Each part looking at all rows is faster than sorting them, up to some billion looks, which the emulator has no
  // time for.
  const Offset max_looks = Offset(1) << (device.kind() == Device::Kind::emulator ? 15 : 34);
  if (Offset(nodes) * parts > max_looks) {
    Caches caches = ::weft::ehyb::group_rows(nodes, square, part_of, parts);
    row_begin_ = std::move(caches.row_begin);
    rows_.upload(caches.rows);
    own_place_.upload(caches.own_place);
    synchronize(device);
    return;
  }
  const int threads = nodes > 4096 ? 1024 : 64;
  const auto blocks = static_cast<unsigned>(parts);
  DeviceBuffer<Index> counts(device, static_cast<std::size_t>(parts));
  simt::launch(WEFT_KERNEL(ehyb_count_rows), blocks, threads, 0, {}, nodes, std::as_const(part_of_).data(),
               counts.data());
  const Array<Index> found = counts.download();
  row_begin_ = Array<Index>(static_cast<std::size_t>(parts) + 1, 0);
  for (Index p = 0; p < parts; ++p) row_begin_[p + 1] = row_begin_[p] + found[p];
  const DeviceBuffer<Index> begins(device, row_begin_);
  simt::launch(WEFT_KERNEL(ehyb_list_rows), blocks, threads, 0, {}, nodes, std::as_const(part_of_).data(),
               begins.data(), rows_.data(), square ? own_place_.data() : nullptr);
  synchronize(device);  // before `begins` goes
}

namespace {

/// The guests of all parts: those of part p begin at p * max.
struct Guests {
  Index max = 0;
  Array<Index> counts;
  DeviceBuffer<Index> columns;
};

std::optional<Guests> find_guests(const LayoutInput& input, const Array<Part>& parts, const DeviceLayout& layout) {
  const bool square = input.caches.square();
  const auto count = static_cast<unsigned>(layout.part_count);
  Guests guests;
  guests.counts = Array<Index>(count, 0);
  if (!layout.shape.guests && square) {
    if (layout.part_count > 1) return std::nullopt;  // some entries are most likely not cached
    return guests;
  }
  Index largest_own = 0;
  for (const Part& part : parts) largest_own = std::max(largest_own, part.rows);
  Index places = 64;
  while (2 * places <= max_in_table(input.device) && places < 2 * std::min(input.node_cols, layout.shape.room))
    places *= 2;
  guests.max = std::min(places / 4 * 3, layout.shape.room - (square ? largest_own : 0));
  if (guests.max < 0) return std::nullopt;
  guests.columns = DeviceBuffer<Index>(input.device, static_cast<std::size_t>(guests.max) * count);
  DeviceBuffer<Index> found(input.device, count);
  simt::launch(WEFT_KERNEL(ehyb_find_guests), count, layout.threads_for_parts(1024),
               static_cast<std::size_t>(places) * sizeof(Index), {}, input.pattern, input.caches.view(layout), places,
               guests.max, guests.columns.data(), found.data());
  guests.counts = found.download();
  if (std::ranges::any_of(guests.counts, [&](Index n) { return n > guests.max; })) return std::nullopt;
  return guests;
}

void place_caches(const LayoutInput& input, const Guests& guests, Array<Part>& parts, DeviceLayout& layout) {
  Offset cached = 0;
  for (Index p = 0; p < layout.part_count; ++p) {
    parts[p].cache = cached;
    parts[p].cached = (input.caches.square() ? parts[p].rows : 0) + guests.counts[p];
    layout.max_cached = std::max(layout.max_cached, parts[p].cached);
    cached += parts[p].cached;
  }
  layout.parts.upload(parts);
  layout.cached = DeviceBuffer<Index>(input.device, static_cast<std::size_t>(cached));
  simt::launch(WEFT_KERNEL(ehyb_gather_cached), static_cast<unsigned>(layout.part_count),
               layout.threads_for_parts(1024), 0, {}, input.caches.view(layout), guests.columns.data(), guests.max,
               layout.cached.data());
  synchronize(input.device);  // before guests go
}

void sort_rows(const LayoutInput& input, DeviceLayout& layout) {
  const auto nodes = static_cast<std::size_t>(input.pattern.rows);
  layout.order = DeviceBuffer<Index>(input.device, nodes);
  DeviceBuffer<Index> scratch(input.device, nodes);
  const DeviceBuffer<Index> row_begin(input.device, input.caches.row_begin());
  simt::launch(WEFT_KERNEL(sort_windows<Offset>), static_cast<unsigned>(layout.part_count),
               layout.threads_for_parts(1024), 0, {}, input.pattern.offsets, input.pattern.rows, Index(0),
               row_begin.data(), input.caches.rows(), layout.order.data(), scratch.data());
  synchronize(input.device);  // before scratch goes
}

void place_slices(const LayoutInput& input, DeviceLayout& layout) {
  constexpr int threads = simt::block_threads;
  DeviceBuffer<Offset> entries(input.device, static_cast<std::size_t>(layout.slice_count) + 1);
  simt::launch(WEFT_KERNEL(ehyb_measure), static_cast<unsigned>(layout.part_count), layout.threads_for_parts(1024), 0,
               {}, input.pattern, std::as_const(layout.parts).data(), std::as_const(layout.order).data(),
               entries.data());
  simt::exclusive_scan(input.device, entries.data(), layout.slice_count);
  Offset all = 0;
  ::weft::detail::copy_to_host(input.device, &all, entries.data() + layout.slice_count, sizeof all, {});
  ::weft::ehyb::require_sensible(all, input.blocks, layout.shape.block, input.value_bytes, input.options);
  layout.slices = DeviceBuffer<Slice>(input.device, static_cast<std::size_t>(layout.slice_count));
  simt::launch(WEFT_KERNEL(ehyb_place_slices), simt::blocks_for(layout.slice_count, threads), threads, 0, {},
               layout.slice_count, std::as_const(entries).data(), layout.slices.data());
  layout.columns = DeviceBuffer<std::uint16_t>(input.device, static_cast<std::size_t>(all));
  synchronize(input.device);  // before entries go
}

}  // namespace

std::optional<DeviceLayout> lay_out_on_device(const LayoutInput& input) {
  DeviceLayout layout;
  layout.shape = input.shape;
  Array<Part> parts = part_table(input.caches.row_begin(), layout);
  layout.parts = DeviceBuffer<Part>(input.device, parts);
  const std::optional<Guests> guests = find_guests(input, parts, layout);
  if (!guests) return std::nullopt;
  place_caches(input, *guests, parts, layout);
  sort_rows(input, layout);
  place_slices(input, layout);
  return layout;
}

void fill_columns(Device device, const PatternView& matrix, const PatternView& pattern, const CachesOnDevice& caches,
                  DeviceLayout& layout) {
  const Index max = layout.max_cached > max_in_table(device) ? 0 : layout.max_cached;
  const unsigned blocks_per_part = device.kind() == Device::Kind::emulator ? 1 : 8;
  simt::launch(WEFT_KERNEL(ehyb_fill_columns), dim3(static_cast<unsigned>(layout.part_count), blocks_per_part),
               simt::block_threads, static_cast<std::size_t>(max) * sizeof(Index), {}, matrix, pattern,
               caches.view(layout), std::as_const(layout.order).data(), std::as_const(layout.slices).data(), max,
               layout.columns.data());
  synchronize(device);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
