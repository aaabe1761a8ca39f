#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "numbers.hpp"
#include "solve_report.hpp"
#include "table.hpp"
#include "tables.hpp"

namespace weft::bench {
namespace {

std::string ratio_text(const std::optional<double>& ratio) { return ratio ? fmt::format("{:.2f}x", *ratio) : "-"; }

std::string residual_text(const SolveMeasurement& m) {
  if (!std::isfinite(m.relative_residual)) return "infinite MISSED";
  return fmt::format("{:.1e}{}", m.relative_residual, m.reached ? "" : " MISSED");
}

std::string times(const SolveCase& one, bool with_peers) {
  std::vector<std::string> titles = {"storage", "solver", "plan",      "precond.", "solve",
                                     "spread",  "iter.",  "per iter.", "total",    "residual"};
  if (with_peers) titles.insert(titles.end(), {"vs peer", "per iter."});
  Table table(std::move(titles), {1});
  for (const SolveMeasurement& m : one.measurements) {
    if (!m.measured()) {
      table.add_remark(m.name, m.solver() + ": " + m.failure);
      continue;
    }
    std::vector<std::string> cells = {m.name,
                                      m.solver(),
                                      seconds_text(m.plan_seconds),
                                      m.preconditioner_seconds > 0 ? seconds_text(m.preconditioner_seconds) : "-",
                                      seconds_text(m.solve.median),
                                      m.solves > 1 ? percent_text(m.solve.spread()) : "-",
                                      count_text(m.iterations),
                                      m.iterations > 0 ? seconds_text(m.iteration_seconds()) : "-",
                                      seconds_text(m.total_seconds()),
                                      residual_text(m)};
    if (with_peers) {
      cells.push_back(ratio_text(m.peer_ratio));
      cells.push_back(ratio_text(m.iteration_ratio));
    }
    table.add(std::move(cells));
  }
  return table.text();
}

std::string entrant(const SolveMeasurement& m) { return m.name + " " + m.solver(); }

/// How much longer the soonest of the other side takes: of the peers where ours is first, of ours where a peer is.
std::string other_side(const SolveCase& one, const SolveMeasurement& first) {
  const SolveMeasurement* other = nullptr;
  for (const SolveMeasurement& m : one.measurements)
    if (m.counts() && m.peer != first.peer && (!other || m.total_seconds() < other->total_seconds())) other = &m;
  if (!other || !(first.total_seconds() > 0)) return {};
  return fmt::format("; the soonest {}, {}, takes {:.2f} times as long", other->peer ? "peer" : "of ours",
                     entrant(*other), other->total_seconds() / first.total_seconds());
}

/// Who is there first, and what did not get there.
std::string verdict(const SolveCase& one) {
  const SolveMeasurement* first = nullptr;
  for (const SolveMeasurement& m : one.measurements)
    if (m.rank == 1 && (!first || m.total_seconds() < first->total_seconds())) first = &m;
  std::string tied, changing, stopped, text;
  const auto append = [](std::string& list, const std::string& name) { list += (list.empty() ? "" : ", ") + name; };
  for (const SolveMeasurement& m : one.measurements) {
    if (m.rank == 1 && &m != first) append(tied, entrant(m));
    if (m.measured() && !m.repeatable) append(changing, entrant(m));
    if (m.measured() && !m.reached) append(stopped, fmt::format("{} ({})", entrant(m), m.status));
  }
  if (first) {
    text += "\n" + paragraph(fmt::format("Soonest: {}, {}{}{}.", entrant(*first), seconds_text(first->total_seconds()),
                                         tied.empty() ? "" : fmt::format("; within {} of it: {}", tie_text, tied),
                                         other_side(one, *first)));
  }
  if (!stopped.empty()) text += "\n" + paragraph("Not within the tolerance: " + stopped + ".");
  if (!changing.empty()) text += paragraph("Not the same bits every time: " + changing + ".");
  return text;
}

}  // namespace

std::string tables_of(const SolveCase& one, bool with_peers) {
  return fmt::format("\n{}: {} x {}, {}, {}; until |b - A x| is {:.3g} |b|\n", one.source, count_text(one.rows),
                     count_text(one.rows), with_noun(one.nonzeros, "nonzero"), to_string(one.type), one.rtol) +
         times(one, with_peers) + verdict(one);
}

}  // namespace weft::bench
