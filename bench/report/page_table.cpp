#include <fmt/format.h>

#include <cmath>

#include "numbers.hpp"
#include "page.hpp"
#include "svg.hpp"

namespace weft::bench {
namespace {

using svg::escape;

/// A column of numbers: its title, whether paper has no room for it, and how its cells are made.
struct Column {
  const char* title;
  bool extra;
  std::string (*cell)(const Measurement& m);
};

/// Four digits, never in powers of ten where a reader would stumble.
std::string digits(double value) { return std::isfinite(value) ? fmt::format("{:.4g}", value) : "infinite"; }
std::string milliseconds(double seconds) { return digits(seconds * 1e3); }
std::string maybe(const std::optional<double>& value) { return value ? digits(*value) : ""; }

const Column columns[] = {
    {"rank", false, [](const Measurement& m) { return m.rank > 0 ? std::to_string(m.rank) : std::string("WRONG"); }},
    {"time, ms", false, [](const Measurement& m) { return milliseconds(m.timing.median); }},
    {"spread, %", false, [](const Measurement& m) { return fmt::format("{:.1f}", 100 * m.timing.spread()); }},
    {"cold, ms", false,
     [](const Measurement& m) { return m.timing.cold ? milliseconds(m.timing.cold->median) : std::string(); }},
    {"GFLOP/s", false, [](const Measurement& m) { return digits(m.gflops); }},
    {"GB/s", false, [](const Measurement& m) { return digits(m.gigabytes); }},
    {"of bandwidth, %", false,
     [](const Measurement& m) { return m.bandwidth_share > 0 ? fmt::format("{:.0f}", 100 * m.bandwidth_share) : ""; }},
    {"times the fastest peer", false, [](const Measurement& m) { return maybe(m.peer_ratio); }},
    {"bytes/nnz", false,
     [](const Measurement& m) { return digits(m.bytes_per_nonzero) + (m.bytes_estimated ? "*" : ""); }},
    {"set-up, ms", false, [](const Measurement& m) { return milliseconds(m.setup.total()); }},
    {"break-even, products", false, [](const Measurement& m) { return maybe(m.break_even); }},
    {"analysis, ms", true, [](const Measurement& m) { return milliseconds(m.setup.facts); }},
    {"order, ms", true, [](const Measurement& m) { return milliseconds(m.setup.order); }},
    {"partition, ms", true, [](const Measurement& m) { return milliseconds(m.setup.partition); }},
    {"encode, ms", true, [](const Measurement& m) { return milliseconds(m.setup.encode); }},
    {"upload, ms", true, [](const Measurement& m) { return milliseconds(m.setup.upload); }},
    {"first product, ms", true,
     [](const Measurement& m) { return m.first_product_seconds > 0 ? milliseconds(m.first_product_seconds) : ""; }},
    {"forward error", true, [](const Measurement& m) { return digits(m.forward_error); }},
    {"backward error", true, [](const Measurement& m) { return digits(m.backward_error); }},
    {"padding", true, [](const Measurement& m) { return m.peer ? std::string() : std::to_string(m.padding); }},
};

/// What words say of a measurement: the failure, a wrong result, what was chosen.
std::string remark(const Measurement& m) {
  if (!m.measured()) return m.failure;
  std::string text = m.correct ? "" : "WRONG result. ";
  if (!m.repeatable) text += m.deterministic && !m.peer ? "NOT REPEATABLE. " : "not repeatable. ";
  if (m.chosen != m.name) text += m.chosen + ". ";
  if (!m.version.empty()) text += "version " + m.version + ". ";
  return text + m.details;
}

std::string row(const Case& one, const Measurement& m) {
  std::string html = m.measured() && m.correct ? "<tr>" : "<tr class=\"bad\">";
  html += "<th scope=\"row\">" + escape(one.source) + "</th><td class=\"text\">" + std::string(to_string(one.type)) +
          vectors_text(one.vectors, one.layout) + "</td><td class=\"text\">" + escape(m.name) +
          "</td><td class=\"text\">" + (m.peer ? "peer" : "weft") + "</td>";
  for (const Column& column : columns)
    html += std::string(column.extra ? "<td class=\"extra\">" : "<td>") +
            (m.measured()         ? column.cell(m)
             : &column == columns ? "failed"
                                  : "") +
            "</td>";
  return html + "<td class=\"why\">" + escape(remark(m)) + "</td></tr>\n";
}

}  // namespace

std::string instructions_table(const Cases& cases, const std::vector<Roof>& roofs) {
  const double most = fastest_execution(cases).rate;
  if (!(most > 0)) return {};
  std::string html =
      "<p class=\"quiet\">A product takes at least as long as reading its bytes, at the bandwidth in the column "
      "before, and as long as executing its instructions, at the most per second of any kernel here. What is near to "
      "100 % limits it; where nothing is, it waits for x, or for other threads.</p>\n"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Bytes and instructions\"><table><thead><tr>";
  for (const char* title : {"matrix", "name"})
    html += "<th scope=\"col\" class=\"text\">" + std::string(title) + "</th>";
  for (const char* title :
       {"bytes per nonzero", "instructions per nonzero", "GFLOP/s", "10<sup>9</sup> instructions/s"})
    html += "<th scope=\"col\">" + std::string(title) + "</th>";
  html +=
      "<th scope=\"col\" class=\"text\">read from</th><th scope=\"col\">reading, %</th>"
      "<th scope=\"col\">executing, %</th></tr></thead><tbody>\n";
  for (const Case* one : cases) {
    const Roof* roof = roof_of(*one, roofs);
    for (const Measurement& m : one->measurements) {
      const double rate = instruction_rate(*one, m);
      if (!(rate > 0)) continue;
      html += fmt::format(
          "<tr><th scope=\"row\">{}</th><td class=\"text\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
          "<td class=\"text\">{}</td><td>{}</td><td>{:.0f}</td></tr>\n",
          escape(one->source), escape(m.name), digits(bytes_moved(m) / static_cast<double>(one->nonzeros)),
          digits(m.instructions_per_nonzero.value_or(0)), digits(m.gflops), digits(rate / 1e9),
          roof ? roof->name() : "", roof ? fmt::format("{:.0f}", 1e11 * m.gigabytes / roof->bandwidth) : "",
          100 * rate / most);
    }
  }
  return html + "</tbody></table></div>\n";
}

std::string everything_table(const Report& report) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"All measurements\"><table "
      "class=\"sortable\"><thead><tr>";
  for (const char* title : {"matrix", "type", "name", "of"})
    html += "<th scope=\"col\" class=\"text\">" + std::string(title) + "</th>";
  for (const Column& column : columns)
    html += fmt::format("<th scope=\"col\"{}>{}</th>", column.extra ? " class=\"extra\"" : "", column.title);
  html += "<th scope=\"col\" class=\"text\">remarks</th></tr></thead><tbody>\n";
  for (const Case& one : report.cases)
    for (const Measurement& m : one.measurements) html += row(one, m);
  return html + "</tbody></table></div>\n";
}

}  // namespace weft::bench
