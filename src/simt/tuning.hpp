#pragma once

namespace weft::simt {

/// The numbers that kernels are tuned with, one set per GPU architecture. Kernels never contain such a number.
struct Tuning {
  int block_threads = 256;         ///< threads per block, where a kernel does not need another number
  int resident_threads = 1024;     ///< threads a multiprocessor can hold at once: sizes grids of persistent blocks
  int csr_vector_entries = 2;      ///< entries of a row per lane that make a wider sub-warp worthwhile
  int coo_entries_per_thread = 8;  ///< neighbours one thread sums before threads combine
  int shared_bytes_per_block = 48 * 1024;  ///< dynamic shared memory a block may ask for
};

/// `compute_capability` as in DeviceInfo: 90 for sm_90; 0, for the emulator, gives the defaults.
constexpr Tuning tuning_for(int compute_capability) {
  Tuning tuning;
  if (compute_capability >= 80) tuning.resident_threads = 2048;
  if (compute_capability == 86 || compute_capability == 89 || compute_capability >= 120) tuning.resident_threads = 1536;
  if (compute_capability == 75) tuning.shared_bytes_per_block = 64 * 1024;
  if (compute_capability >= 80) tuning.shared_bytes_per_block = 163 * 1024;
  if (compute_capability == 86 || compute_capability == 89 || compute_capability >= 120)
    tuning.shared_bytes_per_block = 99 * 1024;
  if (compute_capability == 90 || compute_capability == 100) tuning.shared_bytes_per_block = 227 * 1024;
  return tuning;
}

}  // namespace weft::simt
