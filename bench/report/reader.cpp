#include "reader.hpp"

#include <fmt/format.h>
#include <weft/error.hpp>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "fields.hpp"
#include "json_file.hpp"
#include "numbers.hpp"
#include "place.hpp"

namespace weft::bench {

ValueType read_type(const Place& place) {
  const std::string name = place.text();
  for (ValueType type : {ValueType::f64, ValueType::f32})
    if (name == to_string(type)) return type;
  place.expected("f64 or f32");
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

namespace {

using Json = Place::Json;

constexpr const char* kind = "results of weft bench";

// What nobody measures; beyond, a page would be one that nobody can open.
constexpr std::size_t most_cases = 10'000;
constexpr std::size_t most_measurements = 100'000;
constexpr std::size_t max_caches = 16;

/// The parts of the set-up stood beside its sum.
Setup read_setup_of_schema_1(const Place& m) {
  Setup setup;
  const Place upload = m.maybe("upload_seconds"), partition = m.maybe("partition_seconds");
  if (!upload.null()) setup.upload = upload.seconds();
  if (!partition.null()) setup.partition = partition.seconds();
  setup.encode = std::max(0.0, m["setup_seconds"].seconds() - setup.upload - setup.partition);
  return setup;
}

Measurement read_measurement(const Place& place, int schema) {
  Measurement m;
  const auto read = [&](bool always) {
    for (const Field& field : measurement_fields())
      if (field.read && field.always == always && field.since <= schema)
        field.read(field.may_be_missing ? place.maybe(field.name) : place[field.name], m);
  };
  read(true);
  if (!m.failure.empty()) return m;
  read(false);
  if (schema == 1) {
    m.setup = read_setup_of_schema_1(place);
    m.backward_error = place["max_error"].error();
  }
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

Ordering read_ordering(const Place& place) {
  if (place.null()) return Ordering::none;
  const std::string name = place.text();
  for (Ordering ordering : orderings())
    if (name == to_string(ordering)) return ordering;
  place.expected(one_of_orderings());
}

/// Files of earlier versions have single vectors.
void read_vectors(const Place& place, Case& one) {
  const Place vectors = place.maybe("vectors"), layout = place.maybe("layout");
  if (!vectors.null()) one.vectors = vectors.small();
  if (one.vectors < 1) vectors.expected("1 or more");
  if (layout.null()) return;
  const std::string name = layout.text();
  if (name == layout_name(Layout::row_major))
    one.layout = Layout::row_major;
  else if (name != layout_name(Layout::column_major))
    layout.expected("column or row");
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
  read_vectors(place, one);
  if (schema > 1) one.portrait = read_portrait(place["portrait"]);
  for (const Place& m : place["measurements"].list(most_measurements)) {
    if (++measurements > most_measurements) m.expected(fmt::format("at most {} measurements", most_measurements));
    one.measurements.push_back(read_measurement(m, schema));
  }
  return one;
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
  if (const Place caches = file.maybe("cache_bandwidths"); !caches.null())
    for (const Place& cache : caches.list(max_caches))
      report.caches.push_back({static_cast<std::size_t>(cache["bytes"].whole()), cache["bytes_per_second"].amount()});
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
  const Json json = parse_json(text, name, kind);
  return read_all({json, name, ""});
}

Report read_report(const std::string& path) { return parse_report(read_text(path, kind), path); }

}  // namespace weft::bench
