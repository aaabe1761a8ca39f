#include "instructions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>

namespace weft::bench {
namespace {

using testing::HasSubstr;

constexpr const char* record = R"({"build": "GNU 12, Release", "counter": "callgrind", "instructions_per_nonzero":
  {"gen:a:3": {"f64 avx2": {"csr": 4.5, "sell": 1.25}, "f32 avx2": {"csr": 4}}, "gen:b:3": {"f64 baseline": {"csr": 9}}}})";

Measurement timed(const std::string& name, bool peer = false) {
  Measurement m;
  m.name = m.chosen = name;
  m.peer = peer;
  m.timing.median = 1e-6;
  return m;
}

Report report_with(const std::vector<std::string>& sources) {
  Report report;
  report.machine.compiler = "GNU 12";
  report.machine.build_type = "Release";
  report.machine.isa = "avx2";
  for (const std::string& source : sources) {
    Case one;
    one.source = source;
    one.nonzeros = 10;
    one.measurements = {timed("csr"), timed("sell"), timed("coo"), timed("csr", true)};
    report.cases.push_back(one);
  }
  return report;
}

std::size_t add(Report& report) {
  return add_instructions(report, parse_instruction_counts(record, "c.json"), "r.json", "c.json");
}

std::string sentence_for(const std::string& text) {
  try {
    parse_instruction_counts(text, "c.json");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse);
    return error.what();
  }
  return "no error";
}

TEST(InstructionCounts, AreOfTheSameMatrixTypeInstructionSetAndFormat) {
  Report report = report_with({"gen:a:3", "gen:b:3", "gen:c:3"});
  report.cases.push_back(report.cases[0]);
  report.cases[3].type = ValueType::f32;
  EXPECT_EQ(add(report), 3u);
  EXPECT_EQ(report.cases[0].measurements[0].instructions_per_nonzero, 4.5);
  EXPECT_EQ(report.cases[0].measurements[1].instructions_per_nonzero, 1.25);
  EXPECT_FALSE(report.cases[0].measurements[2].instructions_per_nonzero) << "coo was not counted";
  EXPECT_FALSE(report.cases[0].measurements[3].instructions_per_nonzero) << "a peer of that name";
  EXPECT_FALSE(report.cases[1].measurements[0].instructions_per_nonzero) << "counted for the baseline";
  EXPECT_EQ(report.cases[3].measurements[0].instructions_per_nonzero, 4);
  EXPECT_EQ(report.counted_by, "callgrind, GNU 12, Release");
}

TEST(InstructionCounts, AreNotOfAnotherOrderADeviceOrAFailure) {
  Report ordered = report_with({"gen:a:3"});
  ordered.cases[0].ordering = Ordering::rcm;
  EXPECT_EQ(add(ordered), 0u);
  Report device = report_with({"gen:a:3"});
  device.device = Device::gpu();
  EXPECT_EQ(add(device), 0u);
  Report failed = report_with({"gen:a:3"});
  failed.cases[0].measurements[0].failure = "no";
  failed.cases[0].measurements[1].correct = false;
  EXPECT_EQ(add(failed), 0u);
  EXPECT_EQ(failed.counted_by, "");
}

TEST(InstructionCounts, OfAnotherBuildAreRefused) {
  Report report = report_with({"gen:a:3"});
  report.machine.compiler = "Clang 19";
  try {
    add(report);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), testing::StartsWith("c.json: counted in a build of GNU 12, Release, but r.json is of "
                                                  "Clang 19, Release, expected"));
  }
}

TEST(InstructionCounts, WhatIsNoRecordIsToldInASentence) {
  EXPECT_THAT(sentence_for(R"({"tool": "weft bench"})"), HasSubstr("build is missing: expected a record of"));
  EXPECT_THAT(sentence_for(R"({"build": "", "counter": "", "instructions_per_nonzero": []})"),
              HasSubstr("instructions_per_nonzero: expected an object"));
  for (const char* count : {"0", "-1", "1e300", "\"4\"", "null", "{}"})
    EXPECT_THAT(sentence_for(std::string(R"({"build": "", "counter": "", "instructions_per_nonzero": {"a": {"f64 avx2":
                             {"csr": )") +
                             count + "}}}}"),
                HasSubstr("instructions_per_nonzero.a.f64 avx2.csr: expected instructions per nonzero"))
        << count;
  for (const char* text : {"", "[1", "[]", "null", "\xff"})
    EXPECT_THAT(sentence_for(text), HasSubstr("expected ")) << text;
}

}  // namespace
}  // namespace weft::bench
