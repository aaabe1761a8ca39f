#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "charts.hpp"
#include "draw.hpp"

namespace weft::bench {

std::string time_chart_svg(const Report& report) {
  std::map<std::string, Series> lines;
  const bool types_differ =
      std::ranges::any_of(report.cases, [&](const Case& one) { return one.type != report.cases.front().type; });
  for (const Case& one : report.cases)
    for (const Measurement& m : one.measurements) {
      if (!m.measured()) continue;
      const std::string name = types_differ ? fmt::format("{} {}", m.name, to_string(one.type)) : m.name;
      lines[name].name = name;
      lines[name].points.emplace_back(static_cast<double>(one.nonzeros), m.timing.median);
    }
  std::vector<Series> series;
  for (auto& [name, line] : lines) {
    std::ranges::sort(line.points);
    series.push_back(std::move(line));
  }
  return line_chart_svg(series, {"Time of one product", "nonzeros; on " + report.device_name, "seconds", true, true});
}

}  // namespace weft::bench
