#pragma once

// The numbers that ehyb's GPU kernels are compiled with: what was fastest (bench/NOTES.md).
namespace weft::ehyb {

/// Vectors of one launch: what shared memory and registers hold.
inline constexpr int max_vectors_together = 2;
/// Several vectors are worth kernels of their own for blocks up to this size.
inline constexpr int max_block_together = 3;

/// The same of row-major vectors, which are not cached: what registers hold.
constexpr int max_rows_together(int b) { return b <= 3 ? 8 : 2; }
/// Thread blocks per part, and how many of them shall fit a multiprocessor.
inline constexpr int blocks_for_rows = 8;
constexpr int resident_for_rows(int b) { return b == 1 ? 3 : b <= 3 ? 2 : 1; }

/// Threads of a thread block, for blocks of b x b entries and one vector or several.
constexpr int max_threads(int b, int vectors) {
  if (vectors > 1 && b > 1) return 512;
  return b == 1 ? 1024 : b <= 3 ? 768 : 512;
}
/// Columns (b = 1) or blocks in flight per thread.
constexpr int in_flight(int b, int vectors) {
  if (vectors > 1) return b == 1 ? 4 : 1;
  return b == 1 ? 8 : b == 2 ? 4 : b == 3 ? 2 : 1;
}

}  // namespace weft::ehyb
