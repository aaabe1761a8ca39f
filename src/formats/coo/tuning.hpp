#pragma once
#include <weft/types.hpp>

// The numbers coo is tuned with, the same for all devices of a kind; bro-coo shares some of them.
namespace weft::coo {

inline constexpr int entries_per_lane = 16;         // of a GPU
inline constexpr Offset entries_per_chunk = 16384;  // of a CPU's thread
inline constexpr double uneven = 64;                // `auto` tries coo where the longest row is so many times the mean

}  // namespace weft::coo
