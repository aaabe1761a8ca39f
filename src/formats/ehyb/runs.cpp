// Where the slots of a slice find their x side by side in the cache.
#include <algorithm>

#include "core/parallel.hpp"
#include "formats/ehyb/ehyb.hpp"

namespace weft::ehyb {

Array<std::uint32_t> find_runs(const Array<std::uint16_t>& columns, Index slice_rows) {
  constexpr Offset bits = 32, words_per_range = 1 << 10;
  const auto count = static_cast<Offset>(columns.size()) / slice_rows;
  const Offset words = (count + bits - 1) / bits;
  Array<std::uint32_t> runs(static_cast<std::size_t>(words) + 1);
  runs[words] = 0;
  parallel_for(words, words_per_range, [&](Offset w) {
    std::uint32_t word = 0;
    for (Offset k = w * bits; k < std::min(count, (w + 1) * bits); ++k) {
      const std::uint16_t* const column = columns.data() + k * slice_rows;
      unsigned other = 0;
      for (Index i = 1; i < slice_rows; ++i) other |= static_cast<unsigned>(column[i] - column[0] - i);
      word |= static_cast<std::uint32_t>(other == 0) << (k % bits);
    }
    runs[w] = word;
  });
  return runs;
}

}  // namespace weft::ehyb
