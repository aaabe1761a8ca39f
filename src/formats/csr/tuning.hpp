#pragma once
#include <weft/device.hpp>
#include "core/value_types.hpp"

namespace weft::csr {

/// W entries per lane and tile, S tiles per bunch, B bunches per group of csr:speculative, in the paper's letters.
struct SpeculativeNumbers {
  int width = 0;
  int tiles = 0;
  int bunches = 0;
};

/// The numbers csr is tuned with on a GPU. bench/NOTES.md reports how some of them were found.
struct Tuning {
  double stream_mean = 128;  ///< rows count as even that are up to this long on average ...
  int stream_longest = 256;  ///< ... if none is longer than this
  /// Otherwise a row gets as many threads as leave each about this many entries ...
  PerWidth<double> entries_per_lane{.f32 = 11, .f64 = 6};
  double uneven = 16;             ///< ... or a whole warp, if the longest row is so many times the mean
  double vector_longest = 4;      ///< longer rows on average get a warp each, if none is so many times longer ...
  int vector_rows = 4096;         ///< ... and there are as many of them
  double speculative_mean = 2.5;  ///< csr:auto speculates on rows up to this long on average, if none is empty
  double graph_empty = 0.2;       ///< csr:merge takes a matrix with a larger share of empty rows for a graph
  /// csr:merge gives shares to warps, not to blocks, for rows of such a mean length. Never in f64.
  PerWidth<double> wide_shortest_mean{.f32 = 4, .f64 = 1};
  PerWidth<double> wide_longest_mean{.f32 = 64, .f64 = 0};
  /// Even rows are staged in shared memory; wider values leave too little room for that unless many rows are empty.
  PerWidth<bool> stream_even_rows{.f32 = true, .f64 = false};
  /// Long even rows get a warp each.
  PerWidth<bool> vector_for_long_rows{.f32 = true, .f64 = false};
  /// By `weft tune-kernels` (docs/tuning.md).
  PerWidth<SpeculativeNumbers> speculative{.f32 = {8, 2, 8}, .f64 = {4, 4, 8}};

  static constexpr Tuning on(Device /*device*/) { return {}; }  ///< one set for all GPUs so far
};

// Those that fix the size of arrays, and so are compiled in: the same for all architectures.
inline constexpr int stream_entries_per_thread = 8;
inline constexpr int merge_narrow_items = 2, merge_narrow_chunks = 16;  // entries per lane, and chunks per warp
inline constexpr PerWidth<int> merge_wide_items{.f32 = 6, .f64 = 4};
inline constexpr int merge_wide_chunks = 8;
inline constexpr int long_threads = 256, long_entries_per_thread = 8;  // of a piece of csr:long
inline constexpr int merge_block_items = 6;                            // steps per thread
/// Row-major vectors: steps of a share, fewer where there would not be enough shares; entries in flight per lane.
inline constexpr int min_row_major_steps = 128, max_row_major_steps = 256;
inline constexpr int enough_row_major_shares = 1 << 13;
inline constexpr int row_major_batch = 4;
inline constexpr int row_major_resident_blocks = 4;
/// Up to so many shares the last block of csr:merge-block adds the carries of all, which it then can in one pass.
inline constexpr int max_shares_of_one_kernel = 240;

}  // namespace weft::csr
