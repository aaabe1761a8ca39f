#pragma once
#include <weft/types.hpp>

#include <array>
#include <vector>

#include "core/host_device.hpp"
#include "simt/on_device.hpp"
#include "sparse/source_kernels.hpp"
#include "sparse/source_state.hpp"

// How products reach for rows and for x, as far as it decides how fast formats are. Large matrices are sampled. All
// counts are integers, and every device finds the same.
namespace weft {

namespace sampling {

// Both are a multiple of the 32 rows of a slice.
constexpr Offset window_entries = 16384;
constexpr Index window_rows = 2048;
constexpr Index max_windows = 64;
constexpr Offset max_row_entries = Offset(1) << 22;  // of all windows of rows
constexpr Offset quick_share = 48;                   // one in so many entries is looked at
constexpr Offset max_steps = 256;                    // looked at in a row
constexpr int mark_bits = 18;                        // sectors are marked in so many places, by a hash

WEFT_HOST_DEVICE constexpr unsigned mark_of(Index sector) {
  return static_cast<unsigned>(sector) * 0x9E3779B1u >> (32 - mark_bits);
}

/// The bits that bro-sell gives to four columns of a slice whose distances differ by up to `range`.
WEFT_HOST_DEVICE constexpr int packed_width(Offset range) {
  return range == 0 ? 0 : range < 1 << 4 ? 4 : range < 1 << 8 ? 8 : range < 1 << 16 ? 16 : 32;
}

/// How much of a matrix is looked at. `quick` is for a CPU, which takes for an entry here what it takes for ten in a
/// product: a few percent of the entries, and no slots, which no kernel on a CPU has.
enum class Effort { full, quick };

/// Which windows are looked at: window w begins at first + w * stride.
struct Samples {
  Offset entry_windows = 0, entry_stride = 0, first_entry = 0;
  Index row_windows = 0, row_stride = 0, first_row = 0;
};
Samples samples_of(Index rows, Offset entries, Effort effort = Effort::full);

/// What one window shows.
struct Window {
  Offset entries = 0;
  Offset requests = 0;
  Offset marks = 0;  ///< places that are marked
  // Of rows only.
  Offset places = 0, bits = 0;
  Offset slices = 0, narrow = 0;
  bool operator==(const Window&) const = default;
};

struct Tally {
  std::array<Offset, lane_choices> slots{};
  std::vector<Window> by_entries, by_rows;
};
AccessFacts summarize(const Tally& tally, Offset entries);

constexpr int balls = 8;
/// A ball is grown, ring by ring, until it has at least `nodes` nodes or more than 3 * nodes.
struct BallRequest {
  int block = 1;  ///< rows of a node; only the first is looked at
  Index nodes = 0;
  Offset limit() const { return 3 * Offset(nodes); }
};
struct Ball {
  Offset nodes = 0;
  Offset neighbours = 0;
};
BallFacts summarize(const std::array<Ball, balls>& found, const BallRequest& request);
/// Where the balls begin.
constexpr Index seed(Index nodes, int ball) {
  return static_cast<Index>((2 * Offset(ball) + 1) * nodes / (2 * Offset(balls)));
}

/// The same as on a device, for a matrix on the host.
Tally look_at(Index rows, const Offset* offsets, const Index* columns, int sector_elements,
              Effort effort = Effort::full);
std::array<Ball, balls> grow_balls(Index rows, const Offset* offsets, const Index* columns, const BallRequest& request);

}  // namespace sampling
}  // namespace weft

WEFT_DECLARE_ON_DEVICES(facts, ::weft::sampling::Tally look_at(const DevicePattern& pattern, int sector_elements);
                        std::array<::weft::sampling::Ball, ::weft::sampling::balls> grow_balls(
                            const DevicePattern& pattern, const ::weft::sampling::BallRequest& request);)
