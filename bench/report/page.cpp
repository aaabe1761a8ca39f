#include "page.hpp"

#include <fmt/format.h>
#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <set>

#include "charts.hpp"
#include "draw.hpp"
#include "numbers.hpp"
#include "page_style.hpp"
#include "summary.hpp"

namespace weft::bench {
namespace {

using svg::escape;

// A page with more pictures than these opens slowly and is read by nobody; the table has everything.
constexpr std::size_t most_drawn = 60;
constexpr std::size_t first_shown = 3;    // cases whose charts are not folded away
constexpr std::size_t bars_together = 2;  // matrices in one picture, so that it fits a sheet of paper

class Page {
 public:
  Page(const std::vector<ReportFile>& files, const Report& report)
      : files_(files),
        report_(report),
        entrants_(choose_entrants(report.cases)),
        roofs_(roofs_of(report)),
        summaries_(summarize(report)) {}

  std::string html() {
    head();
    warnings();
    for (const Summary& summary : summaries_) results(summary.type);
    matrices();
    table();
    repeat();
    html_ += "<script>" + std::string(page_script) + "</script>\n</body>\n</html>\n";
    return std::move(html_);
  }

 private:
  Cases cases_of(ValueType type) const {
    Cases cases;
    for (const Case& one : report_.cases)
      if (one.type == type) cases.push_back(&one);
    return cases;
  }

  void paragraph(const std::string& text, const char* css = nullptr) {
    html_ += css ? fmt::format("<p class=\"{}\">", css) : "<p>";
    html_ += escape(text) + "</p>\n";
  }

  void figure(const Figure& one, const char* level) {
    if (one.empty()) return;
    const std::string prefix = fmt::format("f{}-", ++figures_);
    html_ += "<figure>";
    if (!one.heading.empty()) html_ += fmt::format("<{0}>{1}</{0}>", level, escape(one.heading));
    html_ += "\n" + svg::embedded(one.panel, one.heading.empty() ? one.panel.description : one.heading, prefix) +
             "<figcaption>" + escape(one.sentence) + "</figcaption></figure>\n";
  }

  void head() {
    const Report& r = report_;
    html_ +=
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'; img-src data:\">\n<link rel=\"icon\" href=\"data:,\">\n<title>" +
        escape("Weft on " + r.device_name) + "</title>\n" + svg::style() + "<style>" + page_style +
        "</style>\n</head>\n<body>\n<h1>Sparse products with Weft and its peers</h1>\n";
    for (const Summary& summary : summaries_) paragraph(headline(summary), "big");
    if (r.cases.empty()) paragraph("There are no measurements in this file.", "big");
    std::string facts = r.device_name;
    if (r.bandwidth > 0) facts += fmt::format(", measured bandwidth {:.1f} GB/s", r.bandwidth / 1e9);
    if (!r.device.is_cpu()) facts += ", host " + r.machine.cpu;
    paragraph(facts + fmt::format(". Weft {}, commit {}, {}.", r.machine.version, r.machine.commit, r.machine.compiler),
              "quiet");
    html_ += "<nav aria-label=\"On this page\"><ul>";
    for (const Summary& summary : summaries_)
      html_ += fmt::format("<li><a href=\"#{0}\">Results in {0}</a></li>", to_string(summary.type));
    html_ +=
        "<li><a href=\"#matrices\">Matrices</a></li><li><a href=\"#table\">Table</a></li><li><a href=\"#repeat\">How "
        "to "
        "repeat it</a></li></ul></nav>\n";
  }

  /// The same thing to say of one name on several matrices, or of several names.
  struct Told {
    std::string names;
    std::string where;  // the first matrix
    std::string what;   // behind that
    int more = 0;       // matrices

    std::string sentence(const std::string& before) const {
      return before + names + where + (more > 0 ? fmt::format(" and {} more", more) : "") + what;
    }
  };

  /// One for each name, those alike joined.
  static std::vector<std::string> sentences(const std::string& before, const std::vector<Told>& names) {
    std::vector<Told> joined;
    for (const Told& one : names) {
      const auto same = std::ranges::find_if(joined, [&](const Told& other) {
        return other.where == one.where && other.what == one.what && other.more == one.more;
      });
      if (same == joined.end())
        joined.push_back(one);
      else
        same->names += ", " + one.names;
    }
    std::vector<std::string> lines;
    for (const Told& one : joined) lines.push_back(one.sentence(before));
    return lines;
  }

  static void tell(std::vector<Told>& names, const std::string& name, const std::string& where,
                   const std::string& what) {
    const auto known = std::ranges::find(names, name, &Told::names);
    if (known == names.end())
      names.push_back({name, where, what});
    else
      ++known->more;
  }

  /// What a reader must know before the numbers.
  void warnings() {
    constexpr std::size_t most_listed = 8;
    std::vector<std::string> wrong;
    std::vector<Told> failures, changing;
    for (const Case& one : report_.cases) {
      const std::string on =
          fmt::format(" on {} ({}{})", one.source, to_string(one.type), vectors_text(one.vectors, one.layout));
      for (const Measurement& m : one.measurements) {
        if (!m.measured())
          tell(failures, m.name, on, ": " + m.failure);
        else if (!m.correct)
          wrong.push_back("WRONG result: " + m.name + on + ". Its time does not count.");
        else if (!m.repeatable)
          tell(changing, m.name, on, m.deterministic && !m.peer ? ", though it promises them." : ".");
      }
    }
    const std::vector<std::string> failed = sentences("No result: ", failures);
    const std::vector<std::string> unsteady = sentences("Not the same bits every time: ", changing);
    if (wrong.empty() && unsteady.empty() && failed.empty() && report_.notes.empty()) return;
    html_ += "<section class=\"warnings\"><h2>Read this first</h2><ul>\n";
    for (const std::vector<std::string>* list :
         std::initializer_list<const std::vector<std::string>*>{&wrong, &report_.notes, &failed, &unsteady}) {
      for (std::size_t i = 0; i < std::min(list->size(), most_listed); ++i)
        html_ += "<li>" + escape((*list)[i]) + "</li>\n";
      if (list->size() > most_listed)
        html_ += fmt::format("<li>and {} more like this, see the table</li>\n", list->size() - most_listed);
    }
    html_ += "</ul></section>\n";
  }

  void results(ValueType type) {
    const Cases cases = cases_of(type);
    html_ += fmt::format("<section id=\"{0}\"><h2>Results in {0}</h2>\n", to_string(type));
    if (const std::size_t names = count_names(report_.cases); names > entrants_.size())
      paragraph(fmt::format("The charts show {} of {} names: csr and those nearest to the fastest over all matrices. "
                            "Hollow marks and dashes are peers. The table has all.",
                            entrants_.size(), names),
                "quiet");
    else
      paragraph("Hollow marks and dashes are peers.", "quiet");
    html_ += "<div class=\"figures\">\n";
    if (cases.size() > 1) figure(profile_figure(cases, entrants_), "h3");
    figure(roofline_figure(cases, entrants_, roofs_), "h3");
    figure(traffic_figure(cases, entrants_, report_.bandwidth), "h3");
    figure(instructions_figure(cases, entrants_, roofs_, report_.counted_by), "h3");
    html_ += "</div>\n";
    if (const std::string counts = instructions_table(cases, roofs_); !counts.empty())
      html_ += "<details><summary>What each kernel reads and executes</summary>\n" + counts + "</details>\n";
    speed(cases);
    setups(cases);
    html_ += "</section>\n";
  }

  void speed(const Cases& cases) {
    double most = 0;
    for (const Case* one : cases)
      for (const Measurement& m : one->measurements)
        if (m.counts()) most = std::max(most, m.gflops);
    if (!(most > 0)) return;
    html_ += "<h3>GFLOP/s by matrix</h3>\n";
    paragraph(fmt::format("A star: the fastest and all within {} of it, which is a tie.", tie_text), "quiet");
    const std::size_t drawn = std::min(cases.size(), most_drawn);
    constexpr std::size_t unfolded = 6 * bars_together;
    for (std::size_t begin = 0; begin < drawn; begin += bars_together) {
      if (begin == unfolded)
        html_ += fmt::format("</div>\n<details><summary>{} more matrices</summary>", drawn - unfolded);
      if (begin == 0 || begin == unfolded) html_ += "<div class=\"figures\">\n";
      const std::span<const Case* const> some(cases.begin() + begin, std::min(bars_together, drawn - begin));
      figure(speed_figure(some, entrants_, most), "h4");
    }
    html_ += drawn > unfolded ? "</div></details>\n" : "</div>\n";
    say_left_out(cases.size());
  }

  void setups(const Cases& cases) {
    html_ += "<h3>Set-up: where each starts to win</h3>\n";
    paragraph("Seconds for set-up, the first product and so many more like the median one.", "quiet");
    const std::size_t drawn = std::min(cases.size(), most_drawn);
    for (std::size_t i = 0; i < drawn; ++i) {
      const Case& one = *cases[i];
      const std::vector<Entrant> present = entrants_on(one, entrants_);
      if (present.empty()) continue;
      const std::string name =
          fmt::format("{}, {}{}", one.source, to_string(one.type), vectors_text(one.vectors, one.layout));
      html_ += i < first_shown ? "<h4>" + escape(name) + "</h4>"
                               : "<details><summary><h4>" + escape(name) + "</h4></summary>";
      html_ += "<div class=\"figures\">\n";
      figure(cost_figure(one, present), "h5");
      figure(envelope_figure(one), "h5");
      html_ += "<div>";
      figure(setup_figure(one, present), "h5");
      winners(one);
      html_ += "</div>\n";
      figure(cold_figure(one, present), "h5");
      html_ += i < first_shown ? "</div>\n" : "</div></details>\n";
    }
    say_left_out(cases.size());
  }

  void winners(const Case& one) {
    std::vector<Cost> costs;
    for (const Measurement& m : one.measurements)
      if (m.counts()) costs.push_back(cost_of(m));
    html_ +=
        "<table><thead><tr><th scope=\"col\">products</th><th scope=\"col\" class=\"text\">the "
        "fastest</th></tr></thead>"
        "<tbody>";
    for (const Lead& lead : leads(costs))
      html_ += fmt::format("<tr><th scope=\"row\">from {} on</th><td class=\"text\">{}</td></tr>",
                           count_text(std::llround(lead.from)), escape(lead.name));
    html_ += "</tbody></table>\n";
  }

  void say_left_out(std::size_t cases) {
    if (cases > most_drawn)
      paragraph(fmt::format("{} of {} are drawn; the table has all.", most_drawn, cases), "quiet");
  }

  /// A portrait a matrix; values of another type do not change it.
  void matrices() {
    html_ += "<section id=\"matrices\"><h2>Matrices</h2>\n";
    std::set<std::string> drawn;
    for (const Case& one : report_.cases) {
      if (drawn.size() == most_drawn) break;
      if (!drawn.insert(one.source).second) continue;
      const std::string size = fmt::format(
          "{} \u00d7 {}, {}{}", count_text(one.rows), count_text(one.cols), with_noun(one.nonzeros, "nonzero"),
          one.ordering == Ordering::none ? "" : fmt::format(", stored in the order {}", to_string(one.ordering)));
      if (one.portrait.cells.empty()) {
        paragraph(one.source + ": " + size + ". The file has no portrait of it.");
        continue;
      }
      const bool folded = drawn.size() > first_shown;
      html_ += folded ? "<details><summary><h3>" + escape(one.source) + "</h3></summary>"
                      : "<h3>" + escape(one.source) + "</h3>";
      html_ += "<div class=\"figures\">\n";
      portrait(one, size);
      html_ += folded ? "</div></details>\n" : "</div>\n";
    }
    html_ += "</section>\n";
  }

  void portrait(const Case& one, const std::string& size) {
    const std::vector<std::string>& cells = one.portrait.cells;
    const SpyPicture spy{
        .rows = one.rows,
        .cols = one.cols,
        .nonzeros = one.nonzeros,
        .raster_rows = static_cast<Index>(cells.size()),
        .raster_cols = static_cast<Index>(cells.front().size()),
        .level = [&](Index row, Index col) { return cells[row][col] == '.' ? -1 : cells[row][col] - '0'; }};
    figure({"", spy_panel(spy, "Where the entries are"), size + "."}, "h4");
    const double mean = one.rows > 0 ? static_cast<double>(one.nonzeros) / static_cast<double>(one.rows) : 0;
    const svg::Panel lengths =
        row_length_panel({.bins = one.portrait.lengths, .mean = mean, .deviation = {}}, "Row lengths");
    figure({"", lengths, lengths.description}, "h4");
  }

  void table() {
    html_ += "<section id=\"table\" class=\"everything\"><h2>All measurements</h2>\n";
    paragraph(fmt::format("A click on a title sorts. Time is the median of groups of products, spread the distance of "
                          "its quartiles; those within {} share a rank; GB/s counts the stored matrix, x and y once; "
                          "break-even is against csr. A star behind bytes: the library does not tell, these are csr's.",
                          tie_text),
              "quiet");
    html_ += everything_table(report_) + "</section>\n";
  }

  void fact(const char* name, const std::string& value) {
    if (!value.empty()) html_ += fmt::format("<dt>{}</dt><dd>{}</dd>", name, escape(value));
  }

  void repeat() {
    html_ += "<section id=\"repeat\"><h2>How to repeat it</h2>\n";
    for (const ReportFile& file : files_) {
      const Report& r = file.report;
      html_ += "<h3>" + escape(file.path) + "</h3>\n";
      if (!r.command.empty()) html_ += "<pre><code>" + escape(r.command) + "</code></pre>\n";
      html_ += "<dl>";
      fact("device", r.device.name() + ": " + r.device_name);
      if (r.bandwidth > 0) fact("bandwidth", fmt::format("{:.1f} GB/s, measured before", r.bandwidth / 1e9));
      for (const CacheBandwidth& cache : r.caches)
        fact("bandwidth of caches", fmt::format("{:.1f} GB/s, reading {} again and again", cache.bandwidth / 1e9,
                                                bytes_text(static_cast<double>(cache.bytes))));
      fact("CPU", fmt::format("{}, {}, {} used, {} kernels, {}", r.machine.cpu, with_noun(r.machine.cores, "core"),
                              with_noun(r.machine.threads, "thread"), r.machine.isa,
                              bytes_text(static_cast<double>(r.machine.memory_bytes))));
      for (const DeviceInfo& gpu : r.machine.gpus)
        fact("GPU", fmt::format("{}: {}, {}", gpu.device.name(), gpu.description,
                                bytes_text(static_cast<double>(gpu.memory_bytes))));
      fact("driver", r.machine.driver);
      fact("Weft", fmt::format("{}, commit {}", r.machine.version, r.machine.commit));
      fact("compiler", fmt::format("{}, {}", r.machine.compiler, r.machine.build_type));
      fact("each timed", fmt::format("{} s in {}", svg::number(r.seconds, 3), with_noun(r.groups, "group")));
      if (r.products > 0) fact("products to come", count_text(r.products));
      fact("seed of x", std::to_string(r.seed));
      fact("cold caches", r.cold ? "timed, too" : "not timed");
      fact("instructions counted by", r.counted_by);
      html_ += "</dl>\n";
    }
    html_ += "</section>\n";
  }

  const std::vector<ReportFile>& files_;
  const Report& report_;
  std::vector<Entrant> entrants_;
  std::vector<Roof> roofs_;
  std::vector<Summary> summaries_;
  std::string html_;
  int figures_ = 0;
};

}  // namespace

Report join(const std::vector<ReportFile>& files) {
  Report joined = files.front().report;
  const auto machine = [](const Report& r) {
    return fmt::format("{} ({}), {}, {}", r.device_name, r.device.name(), r.machine.cpu,
                       with_noun(r.machine.threads, "thread"));
  };
  std::set<std::pair<std::string, ValueType>> known;
  for (const Case& one : joined.cases) known.insert({one.source, one.type});
  for (std::size_t f = 1; f < files.size(); ++f) {
    const Report& other = files[f].report;
    if (machine(other) != machine(joined))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: measured on {}, but {} on {}, expected results of one machine and device",
                              files[f].path, machine(other), files.front().path, machine(joined)));
    for (Case one : other.cases) {
      if (known.contains({one.source, one.type})) one.source += " (" + files[f].path + ")";
      joined.cases.push_back(std::move(one));
    }
    for (const Case& one : other.cases) known.insert({one.source, one.type});
    for (const std::string& note : other.notes)
      if (std::ranges::find(joined.notes, note) == joined.notes.end()) joined.notes.push_back(note);
  }
  return joined;
}

std::string report_page(const std::vector<ReportFile>& files) {
  const Report joined = join(files);
  return Page(files, joined).html();
}

}  // namespace weft::bench
