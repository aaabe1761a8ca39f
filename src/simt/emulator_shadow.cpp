#include "simt/emulator_shadow.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>

namespace weft::simt::emulator {
namespace {

// Whether two accesses of different threads need an order.
bool conflicting(SharedAccess a, SharedAccess b) {
  return a == SharedAccess::write || b == SharedAccess::write || a != b;
}

}  // namespace

SharedRegion::SharedRegion(const void* region_key, std::size_t bytes, std::size_t element_bytes)
    : key(region_key),
      granule(element_bytes),
      cells((bytes + element_bytes - 1) / element_bytes),
      storage_((bytes + sizeof(Chunk) - 1) / sizeof(Chunk)),
      size_(bytes) {}

void SharedRegion::poison() {
  if (!storage_.empty()) std::memset(storage_.data(), 0xFF, storage_.size() * sizeof(Chunk));
}

void SharedShadow::begin_launch(std::size_t dynamic_bytes) {
  static_regions_.clear();
  dynamic_region_.reset();
  static_bytes_ = 0;
  dynamic_bytes_ = dynamic_bytes;
}

void SharedShadow::begin_block(unsigned threads) {
  block_barrier();
  block_time_ = now_;
  for (SharedRegion& region : static_regions_) region.declared = false;
  if (dynamic_region_) dynamic_region_->declared = false;
  warps_.resize((threads + lanes_per_warp - 1) / lanes_per_warp);
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = std::min(lanes_per_warp, threads - static_cast<unsigned>(w) * lanes_per_warp);
    warps_[w].lanes = lanes == lanes_per_warp ? ~std::uint32_t{0} : (std::uint32_t{1} << lanes) - 1;
  }
}

void SharedShadow::block_barrier() {
  barrier_time_ = ++now_;
  groups_.resize(1);
  free_group_ = 0;
}

void SharedShadow::warp_barrier(unsigned warp, std::uint32_t lanes) {
  if (static_regions_.empty() && !dynamic_region_) return;
  ++now_;
  WarpTimes& times = warps_[warp];
  if (lanes == times.lanes) {
    times.whole_warp = now_;
    return;
  }
  LaneTimes joined{};
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) {
    const LaneTimes& lane = times.seen[std::countr_zero(rest)];
    for (unsigned a = 0; a < lanes_per_warp; ++a) joined[a] = std::max(joined[a], lane[a]);
  }
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) joined[std::countr_zero(rest)] = now_;
  for (std::uint32_t rest = lanes; rest; rest &= rest - 1) times.seen[std::countr_zero(rest)] = joined;
}

SharedRegion& SharedShadow::static_region(const void* key, std::size_t element_bytes, std::size_t count) {
  const auto found = std::find_if(static_regions_.begin(), static_regions_.end(),
                                  [&](const SharedRegion& region) { return region.key == key; });
  SharedRegion* region = found != static_regions_.end() ? &*found : nullptr;
  if (!region) {
    region = &static_regions_.emplace_back(key, element_bytes * count, element_bytes);
    static_bytes_ += region->size();
  }
  if (!region->declared) region->poison();
  region->declared = true;
  return *region;
}

SharedRegion& SharedShadow::dynamic_region(std::size_t element_bytes, std::size_t byte_offset) {
  if (!dynamic_region_) dynamic_region_.emplace(nullptr, dynamic_bytes_, element_bytes);
  SharedRegion& region = *dynamic_region_;
  const std::size_t granule = std::gcd(region.granule, std::gcd(element_bytes, byte_offset));
  if (granule != region.granule) refine(region, granule);
  if (!region.declared) region.poison();
  region.declared = true;
  return region;
}

void SharedShadow::refine(SharedRegion& region, std::size_t granule) {
  const std::size_t pieces = region.granule / granule;
  std::vector<Cell> cells;
  cells.reserve(region.cells.size() * pieces);
  for (const Cell& cell : region.cells) {
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      Cell& copy = cells.emplace_back(cell);
      // Each piece owns its list.
      if (cell.since.time < barrier_time_) continue;
      copy.since.next = 0;
      for (std::uint32_t g = cell.since.next; g; g = groups_[g].next) {
        AccessGroup group = groups_[g];
        group.next = copy.since.next;
        copy.since.next = static_cast<std::uint32_t>(groups_.size());
        groups_.push_back(group);
      }
    }
  }
  region.cells = std::move(cells);
  region.granule = granule;
}

std::optional<Conflict> SharedShadow::access(SharedRegion& region, std::size_t offset, std::size_t bytes,
                                             SharedAccess kind, unsigned thread) {
  const std::size_t end = (offset + bytes) / region.granule;
  for (std::size_t c = offset / region.granule; c < end; ++c)
    if (const auto conflict = access_cell(region.cells[c], kind, thread)) return conflict;
  return std::nullopt;
}

std::optional<Conflict> SharedShadow::access_cell(Cell& cell, SharedAccess kind, unsigned thread) {
  if (const auto conflict = find_conflict(cell, kind, thread)) return conflict;
  if (kind == SharedAccess::write) {
    cell.write_time = now_;
    cell.writer = static_cast<std::uint16_t>(thread);
    // What came before this write is ordered before it, and so before everything that is ordered after it.
    release_tail(cell);
    cell.since = {};
  } else {
    note_group(cell, kind, thread);
  }
  return std::nullopt;
}

bool SharedShadow::is_ordered(unsigned warp, unsigned earlier_lane, std::uint64_t time, unsigned later_lane) const {
  const WarpTimes& times = warps_[warp];
  return times.whole_warp > time || times.seen[later_lane][earlier_lane] > time;
}

std::optional<Conflict> SharedShadow::find_conflict(const Cell& cell, SharedAccess kind, unsigned thread) const {
  const unsigned warp = thread / lanes_per_warp;
  const unsigned lane = thread % lanes_per_warp;
  if (cell.write_time < block_time_) {
    if (kind != SharedAccess::write) return Conflict{Conflict::Kind::never_written};
  } else if (cell.write_time >= barrier_time_ && cell.writer != thread) {
    if (cell.writer / lanes_per_warp != warp || !is_ordered(warp, cell.writer % lanes_per_warp, cell.write_time, lane))
      return Conflict{Conflict::Kind::unordered, cell.writer, SharedAccess::write};
  }
  if (cell.since.time < barrier_time_) return std::nullopt;
  for (const AccessGroup* group = &cell.since;; group = &groups_[group->next]) {
    if (conflicting(kind, group->kind)) {
      std::uint32_t others = group->lanes;
      if (group->warp == warp) others &= ~(std::uint32_t{1} << lane);
      for (; others; others &= others - 1) {
        const unsigned other = static_cast<unsigned>(std::countr_zero(others));
        if (group->warp != warp || !is_ordered(warp, other, group->time, lane))
          return Conflict{Conflict::Kind::unordered, group->warp * lanes_per_warp + other, group->kind};
      }
    }
    if (!group->next) return std::nullopt;
  }
}

void SharedShadow::note_group(Cell& cell, SharedAccess kind, unsigned thread) {
  const std::uint16_t warp = static_cast<std::uint16_t>(thread / lanes_per_warp);
  const unsigned lane = thread % lanes_per_warp;
  const std::uint32_t bit = std::uint32_t{1} << lane;
  if (cell.since.time < barrier_time_) {
    cell.since = {now_, bit, 0, warp, kind};
    return;
  }
  // Join a group of the same moment; meanwhile drop lanes of this warp whose access is ordered before this one.
  AccessGroup* empty = nullptr;
  for (AccessGroup* group = &cell.since;; group = &groups_[group->next]) {
    if (group->warp == warp && group->kind == kind) {
      if (group->time == now_ && group->lanes) {
        group->lanes |= bit;
        return;
      }
      for (std::uint32_t rest = group->lanes; rest; rest &= rest - 1) {
        const unsigned other = static_cast<unsigned>(std::countr_zero(rest));
        if (other == lane || is_ordered(warp, other, group->time, lane)) group->lanes &= ~(std::uint32_t{1} << other);
      }
    }
    if (!group->lanes) empty = group;
    if (!group->next) break;
  }
  if (empty) {
    *empty = {now_, bit, empty->next, warp, kind};
    return;
  }
  std::uint32_t place = free_group_;
  if (place) {
    free_group_ = groups_[place].next;
  } else {
    place = static_cast<std::uint32_t>(groups_.size());
    groups_.emplace_back();
  }
  // The newest comes first: the next lanes of the same warp find it at once.
  groups_[place] = cell.since;
  cell.since = {now_, bit, place, warp, kind};
}

void SharedShadow::release_tail(Cell& cell) {
  if (cell.since.time < barrier_time_) return;
  for (std::uint32_t g = cell.since.next; g;) {
    const std::uint32_t next = groups_[g].next;
    groups_[g].next = free_group_;
    free_group_ = g;
    g = next;
  }
}

}  // namespace weft::simt::emulator
