#pragma once

namespace weft::simt {

/// The numbers kernels are tuned with, one set per GPU architecture. bench/NOTES.md tells how they were found.
struct Tuning {
  double csr_stream_mean = 12;       ///< rows up to this long on average are staged through shared memory ...
  int csr_stream_longest = 64;       ///< ... if none is longer than this
  double csr_entries_per_lane = 6;   ///< csr gives a row as many threads as leave each about this many entries
};

/// `compute_capability` as in DeviceInfo: 90 for sm_90; 0, for the emulator, gives the defaults.
constexpr Tuning tuning_for(int /*compute_capability*/) { return {}; }

/// Those that fix the size of arrays, and so are compiled in: the same for all architectures.
inline constexpr int block_threads = 256;
inline constexpr int csr_stream_entries_per_thread = 8;
inline constexpr int coo_entries_per_lane = 16;

}  // namespace weft::simt
