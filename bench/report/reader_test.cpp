#include "reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>

#include <limits>
#include <nlohmann/json.hpp>

#include "bench/harness/run.hpp"
#include "json_file.hpp"
#include "writer.hpp"

namespace weft::bench {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

/// Every field differs from its default, so that one the reader forgets is noticed.
Report full_report() {
  Report report;
  report.machine = {.version = "1.2.3",
                    .commit = "abc-dirty",
                    .compiler = "GNU 12",
                    .build_type = "Release",
                    .cpu = "a \"CPU\"",
                    .cores = 4,
                    .memory_bytes = 123456789,
                    .threads = 2,
                    .isa = "avx2",
                    .gpus = {},
                    .driver = "560.1",
                    .why_no_gpu = "none"};
  DeviceInfo gpu;
  gpu.device = Device::gpu(1);
  gpu.description = "a GPU";
  gpu.memory_bytes = 10;
  gpu.multiprocessors = 132;
  gpu.l2_bytes = 50;
  gpu.compute_capability = 90;
  report.machine.gpus.push_back(gpu);
  report.device = Device::gpu(1);
  report.device_name = "that GPU";
  report.bandwidth = 4.5e12;
  report.caches = {{1 << 20, 3e11}, {8 << 20, 1.25e11}};
  report.command = "weft bench x";
  report.seconds = 0.25;
  report.groups = 7;
  report.products = 5000;
  report.seed = std::numeric_limits<std::uint64_t>::max();
  report.cold = true;
  report.notes = {"no MKL here"};

  Measurement ours;
  ours.name = "sell";
  ours.chosen = "sell:c=32";
  ours.details = "C = 32";
  ours.recipe = "sell:c=32:sigma=1:t=1";
  ours.deterministic = false;
  ours.repeatable = false;
  ours.setup = {.upload = 0.7, .facts = 0.1, .order = 0.2, .partition = 0.3, .encode = 0.4};
  ours.first_product_seconds = 0.015625;
  ours.timing.median = 1e-3;
  ours.timing.low = 0.9e-3;
  ours.timing.high = 1.2e-3;
  ours.timing.groups = 7;
  ours.timing.products = 70;
  ours.timing.cold = Quartiles{2e-3, 1.9e-3, 2.1e-3};
  ours.bytes = 1000;
  ours.bytes_per_nonzero = 10;
  ours.padding = 3;
  ours.gflops = 1.5;
  ours.gigabytes = 2.5;
  ours.bandwidth_share = 0.5;
  ours.forward_error = std::numeric_limits<double>::infinity();
  ours.backward_error = 1e-16;
  ours.rank = 1;
  ours.setup_products = 1000;
  ours.break_even = 77;
  ours.peer_ratio = 1.25;
  Measurement peer = ours;
  peer.name = peer.chosen = "eigen";
  peer.peer = peer.bytes_estimated = peer.deterministic = true;
  peer.version = "3.4";
  peer.correct = false;
  peer.rank = 0;
  peer.padding = 0;
  peer.peer_ratio = peer.break_even = peer.setup_products = std::nullopt;
  peer.timing.cold = std::nullopt;
  Measurement failed;
  failed.name = "ell";
  failed.failure = "too much padding";

  Case one;
  one.source = "gen:<script>";
  one.type = ValueType::f32;
  one.rows = 3;
  one.cols = 4;
  one.nonzeros = 5;
  one.ordering = Ordering::rcm;
  one.vectors = 8;
  one.layout = Layout::row_major;
  one.portrait = {{"01.5", "...."}, {{0, 0, 1}, {2, 3, 2}}};
  one.measurements = {ours, peer, failed};
  report.cases = {one, one};
  report.cases[1].type = ValueType::f64;
  return report;
}

TEST(ReportReader, ReadsBackEveryFieldThatIsWritten) {
  const Json written = to_json(full_report());
  EXPECT_EQ(to_json(parse_report(written.dump(), "r.json")), written);
}

TEST(ReportReader, ReadsBackARunWithoutAnything) {
  const Json written = to_json(Report());
  EXPECT_EQ(to_json(parse_report(written.dump(), "r.json")), written);
}

std::string sentence_for(const std::string& text) {
  try {
    parse_report(text, "r.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    return error.what();
  }
  return "no error";
}

struct Spoilt {
  const char* where;  // JSON pointer
  const char* value;  // what stands there instead; empty: nothing
  const char* place;  // that the sentence names
};

class ReportReaderBadFile : public testing::TestWithParam<Spoilt> {};

TEST_P(ReportReaderBadFile, NamesTheFileAndThePlace) {
  Json json = to_json(full_report());
  const Json::json_pointer where(GetParam().where);
  if (*GetParam().value)
    json[where] = Json::parse(GetParam().value);
  else
    json[where.parent_pointer()].erase(where.back());
  const std::string sentence = sentence_for(json.dump());
  EXPECT_THAT(sentence, testing::StartsWith("r.json: "));
  EXPECT_THAT(sentence, HasSubstr(GetParam().place));
  EXPECT_THAT(sentence, HasSubstr("expected "));
}

INSTANTIATE_TEST_SUITE_P(
    Places, ReportReaderBadFile,
    testing::Values(
        Spoilt{"/schema", "3", "schema: expected 1 to 2"}, Spoilt{"/schema", "0", "schema"},
        Spoilt{"/schema", "\"2\"", "schema"}, Spoilt{"/tool", "\"weft tune-kernels\"", "tool"},
        Spoilt{"/cases", "", "cases is missing"}, Spoilt{"/cases", "{}", "cases: expected a list"},
        Spoilt{"/cases/1", "7", "cases[1]"}, Spoilt{"/cases/1/type", "\"f16\"", "cases[1].type"},
        Spoilt{"/cases/1/rows", "-1", "cases[1].rows"}, Spoilt{"/cases/1/rows", "1e300", "cases[1].rows"},
        Spoilt{"/cases/1/cols", "4294967296", "cases[1].cols"},
        Spoilt{"/cases/0/nonzeros", "18446744073709551615", "cases[0].nonzeros"},
        Spoilt{"/cases/0/ordering", "\"metis\"", "cases[0].ordering"},
        Spoilt{"/cases/0/vectors", "0", "cases[0].vectors"},
        Spoilt{"/cases/0/layout", "\"diagonal\"", "cases[0].layout"},
        Spoilt{"/cases/0/portrait/cells/1", "\"ab..\"", "cases[0].portrait.cells[1]"},
        Spoilt{"/cases/0/portrait/cells/1", "\"...\"", "cases[0].portrait.cells[1]"},
        Spoilt{"/cases/0/portrait/row_lengths/1", "[0, 1, 2]", "cases[0].portrait.row_lengths[1]"},
        Spoilt{"/cases/0/portrait/row_lengths/1", "[5, 6]", "cases[0].portrait.row_lengths[1]"},
        Spoilt{"/cases/1/measurements/0/median_seconds", "0",
               "cases[1].measurements[0].median_seconds: expected a positive"},
        Spoilt{"/cases/1/measurements/0/median_seconds", "\"fast\"", "cases[1].measurements[0].median_seconds"},
        Spoilt{"/cases/1/measurements/0/median_seconds", "null", "cases[1].measurements[0].median_seconds"},
        Spoilt{"/cases/1/measurements/0/median_seconds", "1e200", "cases[1].measurements[0].median_seconds"},
        Spoilt{"/cases/1/measurements/0/setup/encode_seconds", "-1", "cases[1].measurements[0].setup.encode_seconds"},
        Spoilt{"/cases/1/measurements/0/name", "\"\"", "cases[1].measurements[0].name"},
        Spoilt{"/cases/1/measurements/2/failure", "\"\"", "cases[1].measurements[2].failure"},
        Spoilt{"/cases/1/measurements/0/rank", "1.5", "cases[1].measurements[0].rank"},
        Spoilt{"/cases/1/measurements/1/bytes", "1.5", "cases[1].measurements[1].bytes"},
        Spoilt{"/cases/1/measurements/1/correct", "1", "cases[1].measurements[1].correct"},
        Spoilt{"/machine/gpus/0/device", "\"tpu\"", "machine.gpus[0].device"}, Spoilt{"/machine", "[]", "machine"},
        Spoilt{"/machine/commit", "", "machine.commit"}, Spoilt{"/parameters/seed", "-1", "parameters.seed"},
        Spoilt{"/notes/0", "{}", "notes[0]"},
        Spoilt{"/bandwidth_bytes_per_second", "-5", "bandwidth_bytes_per_second"}));

TEST(ReportReader, WhatIsNoJsonIsToldInOneSentence) {
  for (const char* text : {"", "{", "[1, 2", "NaN", "{\"schema\": NaN}", "{\"schema\": 1e999}", "\xff\xfe", "<html>"})
    EXPECT_THAT(sentence_for(text), HasSubstr("expected ")) << text;
  EXPECT_LT(sentence_for("\"" + std::string(1 << 20, 'a')).size(), 400u) << "however long the last token is";
}

TEST(ReportReader, WhatWouldTakeMuchMemoryIsRefused) {
  EXPECT_THAT(sentence_for(std::string(100'000, '[')), HasSubstr("too many values or levels"));
  std::string many = "[";
  for (int i = 0; i < 5'000'000; ++i) many += "0,";
  EXPECT_THAT(sentence_for(many + "0]"), HasSubstr("too many values or levels"));
  EXPECT_THAT(sentence_for(std::string(most_result_bytes + 1, ' ')), HasSubstr("larger than 64 MiB"));
  Json json = to_json(full_report());
  json["cases"] = Json::array();
  for (int i = 0; i < 1'000'000; ++i) json["cases"].push_back(0);
  EXPECT_THAT(sentence_for(json.dump()), HasSubstr("cases: expected at most 10000 elements"));
}

/// What a file of schema 1 looked like.
const char* const schema_1 = R"({"schema": 1, "tool": "weft bench",
  "machine": {"version": "0.1.0", "compiler": "GNU 12", "build_type": "Release", "cpu": "x", "cores": 2, "memory_bytes": 1,
    "threads": 2, "isa": "avx2", "gpus": [], "driver": "", "why_no_gpu": ""},
  "device": {"device": "cpu", "name": "x"}, "bandwidth_bytes_per_second": 2e10,
  "parameters": {"seconds": 0.5, "groups": 11, "seed": 1}, "notes": [],
  "cases": [{"source": "a.mtx", "type": "f64", "rows": 10, "cols": 10, "nonzeros": 20, "measurements": [
    {"name": "csr", "peer": false, "failure": null, "chosen": "csr", "correct": true, "deterministic": true,
     "setup_seconds": 0.75, "upload_seconds": 0.25, "partition_seconds": 0.125, "median_seconds": 0.002, "low_seconds": 0.001,
     "high_seconds": 0.003, "groups": 11, "products": 110, "bytes": 240, "bytes_per_nonzero": 12, "gflops": 2e-5,
     "gigabytes_per_second": 1, "bandwidth_share": null, "break_even_products": null, "max_error": 1e-16, "peer_ratio": null},
    {"name": "ell", "peer": false, "failure": "no"}]}]})";

TEST(ReportReader, SchemaOneHasWhatItHadAndNothingElse) {
  const Report report = parse_report(schema_1, "old.json");
  ASSERT_EQ(report.cases.size(), 1u);
  const Measurement& csr = report.cases[0].measurements[0];
  EXPECT_EQ(csr.setup.upload, 0.25);
  EXPECT_EQ(csr.setup.partition, 0.125);
  EXPECT_EQ(csr.setup.encode, 0.375);
  EXPECT_EQ(csr.setup.total(), 0.75);
  EXPECT_EQ(csr.backward_error, 1e-16);
  EXPECT_EQ(csr.rank, 0);
  EXPECT_EQ(csr.first_product_seconds, 0);
  EXPECT_TRUE(report.cases[0].portrait.cells.empty());
  EXPECT_FALSE(report.cases[0].measurements[1].measured());
}

TEST(ReportReader, FilesThatCannotBeReadAreToldSo) {
  EXPECT_THROW(read_report("/nonexistent/r.json"), Error);
  EXPECT_THROW(read_report("/"), Error);
  EXPECT_THROW(read_report("/dev/zero"), Error);  // endless
}

}  // namespace
}  // namespace weft::bench
