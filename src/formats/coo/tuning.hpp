#pragma once

namespace weft::coo {

inline constexpr int entries_per_lane = 16;

}  // namespace weft::coo
