#pragma once
#include "core/value_types.hpp"

// The numbers that bro-sell's GPU kernels are compiled with: what was fastest (bench/NOTES.md).
namespace weft::bro_sell {

/// Vectors of one launch: what the registers hold.
inline constexpr int max_vectors_together = 4;

/// Blocks in flight per thread, so that it has about 18 values of them.
constexpr int blocks_together(int block) { return block == 2 ? 4 : block == 3 ? 2 : 1; }

/// Thread blocks that shall fit a multiprocessor, by the kernel.
inline constexpr PerWidth<int> resident_for_blocks{.f32 = 3, .f64 = 2};  // up to 3 x 3; larger ones: 1
inline constexpr int resident_for_rows_of_blocks = 2;                    // up to 3 x 3 and several row-major vectors
inline constexpr PerWidth<int> resident_for_wide{.f32 = 6, .f64 = 5};
inline constexpr PerWidth<int> resident_for_equal{.f32 = 8, .f64 = 5};
inline constexpr int resident_for_others = 5;

/// Columns of single entries in flight per thread where slices are equally wide.
inline constexpr PerWidth<int> batch_for_equal{.f32 = 4, .f64 = 8};

}  // namespace weft::bro_sell
