#include "fields.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "place.hpp"

namespace weft::bench {
namespace {

using Json = nlohmann::ordered_json;

/// The parts of a set-up, as they are named in files.
constexpr std::pair<const char*, double Setup::*> setup_parts[] = {{"analysis_seconds", &Setup::facts},
                                                                   {"order_seconds", &Setup::order},
                                                                   {"partition_seconds", &Setup::partition},
                                                                   {"encode_seconds", &Setup::encode},
                                                                   {"upload_seconds", &Setup::upload}};

Json to_json(const Setup& setup) {
  Json json;
  for (const auto& [name, part] : setup_parts) json[name] = number(setup.*part);
  return json;
}

Setup read_setup(const Place& place) {
  Setup setup;
  for (const auto& [name, part] : setup_parts) setup.*part = place[name].seconds();
  return setup;
}

/// A candidate's numbers, as a file names them.
constexpr std::pair<const char*, double Candidate::*> candidate_parts[] = {
    {"predicted_product_seconds", &Candidate::predicted_product_seconds},
    {"product_seconds", &Candidate::product_seconds},
    {"predicted_setup_seconds", &Candidate::predicted_setup_seconds},
    {"setup_seconds", &Candidate::setup_seconds}};

Json to_json(const std::vector<Candidate>& candidates) {
  Json list = Json::array();
  for (const Candidate& candidate : candidates) {
    Json json;
    json["format"] = candidate.format;
    for (const auto& [name, part] : candidate_parts) json[name] = number(candidate.*part);
    json["predicted_bytes"] = candidate.predicted_bytes;
    json["bytes"] = candidate.bytes;
    json["verdict"] = candidate.verdict;
    list.push_back(std::move(json));
  }
  return list;
}

std::vector<Candidate> read_candidates(const Place& place) {
  constexpr std::size_t far_too_many = 1000;
  std::vector<Candidate> candidates;
  for (const Place& one : place.list(far_too_many)) {
    Candidate candidate{.format = one["format"].text(), .verdict = one["verdict"].text()};
    for (const auto& [name, part] : candidate_parts) candidate.*part = one[name].seconds();
    candidate.predicted_bytes = static_cast<std::size_t>(one["predicted_bytes"].whole());
    candidate.bytes = static_cast<std::size_t>(one["bytes"].whole());
    candidate.built = candidate.product_seconds > 0;
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

}  // namespace

Json number(double value) {
  if (!std::isfinite(value)) return nullptr;
  const std::string text = fmt::format("{:.7g}", value);
  double rounded = value;  // stays where the text is of a number too small to be read back
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }

const std::vector<Field>& measurement_fields() {
  static const std::vector<Field> all = {
      {.name = "name",
       .write = [](const Measurement& m) { return Json(m.name); },
       .read =
           [](const Place& value, Measurement& m) {
             m.name = value.text();
             if (m.name.empty()) value.expected("a name");
           },
       .always = true},
      {.name = "chosen",
       .write = [](const Measurement& m) { return Json(m.chosen); },
       .read = [](const Place& value, Measurement& m) { m.chosen = value.text(); }},
      {.name = "peer",
       .write = [](const Measurement& m) { return Json(m.peer); },
       .read = [](const Place& value, Measurement& m) { m.peer = value.truth(); },
       .always = true},
      {.name = "version",
       .write = [](const Measurement& m) { return Json(m.version); },
       .read = [](const Place& value, Measurement& m) { m.version = value.text(); },
       .since = 2,
       .always = true},
      {.name = "failure",
       .write = [](const Measurement& m) { return m.failure.empty() ? Json(nullptr) : Json(m.failure); },
       .read =
           [](const Place& value, Measurement& m) {
             if (value.null()) return;
             m.failure = value.text();
             if (m.failure.empty()) value.expected("a sentence or null");
           },
       .in = Field::In::json,
       .always = true},
      {.name = "correct",
       .write = [](const Measurement& m) { return Json(m.correct); },
       .read = [](const Place& value, Measurement& m) { m.correct = value.truth(); }},
      {.name = "rank",
       .write = [](const Measurement& m) { return m.rank > 0 ? Json(m.rank) : Json(nullptr); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.rank = value.small();
           },
       .since = 2},
      {.name = "deterministic",
       .write = [](const Measurement& m) { return m.peer ? Json(nullptr) : Json(m.deterministic); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.deterministic = value.truth();
           },
       .in = Field::In::json},
      {.name = "repeatable",
       .write = [](const Measurement& m) { return Json(m.repeatable); },
       .read = [](const Place& value, Measurement& m) { m.repeatable = value.truth(); },
       .since = 2},
      {.name = "setup_seconds", .write = [](const Measurement& m) { return number(m.setup.total()); }},
      {.name = "setup",
       .write = [](const Measurement& m) { return to_json(m.setup); },
       .read = [](const Place& value, Measurement& m) { m.setup = read_setup(value); },
       .in = Field::In::json,
       .since = 2},
      {.name = "first_product_seconds",
       .write = [](const Measurement& m) { return number(m.first_product_seconds); },
       .read = [](const Place& value, Measurement& m) { m.first_product_seconds = value.seconds(); },
       .since = 2},
      {.name = "median_seconds",
       .write = [](const Measurement& m) { return number(m.timing.median); },
       .read = [](const Place& value, Measurement& m) { m.timing.median = value.positive(); }},
      {.name = "low_seconds",
       .write = [](const Measurement& m) { return number(m.timing.low); },
       .read = [](const Place& value, Measurement& m) { m.timing.low = value.seconds(); }},
      {.name = "high_seconds",
       .write = [](const Measurement& m) { return number(m.timing.high); },
       .read = [](const Place& value, Measurement& m) { m.timing.high = value.seconds(); }},
      {.name = "groups",
       .write = [](const Measurement& m) { return Json(m.timing.groups); },
       .read = [](const Place& value, Measurement& m) { m.timing.groups = value.small(); },
       .in = Field::In::json},
      {.name = "products",
       .write = [](const Measurement& m) { return Json(m.timing.products); },
       .read = [](const Place& value, Measurement& m) { m.timing.products = value.whole(); },
       .in = Field::In::json},
      {.name = "cold_median_seconds",
       .write = [](const Measurement& m) { return m.timing.cold ? number(m.timing.cold->median) : Json(nullptr); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.timing.cold = {.median = value.positive(), .low = 0, .high = 0};
           },
       .may_be_missing = true},
      {.name = "cold_low_seconds",
       .write = [](const Measurement& m) { return m.timing.cold ? number(m.timing.cold->low) : Json(nullptr); },
       .read =
           [](const Place& value, Measurement& m) {
             if (m.timing.cold) m.timing.cold->low = value.seconds();
           },
       .in = Field::In::json,
       .may_be_missing = true},
      {.name = "cold_high_seconds",
       .write = [](const Measurement& m) { return m.timing.cold ? number(m.timing.cold->high) : Json(nullptr); },
       .read =
           [](const Place& value, Measurement& m) {
             if (m.timing.cold) m.timing.cold->high = value.seconds();
           },
       .in = Field::In::json,
       .may_be_missing = true},
      {.name = "bytes",
       .write = [](const Measurement& m) { return Json(m.bytes); },
       .read = [](const Place& value, Measurement& m) { m.bytes = static_cast<std::size_t>(value.whole()); },
       .in = Field::In::json},
      {.name = "gflops",
       .write = [](const Measurement& m) { return number(m.gflops); },
       .read = [](const Place& value, Measurement& m) { m.gflops = value.amount(); }},
      {.name = "gigabytes_per_second",
       .write = [](const Measurement& m) { return number(m.gigabytes); },
       .read = [](const Place& value, Measurement& m) { m.gigabytes = value.amount(); }},
      {.name = "bandwidth_share",
       .write = [](const Measurement& m) { return m.bandwidth_share > 0 ? number(m.bandwidth_share) : Json(nullptr); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.bandwidth_share = value.amount();
           }},
      {.name = "bytes_per_nonzero",
       .write = [](const Measurement& m) { return number(m.bytes_per_nonzero); },
       .read = [](const Place& value, Measurement& m) { m.bytes_per_nonzero = value.amount(); }},
      {.name = "bytes_estimated",
       .write = [](const Measurement& m) { return Json(m.bytes_estimated); },
       .read = [](const Place& value, Measurement& m) { m.bytes_estimated = value.truth(); },
       .in = Field::In::json,
       .since = 2},
      {.name = "break_even_products",
       .write = [](const Measurement& m) { return number(m.break_even); },
       .read = [](const Place& value, Measurement& m) { m.break_even = value.optional_amount(); }},
      {.name = "forward_error",
       .write = [](const Measurement& m) { return number(m.forward_error); },
       .read = [](const Place& value, Measurement& m) { m.forward_error = value.error(); },
       .since = 2},
      {.name = "backward_error",
       .write = [](const Measurement& m) { return number(m.backward_error); },
       .read = [](const Place& value, Measurement& m) { m.backward_error = value.error(); },
       .since = 2},
      {.name = "peer_ratio",
       .write = [](const Measurement& m) { return number(m.peer_ratio); },
       .read = [](const Place& value, Measurement& m) { m.peer_ratio = value.optional_amount(); }},
      {.name = "upload_seconds",
       .write = [](const Measurement& m) { return number(m.setup.upload); },
       .in = Field::In::csv},
      {.name = "setup_products",
       .write = [](const Measurement& m) { return number(m.setup_products); },
       .read = [](const Place& value, Measurement& m) { m.setup_products = value.optional_amount(); },
       .may_be_missing = true},
      {.name = "padding",
       .write = [](const Measurement& m) { return m.peer ? Json(nullptr) : Json(m.padding); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.padding = value.whole();
           },
       .may_be_missing = true},
      {.name = "details",
       .write = [](const Measurement& m) { return Json(m.details); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.details = value.text();
           },
       .may_be_missing = true},
      {.name = "recipe",
       .write = [](const Measurement& m) { return Json(m.recipe); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.recipe = value.text();
           },
       .may_be_missing = true},
      {.name = "candidates",
       .write = [](const Measurement& m) { return m.candidates.empty() ? Json(nullptr) : to_json(m.candidates); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.candidates = read_candidates(value);
           },
       .in = Field::In::json,
       .may_be_missing = true},
      {.name = "tried_seconds",
       .write = [](const Measurement& m) { return number(m.tried_seconds); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.tried_seconds = value.seconds();
           },
       .in = Field::In::json,
       .may_be_missing = true},
      {.name = "budget_seconds",
       .write = [](const Measurement& m) { return number(m.budget_seconds); },
       .read =
           [](const Place& value, Measurement& m) {
             if (!value.null()) m.budget_seconds = value.seconds();
           },
       .in = Field::In::json,
       .may_be_missing = true},
  };
  return all;
}

}  // namespace weft::bench
