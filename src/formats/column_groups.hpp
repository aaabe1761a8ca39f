#pragma once
#include <weft/types.hpp>

#include <cstdint>
#include <limits>

#include "core/host_device.hpp"
#include "core/value_types.hpp"

// How the formats made of slices (a few rows of the same width) lay a slice out, on every device.
namespace weft {

/// Rows of slices count as long that have more entries than this on average.
inline constexpr int long_rows_from = 48;

/// Blocks per multiprocessor that the kernels for one vector are compiled for, which bounds their registers. Short rows
/// want as many threads as possible. Long rows want fewer, each with more loads in flight: more threads would only
/// evict one another's part of x from the cache (bench/NOTES.md).
inline constexpr PerWidth<int> blocks_for_short_rows{.f32 = 8, .f64 = 6};
inline constexpr int blocks_for_long_rows = 4;

/// Rows per slice on a CPU: a line of values.
inline constexpr PerWidth<Index> cpu_slice_rows{.f32 = 16, .f64 = 8};

/// Padding is recognised by its column; its value is 0 and must not be multiplied with anything, since 0 times infinity
/// is not 0.
template <class Column>
inline constexpr Column padding_column = static_cast<Column>(-1);

/// The largest column, relative to a slice's base, that 16 bits hold besides the padding's.
inline constexpr Index largest_short_column = std::numeric_limits<std::uint16_t>::max() - 1;

/// Where a slice of `rows` rows and `width` columns keeps column k of `row`. Columns lie in groups of `group`, a power
/// of two, row after row inside a group: a thread that follows a row then reads `group` neighbours at once. Columns
/// that are left over lie in groups of half the size, a quarter of it, down to one. With groups of one the slice is
/// plain column-major, as ELLPACK is.
WEFT_HOST_DEVICE constexpr Offset place_in_slice(Index row, Index k, Index rows, Index width, int group) {
  Index first = k - k % group;
  while (group > width - first) {
    group /= 2;
    first = k - k % group;
  }
  return static_cast<Offset>(first) * rows + static_cast<Offset>(row) * group + (k - first);
}

}  // namespace weft
