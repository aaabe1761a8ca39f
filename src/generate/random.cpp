#include "generate/random.hpp"

#include <algorithm>
#include <vector>

namespace weft::generation {

void sample_distinct(RandomSequence random, std::int64_t count, std::int64_t n, Index* out) {
  if (count > n / 2) {
    // Few are left out: draw those.
    std::vector<Index> left_out(static_cast<std::size_t>(n - count));
    sample_distinct(random, n - count, n, left_out.data());
    auto skip = left_out.begin();
    for (Index i = 0; i < n; ++i) {
      if (skip != left_out.end() && *skip == i)
        ++skip;
      else
        *out++ = i;
    }
    return;
  }
  Index* last = out;
  while (last != out + count) {
    for (; last != out + count; ++last) *last = static_cast<Index>(random.below(n));
    std::sort(out, last);
    last = std::unique(out, last);
  }
}

}  // namespace weft::generation
