#include "report_reader.hpp"

#include <fmt/format.h>
#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace weft::bench {
namespace {

// Objects are kept in a map: with many keys the ordered kind would take forever to find one.
using Json = nlohmann::json;

// What nobody measures; beyond, a small file could ask for much memory or a page nobody can open.
constexpr std::size_t most_values = 4'000'000;
constexpr int most_levels = 16;
constexpr std::size_t most_cases = 10'000;
constexpr std::size_t most_measurements = 100'000;
constexpr std::size_t most_text = 4096;
constexpr double most_seconds = 1e9;
constexpr double most_amount = 1e18;

/// A value of the file with the way to it, for sentences.
class Place {
 public:
  Place(const Json& value, const std::string& file, std::string path)
      : value_(value), file_(file), path_(std::move(path)) {}

  [[noreturn]] void expected(const std::string& what) const {
    throw Error(ErrorCode::parse, fmt::format("{}: {}: expected {}", file_, path_.empty() ? "the file" : path_, what));
  }

  bool null() const { return value_.is_null(); }

  /// A field; one that is not there is an error, or null where it may be missing.
  Place operator[](const char* name) const { return field(name, false); }
  Place maybe(const char* name) const { return field(name, true); }

  double number(double low, double high, const char* what) const {
    if (!value_.is_number()) expected(what);
    const double value = value_.get<double>();
    if (!(value >= low && value <= high)) expected(what);
    return value;
  }
  double seconds() const { return number(0, most_seconds, "a number of seconds"); }
  double amount() const { return number(0, most_amount, "a number that is not negative"); }
  double positive() const {
    return number(std::numeric_limits<double>::min(), most_seconds, "a positive number of seconds");
  }

  std::int64_t whole(std::int64_t high = std::int64_t{1} << 60) const {
    const bool fits = value_.is_number_integer() &&
                      (!value_.is_number_unsigned() || value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(high));
    if (!fits) expected(fmt::format("a whole number from 0 to {}", high));
    const std::int64_t value = value_.get<std::int64_t>();
    if (value < 0 || value > high) expected(fmt::format("a whole number from 0 to {}", high));
    return value;
  }
  std::uint64_t seed() const {
    if (!value_.is_number_unsigned()) expected("a whole number that is not negative");
    return value_.get<std::uint64_t>();
  }
  int small() const { return static_cast<int>(whole(1'000'000'000)); }

  bool truth() const {
    if (!value_.is_boolean()) expected("true or false");
    return value_.get<bool>();
  }

  std::string text(std::size_t limit = most_text) const {
    if (!value_.is_string()) expected("a text");
    const auto& text = value_.get_ref<const std::string&>();
    if (text.size() > limit) expected(fmt::format("a text of at most {} bytes", limit));
    return text;
  }

  /// Its elements, in their order.
  std::vector<Place> list(std::size_t limit) const {
    if (!value_.is_array()) expected("a list");
    if (value_.size() > limit) expected(fmt::format("at most {} elements", limit));
    std::vector<Place> places;
    for (std::size_t i = 0; i < value_.size(); ++i)
      places.emplace_back(value_[i], file_, fmt::format("{}[{}]", path_, i));
    return places;
  }

 private:
  Place field(const char* name, bool optional) const {
    static const Json nothing;
    if (!value_.is_object()) expected("an object");
    const std::string path = path_.empty() ? name : fmt::format("{}.{}", path_, name);
    const auto found = value_.find(name);
    if (found == value_.end() && !optional)
      throw Error(ErrorCode::parse, fmt::format("{}: {} is missing: expected a result of weft bench", file_, path));
    return {found == value_.end() ? nothing : *found, file_, path};
  }

  const Json& value_;
  const std::string& file_;
  std::string path_;
};

std::optional<double> optional_amount(const Place& place) {
  return place.null() ? std::nullopt : std::optional(place.amount());
}

/// Errors beyond measure are written as null: JSON has no infinity.
double error_of(const Place& place) {
  return place.null() ? std::numeric_limits<double>::infinity() : place.number(0, 1e308, "a number or null");
}

Setup read_setup(const Place& m, int schema) {
  Setup setup;
  if (schema == 1) {
    const Place upload = m.maybe("upload_seconds"), partition = m.maybe("partition_seconds");
    if (!upload.null()) setup.upload = upload.seconds();
    if (!partition.null()) setup.partition = partition.seconds();
    setup.encode = std::max(0.0, m["setup_seconds"].seconds() - setup.upload - setup.partition);
    return setup;
  }
  const Place parts = m["setup"];
  setup.analysis = parts["analysis_seconds"].seconds();
  setup.order = parts["order_seconds"].seconds();
  setup.partition = parts["partition_seconds"].seconds();
  setup.encode = parts["encode_seconds"].seconds();
  setup.upload = parts["upload_seconds"].seconds();
  return setup;
}

Timing read_timing(const Place& m) {
  Timing timing;
  timing.median = m["median_seconds"].positive();
  timing.low = m["low_seconds"].seconds();
  timing.high = m["high_seconds"].seconds();
  timing.groups = m["groups"].small();
  timing.products = m["products"].whole();
  if (const Place cold = m.maybe("cold_median_seconds"); !cold.null())
    timing.cold = {
        .median = cold.positive(), .low = m["cold_low_seconds"].seconds(), .high = m["cold_high_seconds"].seconds()};
  return timing;
}

Measurement read_measurement(const Place& place, int schema) {
  Measurement m;
  m.name = place["name"].text();
  if (m.name.empty()) place["name"].expected("a name");
  m.peer = place["peer"].truth();
  if (schema > 1) m.version = place["version"].text();
  if (const Place failure = place["failure"]; !failure.null()) {
    m.failure = failure.text();
    if (m.failure.empty()) failure.expected("a sentence or null");
    return m;
  }
  m.chosen = place["chosen"].text();
  if (const Place details = place.maybe("details"); !details.null()) m.details = details.text();
  m.correct = place["correct"].truth();
  if (const Place deterministic = place["deterministic"]; !deterministic.null())
    m.deterministic = deterministic.truth();
  m.setup = read_setup(place, schema);
  m.timing = read_timing(place);
  m.bytes = static_cast<std::size_t>(place["bytes"].whole());
  m.bytes_per_nonzero = place["bytes_per_nonzero"].amount();
  if (const Place padding = place.maybe("padding"); !padding.null()) m.padding = padding.whole();
  m.gflops = place["gflops"].amount();
  m.gigabytes = place["gigabytes_per_second"].amount();
  if (const Place share = place["bandwidth_share"]; !share.null()) m.bandwidth_share = share.amount();
  m.break_even = optional_amount(place["break_even_products"]);
  m.peer_ratio = optional_amount(place["peer_ratio"]);
  m.setup_products = optional_amount(place.maybe("setup_products"));
  if (schema == 1) {
    m.backward_error = error_of(place["max_error"]);
    return m;
  }
  if (const Place rank = place["rank"]; !rank.null()) m.rank = rank.small();
  m.repeatable = place["repeatable"].truth();
  m.first_product_seconds = place["first_product_seconds"].seconds();
  m.bytes_estimated = place["bytes_estimated"].truth();
  m.forward_error = error_of(place["forward_error"]);
  m.backward_error = error_of(place["backward_error"]);
  return m;
}

Portrait read_portrait(const Place& place) {
  Portrait portrait;
  for (const Place& row : place["cells"].list(portrait_cells)) {
    const std::string& cells = portrait.cells.emplace_back(row.text(portrait_cells));
    if (cells.size() != portrait.cells.front().size() || cells.find_first_not_of(".012345") != std::string::npos)
      row.expected("as many of the characters '.' and '0' to '5' as in the other rows");
  }
  for (const Place& place_of_bin : place["row_lengths"].list(portrait_cells)) {
    const std::vector<Place> numbers = place_of_bin.list(3);
    if (numbers.size() != 3) place_of_bin.expected("the first length, the last length and the number of rows");
    const LengthBin bin{numbers[0].whole(), numbers[1].whole(), numbers[2].whole()};
    const bool rises = portrait.lengths.empty() || bin.first > portrait.lengths.back().last;
    if (!rises || bin.last < bin.first || bin.rows == 0) place_of_bin.expected("ascending lengths of one row or more");
    portrait.lengths.push_back(bin);
  }
  return portrait;
}

ValueType read_type(const Place& place) {
  const std::string name = place.text();
  for (ValueType type : {ValueType::f64, ValueType::f32})
    if (name == to_string(type)) return type;
  place.expected("f64 or f32");
}

Ordering read_ordering(const Place& place) {
  if (place.null()) return Ordering::none;
  const std::string name = place.text();
  for (Ordering ordering : {Ordering::none, Ordering::length, Ordering::rcm, Ordering::amd, Ordering::bar})
    if (name == to_string(ordering)) return ordering;
  place.expected("none, length, rcm, amd or bar");
}

Case read_case(const Place& place, int schema, std::size_t& measurements) {
  constexpr std::int64_t most_indices = std::numeric_limits<Index>::max();
  Case one;
  one.source = place["source"].text();
  one.type = read_type(place["type"]);
  one.rows = place["rows"].whole(most_indices);
  one.cols = place["cols"].whole(most_indices);
  one.nonzeros = place["nonzeros"].whole();
  one.ordering = read_ordering(schema == 1 ? place.maybe("ordering") : place["ordering"]);
  if (schema > 1) one.portrait = read_portrait(place["portrait"]);
  for (const Place& m : place["measurements"].list(most_measurements)) {
    if (++measurements > most_measurements) m.expected(fmt::format("at most {} measurements", most_measurements));
    one.measurements.push_back(read_measurement(m, schema));
  }
  return one;
}

Device read_device(const Place& place) {
  try {
    return Device::parse(place.text());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::no_device) throw;
    place.expected("cpu, gpu, gpuN or emulator");
  }
}

Machine read_machine(const Place& place, int schema) {
  Machine machine;
  machine.version = place["version"].text();
  const Place commit = place.maybe("commit");
  if (commit.null() && schema > 1) commit.expected("a text");
  machine.commit = commit.null() ? "unknown" : commit.text();
  machine.compiler = place["compiler"].text();
  machine.build_type = place["build_type"].text();
  machine.cpu = place["cpu"].text();
  machine.cores = place["cores"].small();
  machine.memory_bytes = place["memory_bytes"].whole();
  machine.threads = place["threads"].small();
  machine.isa = place["isa"].text();
  for (const Place& one : place["gpus"].list(256)) {
    DeviceInfo gpu;
    gpu.device = read_device(one["device"]);
    gpu.description = one["name"].text();
    gpu.memory_bytes = one["memory_bytes"].whole();
    gpu.multiprocessors = one["multiprocessors"].small();
    gpu.l2_bytes = one["l2_bytes"].whole();
    gpu.compute_capability = one["compute_capability"].small();
    machine.gpus.push_back(gpu);
  }
  machine.driver = place["driver"].text();
  machine.why_no_gpu = place["why_no_gpu"].text();
  return machine;
}

Report read_all(const Place& file) {
  if (const Place tool = file["tool"]; tool.text() != "weft bench") tool.expected("\"weft bench\"");
  const Place number = file["schema"];
  const std::int64_t schema = number.whole();
  if (schema < 1 || schema > Report::schema)
    number.expected(fmt::format("1 to {}, as this version of weft reads", Report::schema));
  const int known = static_cast<int>(schema);

  Report report;
  report.machine = read_machine(file["machine"], known);
  report.device = read_device(file["device"]["device"]);
  report.device_name = file["device"]["name"].text();
  if (const Place bandwidth = file["bandwidth_bytes_per_second"]; !bandwidth.null())
    report.bandwidth = bandwidth.amount();
  const Place parameters = file["parameters"];
  report.seconds = parameters["seconds"].seconds();
  report.groups = parameters["groups"].small();
  report.seed = parameters["seed"].seed();
  if (known > 1) {
    report.command = file["command"].text();
    report.products = parameters["products"].whole();
    report.cold = parameters["cold"].truth();
  }
  for (const Place& note : file["notes"].list(1000)) report.notes.push_back(note.text());
  std::size_t measurements = 0;
  for (const Place& one : file["cases"].list(most_cases)) report.cases.push_back(read_case(one, known, measurements));
  return report;
}

}  // namespace

Report parse_report(std::string_view text, const std::string& name) {
  if (text.size() > most_result_bytes)
    throw Error(ErrorCode::parse,
                fmt::format("{}: larger than {} MiB, expected a result of weft bench", name, most_result_bytes >> 20));
  std::size_t values = 0;
  const auto count = [&](int depth, Json::parse_event_t, Json&) {
    if (++values > most_values || depth > most_levels)
      throw Error(ErrorCode::parse,
                  fmt::format("{}: too many values or levels, expected a result of weft bench", name));
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, count);
  } catch (const Json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ...": the tag is nothing for users.
    // The last token may be as long as the file.
    std::string_view sentence = error.what();
    sentence.remove_prefix(std::min(sentence.find("] ") + 2, sentence.size()));
    throw Error(ErrorCode::parse,
                fmt::format("{}: {}, expected JSON as weft bench writes it", name, sentence.substr(0, 200)));
  }
  return read_all({json, name, ""});
}

Report read_report(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorCode::io, fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  std::string text(1 << 16, '\0');
  std::size_t used = 0;
  while (used <= most_result_bytes && file.read(text.data() + used, static_cast<std::streamsize>(text.size() - used))) {
    used = text.size();
    text.resize(2 * used);
  }
  used += static_cast<std::size_t>(file.gcount());
  if (used <= most_result_bytes && !file.eof())
    throw Error(ErrorCode::io, fmt::format("{}: cannot be read, expected a file with results of weft bench", path));
  return parse_report(std::string_view(text).substr(0, used), path);
}

}  // namespace weft::bench
