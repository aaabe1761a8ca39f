#include "solve_page.hpp"

#include <fmt/format.h>

#include <cmath>

#include "numbers.hpp"
#include "page_style.hpp"
#include "solve_report.hpp"
#include "svg.hpp"

namespace weft::bench {
namespace {

using svg::escape;

/// Four digits, never in powers of ten where a reader would stumble.
std::string milliseconds(double seconds) { return fmt::format("{:.4g}", seconds * 1e3); }
std::string ratio(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : ""; }

struct Column {
  const char* title;
  std::string (*cell)(const SolveMeasurement& m);
};

const Column columns[] = {
    {"rank", [](const SolveMeasurement& m) { return m.rank > 0 ? std::to_string(m.rank) : std::string("MISSED"); }},
    {"total, ms", [](const SolveMeasurement& m) { return milliseconds(m.total_seconds()); }},
    {"plan, ms", [](const SolveMeasurement& m) { return milliseconds(m.plan_seconds); }},
    {"precond., ms",
     [](const SolveMeasurement& m) {
       return m.preconditioner_seconds > 0 ? milliseconds(m.preconditioner_seconds) : std::string();
     }},
    {"solve, ms", [](const SolveMeasurement& m) { return milliseconds(m.solve.median); }},
    {"spread, %",
     [](const SolveMeasurement& m) { return m.solves > 1 ? fmt::format("{:.1f}", 100 * m.solve.spread()) : ""; }},
    {"iterations", [](const SolveMeasurement& m) { return std::to_string(m.iterations); }},
    {"per iteration, ms", [](const SolveMeasurement& m) { return milliseconds(m.iteration_seconds()); }},
    {"residual, of |b|",
     [](const SolveMeasurement& m) {
       return std::isfinite(m.relative_residual) ? fmt::format("{:.1e}", m.relative_residual) : std::string("infinite");
     }},
    {"times the soonest peer", [](const SolveMeasurement& m) { return ratio(m.peer_ratio); }},
    {"times a peer's iteration", [](const SolveMeasurement& m) { return ratio(m.iteration_ratio); }},
};

class Page {
 public:
  explicit Page(const std::vector<SolveReportFile>& files) : files_(files) {}

  std::string html() {
    html_ +=
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>" +
        escape("Weft on " + files_.front().report.device_name) + "</title>\n" + svg::style() + "<style>" + page_style +
        "</style>\n</head>\n<body>\n<h1>Solving with Weft and its peers</h1>\n";
    for (const SolveReportFile& file : files_) {
      warnings(file.report);
      html_ += "<section><h2>" + escape(file.report.device_name) + "</h2>\n";
      if (file.report.cases.empty()) paragraph("There are no measurements in this file.");
      for (const SolveCase& one : file.report.cases) matrix(one);
      html_ += "</section>\n";
    }
    repeat();
    html_ += "<script>" + std::string(page_script) + "</script>\n</body>\n</html>\n";
    return std::move(html_);
  }

 private:
  void paragraph(const std::string& text) { html_ += "<p class=\"quiet\">" + escape(text) + "</p>\n"; }

  /// What a reader must know before the numbers.
  void warnings(const SolveBenchReport& report) {
    std::vector<std::string> lines = report.notes;
    for (const SolveCase& one : report.cases)
      for (const SolveMeasurement& m : one.measurements) {
        const std::string who = fmt::format("{} {} on {} ({})", m.name, m.solver(), one.source, to_string(one.type));
        if (!m.measured())
          lines.push_back("No result: " + who + ": " + m.failure);
        else if (!m.reached)
          lines.push_back("Not within the tolerance: " + who + ": " + m.status);
        else if (!m.repeatable && !m.peer)
          lines.push_back("Not the same bits every time: " + who);
      }
    if (lines.empty()) return;
    html_ += "<section class=\"warnings\"><h2>Read this first</h2><ul>\n";
    constexpr std::size_t max_listed = 12;
    for (std::size_t i = 0; i < std::min(lines.size(), max_listed); ++i) html_ += "<li>" + escape(lines[i]) + "</li>\n";
    if (lines.size() > max_listed)
      html_ += fmt::format("<li>and {} more like this, see the tables</li>\n", lines.size() - max_listed);
    html_ += "</ul></section>\n";
  }

  void matrix(const SolveCase& one) {
    const std::string heading = fmt::format("{}, {}", one.source, to_string(one.type));
    html_ += "<h3>" + escape(heading) + "</h3>\n";
    paragraph(fmt::format("{} rows, {}; until |b - A x| is {:.3g} |b|.", count_text(one.rows),
                          with_noun(one.nonzeros, "nonzero"), one.rtol));
    const svg::Panel panel = solve_panel(one);
    html_ += "<figure>\n" + svg::embedded(panel, heading, fmt::format("f{}-", ++figures_)) + "<figcaption>" +
             escape(panel.description) + "</figcaption></figure>\n";
    table(one);
  }

  void table(const SolveCase& one) {
    html_ +=
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"sortable\"><thead><tr><th scope=\"col\" "
        "class=\"text\">storage and solver</th>";
    for (const Column& column : columns) html_ += fmt::format("<th scope=\"col\">{}</th>", escape(column.title));
    html_ += "<th scope=\"col\" class=\"text\">stored as</th></tr></thead><tbody>\n";
    for (const SolveMeasurement& m : one.measurements) {
      html_ += m.counts() ? "<tr>" : "<tr class=\"bad\">";
      html_ += "<th scope=\"row\">" + escape(m.name + " " + m.solver()) + "</th>";
      if (m.measured()) {
        for (const Column& column : columns) html_ += "<td>" + escape(column.cell(m)) + "</td>";
        html_ += "<td class=\"why\">" + escape(m.peer ? m.details : m.chosen) + "</td>";
      } else {
        html_ += fmt::format("<td colspan=\"{}\" class=\"why\">", std::size(columns) + 1) + escape(m.failure) + "</td>";
      }
      html_ += "</tr>\n";
    }
    html_ += "</tbody></table></div>\n";
  }

  void fact(const char* name, const std::string& value) {
    if (!value.empty()) html_ += fmt::format("<dt>{}</dt><dd>{}</dd>", name, escape(value));
  }

  void repeat() {
    html_ += "<section id=\"repeat\"><h2>How to repeat it</h2>\n";
    for (const SolveReportFile& file : files_) {
      const SolveBenchReport& r = file.report;
      html_ += "<h3>" + escape(file.path) + "</h3>\n<pre><code>" + escape(r.command) + "</code></pre>\n<dl>";
      fact("device", r.device.name() + ": " + r.device_name);
      fact("CPU", fmt::format("{}, {}, {} used, {} kernels", r.machine.cpu, with_noun(r.machine.cores, "core"),
                              with_noun(r.machine.threads, "thread"), r.machine.isa));
      fact("driver", r.machine.driver);
      fact("Weft", fmt::format("{}, commit {}", r.machine.version, r.machine.commit));
      fact("compiler", fmt::format("{}, {}", r.machine.compiler, r.machine.build_type));
      fact("each timed", fmt::format("{} s, at most {}", svg::number(r.seconds, 3), with_noun(r.repeats, "solve")));
      fact("products to come", count_text(r.products));
      fact("seed of x", std::to_string(r.seed));
      html_ += "</dl>\n";
    }
    html_ += "</section>\n";
  }

  const std::vector<SolveReportFile>& files_;
  std::string html_;
  int figures_ = 0;
};

}  // namespace

std::string solve_page(const std::vector<SolveReportFile>& files) { return Page(files).html(); }

}  // namespace weft::bench
