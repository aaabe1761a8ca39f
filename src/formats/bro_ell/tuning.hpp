#pragma once
#include "core/value_types.hpp"

// The numbers bro-ell is tuned with. They fix what a kernel keeps in registers, so they are compiled in.
namespace weft::bro_ell {

/// Blocks of a GPU's multiprocessor that one vector's kernel must leave room for.
inline constexpr PerWidth<int> resident_blocks{.f32 = 8, .f64 = 6};
inline constexpr int resident_blocks_of_long_symbols = 4;  // of 64 bits

inline constexpr Offset entries_per_thread = 4096;  // of a CPU: fewer do not pay for waking one

}  // namespace weft::bro_ell
