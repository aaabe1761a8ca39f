#include "cache_bandwidth.hpp"

#include <unistd.h>
#include <weft/array.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/timer.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace weft::bench {
namespace {

using Words = std::int64_t;  // of 8 bytes

constexpr Words block = 32;  // words that are read in one step of the loops below

std::uint64_t sum_baseline(const std::uint64_t* data, Words count) {
  std::uint64_t sums[8] = {};
  for (Words i = 0; i < count; i += 8)
    for (int lane = 0; lane < 8; ++lane) sums[lane] += data[i + lane];
  for (int lane = 1; lane < 8; ++lane) sums[0] += sums[lane];
  return sums[0];
}

#if defined(__x86_64__)
// Loads of 16 bytes are not enough to reach the bandwidth of a second-level cache, which kernels with wider ones do.
__attribute__((target("avx2"))) std::uint64_t sum_avx2(const std::uint64_t* data, Words count) {
  __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a, e = a, f = a, g = a, h = a;
  const auto* vectors = reinterpret_cast<const __m256i*>(data);
  for (const __m256i* end = vectors + count / 4; vectors != end; vectors += 8) {
    a = _mm256_add_epi64(a, _mm256_load_si256(vectors));
    b = _mm256_add_epi64(b, _mm256_load_si256(vectors + 1));
    c = _mm256_add_epi64(c, _mm256_load_si256(vectors + 2));
    d = _mm256_add_epi64(d, _mm256_load_si256(vectors + 3));
    e = _mm256_add_epi64(e, _mm256_load_si256(vectors + 4));
    f = _mm256_add_epi64(f, _mm256_load_si256(vectors + 5));
    g = _mm256_add_epi64(g, _mm256_load_si256(vectors + 6));
    h = _mm256_add_epi64(h, _mm256_load_si256(vectors + 7));
  }
  a = _mm256_add_epi64(_mm256_add_epi64(a, b), _mm256_add_epi64(c, d));
  e = _mm256_add_epi64(_mm256_add_epi64(e, f), _mm256_add_epi64(g, h));
  a = _mm256_add_epi64(a, e);
  std::uint64_t sums[4];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), a);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

std::uint64_t sum(const std::uint64_t* data, Words count) {
  return isa() == Isa::baseline ? sum_baseline(data, count) : sum_avx2(data, count);
}
#else
std::uint64_t sum(const std::uint64_t* data, Words count) { return sum_baseline(data, count); }
#endif

/// Reads `each` words with every thread, again and again. A round is long enough for handing it to the threads not to
/// matter; the best of several counts, as for the bandwidth of the memory.
CacheBandwidth measure(Words each) {
  constexpr double round_bytes = 1 << 30;  // 5 to 20 ms
  const int team = threads();
  const Words count = each * team;
  Array<std::uint64_t> data(static_cast<std::size_t>(count));
  std::atomic<std::uint64_t> checksum{0};
  const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(std::uint64_t);
  const auto passes = std::max<std::int64_t>(2, static_cast<std::int64_t>(round_bytes / static_cast<double>(bytes)));
  parallel_ranges(team, 1, [&](std::int64_t thread, std::int64_t) {
    for (Words i = thread * each; i < (thread + 1) * each; ++i) data[i] = static_cast<std::uint64_t>(i);
  });
  double best = 0;
  for (int repeat = 0; repeat < 8; ++repeat) {
    const Stopwatch watch;
    parallel_ranges(team, 1, [&](std::int64_t thread, std::int64_t) {
      std::uint64_t part = 0;
      for (std::int64_t pass = 0; pass < passes; ++pass) part += sum(data.data() + thread * each, each);
      checksum += part;
    });
    best = std::max(best, static_cast<double>(bytes) * static_cast<double>(passes) / watch.seconds());
  }
  if (checksum == 1) log(LogLevel::debug, "cache bandwidth checksum");  // keeps the sums alive
  return {bytes, best};
}

}  // namespace

std::vector<CacheBandwidth> measure_cache_bandwidths(Device device) {
  std::vector<CacheBandwidth> found;
  if (!device.is_cpu()) return found;
  const long second = sysconf(_SC_LEVEL2_CACHE_SIZE), third = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (second <= 0) return found;
  const auto words = [](std::int64_t bytes) {
    return bytes / static_cast<std::int64_t>(sizeof(std::uint64_t)) / block * block;
  };
  found.push_back(measure(words(second / 2)));
  // Some CPUs report the third level of all their parts together, of which a core uses one: so not much more than what
  // leaves the second level.
  if (static_cast<std::int64_t>(second) * threads() * 8 <= third) found.push_back(measure(words(4 * second)));
  return found;
}

}  // namespace weft::bench
