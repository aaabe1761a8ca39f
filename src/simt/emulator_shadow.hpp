#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "simt/emulator_shared.hpp"

/// What the emulator remembers about shared memory to find missing barriers and reads of memory never written.
///
/// Time is a counter that grows at every barrier. An access is ordered before what a thread does now if a block barrier
/// lies between them, or, within a warp, a sync_warp that both threads took part in (directly or through others).
/// Two accesses of one element by two threads, one of them a write, must be ordered; two atomic ones need not.
namespace weft::simt::emulator {

/// Lanes of one warp that read, or atomically updated, an element at the same time.
struct AccessGroup {
  std::uint64_t time = 0;
  std::uint32_t lanes = 0;
  std::uint32_t next = 0;  // position in the pool of groups; 0 ends the list
  std::uint16_t warp = 0;
  SharedAccess kind = SharedAccess::read;
};

/// The history of one element: its last write, and what came after it since the last block barrier.
struct Cell {
  std::uint64_t write_time = 0;  // 0: never written
  AccessGroup since;             // stale if its time is before the last block barrier, and the list with it
  std::uint16_t writer = 0;      // thread number in the block
};

/// Bytes of shared memory and a cell per granule: a static array, or all of the dynamic memory.
class SharedRegion {
 public:
  SharedRegion(const void* region_key, std::size_t bytes, std::size_t element_bytes);

  const void* const key;  // what identifies a static array; nullptr for dynamic memory
  bool declared = false;  // in the block that runs now
  std::size_t granule;    // bytes a cell stands for: divides the size of every element seen here
  std::vector<Cell> cells;

  std::byte* bytes() { return reinterpret_cast<std::byte*>(storage_.data()); }
  std::size_t size() const { return size_; }
  void poison();

 private:
  struct alignas(16) Chunk {
    std::byte bytes[16];
  };
  std::vector<Chunk> storage_;
  std::size_t size_;
};

/// Why an access is wrong.
struct Conflict {
  enum class Kind { never_written, unordered } kind;
  unsigned other_thread = 0;
  SharedAccess other_access = SharedAccess::read;
};

class SharedShadow {
 public:
  void begin_launch(std::size_t dynamic_bytes);
  void begin_block(unsigned threads);
  void block_barrier();
  void warp_barrier(unsigned warp, std::uint32_t lanes);

  /// Finds the region of a static array, or makes it.
  SharedRegion& static_region(const void* key, std::size_t element_bytes, std::size_t count);
  std::size_t static_bytes() const { return static_bytes_; }

  /// The dynamic memory, with cells fine enough for elements of that size at that offset.
  SharedRegion& dynamic_region(std::size_t element_bytes, std::size_t byte_offset);
  std::size_t dynamic_bytes() const { return dynamic_bytes_; }

  /// Notes an access of `bytes` bytes at `offset` by a thread; says what is wrong with it, if anything.
  std::optional<Conflict> access(SharedRegion& region, std::size_t offset, std::size_t bytes, SharedAccess kind,
                                 unsigned thread);

 private:
  static constexpr unsigned lanes_per_warp = 32;
  using LaneTimes = std::array<std::uint64_t, lanes_per_warp>;
  struct WarpTimes {
    std::uint32_t lanes = 0;                       // those that exist
    std::uint64_t whole_warp = 0;                  // when all of them last met
    std::array<LaneTimes, lanes_per_warp> seen{};  // seen[b][a]: b knows all that lane a did before this time
  };

  std::optional<Conflict> access_cell(Cell& cell, SharedAccess kind, unsigned thread);
  std::optional<Conflict> find_conflict(const Cell& cell, SharedAccess kind, unsigned thread) const;
  bool is_ordered(unsigned warp, unsigned earlier_lane, std::uint64_t time, unsigned later_lane) const;
  void note_group(Cell& cell, SharedAccess kind, unsigned thread);
  void release_tail(Cell& cell);
  void refine(SharedRegion& region, std::size_t granule);

  std::uint64_t now_ = 1;
  std::uint64_t barrier_time_ = 1;
  std::uint64_t block_time_ = 1;
  std::vector<WarpTimes> warps_;
  std::deque<SharedRegion> static_regions_;
  std::optional<SharedRegion> dynamic_region_;
  std::size_t static_bytes_ = 0;
  std::size_t dynamic_bytes_ = 0;
  std::vector<AccessGroup> groups_{AccessGroup{}};  // groups that do not fit into their cell; entry 0 is unused
  std::uint32_t free_group_ = 0;
};

}  // namespace weft::simt::emulator
