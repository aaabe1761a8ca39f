#pragma once

namespace weft::simt {

/// The numbers kernels are tuned with, one set for all GPUs so far. bench/NOTES.md tells how some of them were found.
struct Tuning {
  double csr_stream_mean = 128;  ///< csr takes rows for even that are up to this long on average ...
  int csr_stream_longest = 256;  ///< ... if none is longer than this
  /// Otherwise it gives a row as many threads as leave each about this many entries ...
  double csr_entries_per_lane_f32 = 11;
  double csr_entries_per_lane_f64 = 6;
  double csr_uneven = 16;             ///< ... or a whole warp, if the longest row is so many times the mean
  double csr_vector_longest = 4;      ///< longer rows on average get a warp each, if none is so many times longer ...
  int csr_vector_rows = 4096;         ///< ... and there are as many of them
  double csr_speculative_mean = 2.5;  ///< csr:auto speculates on rows up to this long on average, if none is empty
  double csr_graph_empty = 0.2;       ///< csr:merge takes a matrix with a larger share of empty rows for a graph
  /// csr:merge gives shares to warps, not to blocks, for rows of such a mean length in f32.
  double csr_wide_shortest_mean_f32 = 4, csr_wide_longest_mean_f32 = 64;
  /// csr:speculative, in the paper's letters, by `weft tune-kernels`: W entries a lane and tile, S tiles a bunch, B
  /// bunches a group (docs/tuning.md).
  int speculative_width_f32 = 8, speculative_width_f64 = 4;
  int speculative_tiles_f32 = 2, speculative_tiles_f64 = 4;
  int speculative_bunches_f32 = 8, speculative_bunches_f64 = 8;
  int bce_longest_row = 2048;  ///< bce cuts longer rows ...
  int bce_piece = 1024;        ///< ... into pieces of so many entries
  /// bce gives a row so many threads that none has more than its share of the matrix; a share is at least and at most
  int bce_least_entries_a_thread = 4, bce_most_entries_a_thread = 512;
  /// ell and sell give a row several threads while there are fewer threads than this, and each has as many entries
  /// left.
  int slice_enough_threads = 1 << 18;
  double ell_entries_per_thread = 4, sell_entries_per_thread = 16;
};

/// The numbers for one architecture: `compute_capability` as in DeviceInfo, 90 for sm_90 and 0 for the emulator.
constexpr Tuning tuning_for(int /*compute_capability*/) { return {}; }

/// Those that fix the size of arrays, and so are compiled in: the same for all architectures.
inline constexpr int block_threads = 256;
inline constexpr int csr_stream_entries_per_thread = 8;
inline constexpr int csr_merge_narrow_items = 2, csr_merge_narrow_chunks = 16;  // entries a lane, and chunks a warp
inline constexpr int csr_merge_wide_items_f32 = 6, csr_merge_wide_items_f64 = 4, csr_merge_wide_chunks = 8;
inline constexpr int csr_merge_block_items = 6;  // steps a thread
inline constexpr int slice_long_rows = 48;       // sell and bce take longer rows, on average, for long ones
inline constexpr int coo_entries_per_lane = 16;
inline constexpr int ell_entries_at_once = 4;  // loads of a thread on their way before the first is needed

}  // namespace weft::simt
