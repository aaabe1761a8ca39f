#include "formats/csr/stage_two.hpp"

#include <algorithm>

#include "core/parallel.hpp"

namespace weft::csr {
namespace {

/// From the last row to the first: a sum never moves to a place before its own.
template <class V>
void place(const Dirty& tile, const Offset* offsets, V* sums) {
  Offset next = tile.start;
  for (Index row = tile.start; row < tile.stop; ++row) next += offsets[row] != offsets[row + 1];
  for (Index row = tile.stop; row-- > tile.start;) sums[row] = offsets[row] != offsets[row + 1] ? sums[--next] : V(0);
}

}  // namespace

template <class V>
void finish_on_cpu(const StageTwo<V>& work, const std::function<void(Offset)>& wait) {
  constexpr Offset bunches_at_once = 64;
  parallel_ranges(work.bunches, bunches_at_once, [&](Offset begin, Offset end) {
    if (begin > 0) wait(begin - 1);
    for (Offset bunch = begin; bunch < end; ++bunch) {
      wait(bunch);
      const Offset first_tile = bunch * work.tiles_a_bunch;
      if (work.speculator != nullptr)
        for (Offset tile = first_tile; tile < std::min(work.tiles, first_tile + work.tiles_a_bunch); ++tile)
          if (work.speculator[tile].start >= 0) place(work.speculator[tile], work.offsets, work.sums);

      const Index row = work.joined_rows[bunch];
      const bool first = row >= 0 && (bunch == 0 || work.joined_rows[bunch - 1] != row);
      work.added_rows[bunch] = first ? row : -1;
      if (!first) continue;
      V sum = 0;
      for (Offset next = bunch; next < work.bunches; ++next) {
        wait(next);
        if (work.joined_rows[next] != row) break;
        sum += work.joined_values[next];
      }
      work.added_values[bunch] = sum;
    }
  });
}

#define WEFT_INSTANTIATE(V) template void finish_on_cpu<V>(const StageTwo<V>&, const std::function<void(Offset)>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::csr
