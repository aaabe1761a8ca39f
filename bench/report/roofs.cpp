#include "roofs.hpp"

#include <algorithm>

#include "svg.hpp"

namespace weft::bench {

std::string Roof::name() const {
  const double megabytes = static_cast<double>(bytes) / 1e6;
  return (bytes == 0 ? "memory, " : svg::number(megabytes, megabytes < 10 ? 1 : 0) + " MB in caches, ") +
         svg::rounded(bandwidth / 1e9) + " GB/s";
}

std::vector<Roof> roofs_of(const Report& report) {
  constexpr double clearly_faster = 1.15;
  std::vector<Roof> roofs;
  if (!(report.bandwidth > 0)) return roofs;
  roofs.push_back({report.bandwidth, 0});
  std::vector<CacheBandwidth> caches = report.caches;
  std::ranges::sort(caches, {}, &CacheBandwidth::bandwidth);
  for (const CacheBandwidth& cache : caches)
    if (cache.bytes > 0 && cache.bandwidth > clearly_faster * roofs.back().bandwidth)
      roofs.push_back({cache.bandwidth, cache.bytes});
  return roofs;
}

double bytes_moved(const Measurement& m) { return m.gigabytes * 1e9 * m.timing.median; }

const Roof* roof_of(const Case& one, const std::vector<Roof>& roofs) {
  if (roofs.empty()) return nullptr;
  double least = 0, fastest = 0;
  for (const Measurement& m : one.measurements) {
    if (!m.counts() || m.bytes_estimated) continue;
    fastest = std::max(fastest, m.gigabytes * 1e9);
    if (const double bytes = bytes_moved(m); bytes > 0 && (least == 0 || bytes < least)) least = bytes;
  }
  const Roof* found = &roofs[0];
  for (const Roof& roof : roofs)
    if (roof.bytes > 0 && static_cast<double>(roof.bytes) >= least && (found->bytes == 0 || roof.bytes < found->bytes))
      found = &roof;
  if (found->bytes == 0 && fastest > tie * found->bandwidth && roofs.size() > 1) found = &roofs[1];
  return found;
}

double instruction_rate(const Case& one, const Measurement& m) {
  if (!m.counts() || !m.instructions_per_nonzero) return 0;
  return *m.instructions_per_nonzero * static_cast<double>(one.nonzeros) / m.timing.median;
}

FastestExecution fastest_execution(const std::vector<const Case*>& cases) {
  FastestExecution found;
  for (const Case* one : cases)
    for (const Measurement& m : one->measurements)
      if (const double rate = instruction_rate(*one, m); rate > found.rate) found = {one, &m, rate};
  return found;
}

}  // namespace weft::bench
