#pragma once

// What kernels of all formats share; each format has its own numbers in its tuning.hpp.
namespace weft::simt {

/// Threads per block, unless a kernel says otherwise. Fixes the size of arrays, so it is compiled in.
inline constexpr int block_threads = 256;

}  // namespace weft::simt
