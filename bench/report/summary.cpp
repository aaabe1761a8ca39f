#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace weft::bench {
namespace {

/// The fastest of ours, or of the peers; null when there is none.
const Measurement* fastest(const Case& one, bool peer) {
  const Measurement* best = nullptr;
  for (const Measurement& m : one.measurements)
    if (m.peer == peer && m.counts() && (!best || m.timing.median < best->timing.median)) best = &m;
  return best;
}

/// A geometric mean in the making.
struct Mean {
  double logarithms = 0;
  int count = 0;

  void add(double ratio) {
    logarithms += std::log(ratio);
    ++count;
  }
  std::optional<double> value() const { return count > 0 ? std::optional(std::exp(logarithms / count)) : std::nullopt; }
};

Summary summarize(const std::vector<const Case*>& cases) {
  Summary summary;
  summary.matrices = static_cast<int>(cases.size());
  Mean ratios;
  for (const Case* one : cases) {
    const Measurement* ours = fastest(*one, false);
    const Measurement* peer = fastest(*one, true);
    if (!ours || !peer) continue;
    ++summary.compared;
    const double ratio = peer->timing.median / ours->timing.median;
    ratios.add(ratio);
    ++(ratio >= tie ? summary.wins : ratio > 1 / tie ? summary.ties : summary.losses);
  }
  summary.ratio = ratios.value();

  for (const Case* one : cases)
    for (const Measurement& m : one->measurements)
      if (std::ranges::none_of(summary.names, [&](const NameSummary& known) { return known.name == m.name; }))
        summary.names.push_back({.name = m.name, .peer = m.peer, .peer_ratio = {}});
  for (NameSummary& name : summary.names) {
    Mean mean;
    for (const Case* one : cases) {
      const Measurement* peer = fastest(*one, true);
      const auto m = std::ranges::find(one->measurements, name.name, &Measurement::name);
      if (m == one->measurements.end() || !m->counts()) continue;
      ++name.measured;
      if (peer) mean.add(peer->timing.median / m->timing.median);
    }
    if (mean.count == summary.matrices) name.peer_ratio = mean.value();
  }
  return summary;
}

}  // namespace

std::vector<Summary> summarize(const Report& report) {
  std::vector<Summary> summaries;
  for (ValueType type : {ValueType::f64, ValueType::f32}) {
    std::vector<const Case*> cases;
    for (const Case& one : report.cases)
      if (one.type == type) cases.push_back(&one);
    if (cases.empty()) continue;
    summaries.push_back(summarize(cases));
    summaries.back().type = type;
  }
  return summaries;
}

std::string headline(const Summary& summary) {
  const std::string on = summary.compared == 1
                             ? fmt::format("On this matrix ({})", to_string(summary.type))
                             : fmt::format("On these {} matrices ({})", summary.compared, to_string(summary.type));
  if (!summary.ratio) return fmt::format("No peer to compare with ({}).", to_string(summary.type));
  return fmt::format("{} Weft is {:.2f} times as fast as the fastest peer{} and wins {} of {}{}.", on, *summary.ratio,
                     summary.compared == 1 ? "" : " (geometric mean)", summary.wins, summary.compared,
                     summary.ties == 0 ? "" : fmt::format(", with {} tied", summary.ties));
}

PredictionSummary summarize_predictions(const Report& report) {
  PredictionSummary summary;
  std::vector<double> errors;
  for (const Case& one : report.cases)
    for (const Measurement& m : one.measurements)
      for (const Candidate& candidate : m.candidates) {
        if (!(candidate.product_seconds > 0) || !(candidate.predicted_product_seconds > 0)) continue;
        const double error = std::abs(candidate.predicted_product_seconds / candidate.product_seconds - 1);
        errors.push_back(error);
        if (error <= summary.worst_error) continue;
        summary.worst_error = error;
        summary.worst = candidate.format + " on " + one.source + ", " + std::string(to_string(one.type));
      }
  summary.count = static_cast<int>(errors.size());
  if (errors.empty()) return summary;
  std::ranges::nth_element(errors, errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
  summary.median_error = errors[errors.size() / 2];
  return summary;
}

std::string prediction_line(const Report& report) {
  const PredictionSummary summary = summarize_predictions(report);
  if (summary.count == 0) return {};
  return fmt::format(
      "Of {} that auto timed, its predictions were off by {:.0f} % in the median, by {:.0f} % at worst ({}).",
      summary.count == 1 ? "one product" : fmt::format("{} products", summary.count), 100 * summary.median_error,
      100 * summary.worst_error, summary.worst);
}

}  // namespace weft::bench
