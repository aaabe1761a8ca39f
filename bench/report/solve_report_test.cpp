#include "solve_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/harness/solve_run.hpp"
#include "solve_page.hpp"
#include "solve_reader.hpp"

namespace weft::bench {
namespace {

using testing::HasSubstr;
using testing::Not;

SolveMeasurement solved(const std::string& name, const std::string& preconditioner, double seconds, bool peer = false) {
  SolveMeasurement m{.name = name, .method = "cg", .preconditioner = preconditioner, .peer = peer};
  m.version = peer ? "1.2" : "";
  m.chosen = peer ? "" : "sell";
  m.details = "one, \"quoted\" line";
  m.recipe = peer ? "" : "sell:c=8";
  m.status = "converged";
  m.reached = true;
  m.plan_seconds = seconds / 4;
  m.preconditioner_seconds = peer ? 0 : seconds / 8;
  m.upload_seconds = 0.5;
  m.solve = {seconds, 0.9 * seconds, 1.2 * seconds};
  m.solves = 7;
  m.iterations = 100;
  m.relative_residual = 9.5e-9;
  return m;
}

SolveBenchReport example() {
  SolveBenchReport report;
  report.device = Device::cpu();
  report.device_name = "a machine";
  report.command = "weft bench --solve <a>";
  report.seconds = 0.5;
  report.repeats = 11;
  report.products = 1000;
  report.max_iterations = 20000;
  report.seed = 3;
  report.notes = {"no comparison with scipy: it is not there"};
  SolveCase one{.source = "a&b.mtx", .type = ValueType::f32, .rows = 10, .nonzeros = 28, .rtol = 1e-8};
  one.measurements = {solved("auto", "jacobi", 1), solved("petsc", "jacobi", 2, true), solved("petsc", "icc", 4, true)};
  one.measurements[2].reached = false;
  one.measurements[2].status = "not finite";
  one.measurements[2].relative_residual = std::numeric_limits<double>::quiet_NaN();
  SolveMeasurement failed{.name = "ell", .method = "cg", .preconditioner = "jacobi"};
  failed.failure = "too much, really";
  one.measurements.push_back(failed);
  compare(one);
  report.cases = {one};
  return report;
}

TEST(SolveReport, TablesSayWhoIsSoonestAndWhoMissed) {
  const SolveBenchReport report = example();
  const std::string text = tables_of(report.cases[0], true);
  EXPECT_THAT(text, HasSubstr("a&b.mtx: 10 x 10, 28 nonzeros, f32; until |b - A x| is 1e-08 |b|"));
  EXPECT_THAT(
      text, HasSubstr("Soonest: auto cg+jacobi, 1.38 s; the soonest peer, petsc cg+jacobi, takes 1.82 times as long."));
  EXPECT_THAT(text, HasSubstr("infinite MISSED"));
  EXPECT_THAT(text, HasSubstr("Not within the tolerance: petsc cg+icc (not finite)."));
  EXPECT_THAT(text, HasSubstr("ell      cg+jacobi: too much, really"));
  EXPECT_THAT(text, HasSubstr("1.82x")) << "2.5 s over 1.375 s";
  EXPECT_THAT(tables_of(report.cases[0], false), Not(HasSubstr("vs peer")));
}

TEST(SolveReport, JsonReadsBackAsItWasWritten) {
  const std::string text = to_text(example());
  EXPECT_TRUE(is_solve_report(text, "here"));
  const SolveBenchReport again = parse_solve_report(text, "here");
  EXPECT_EQ(to_text(again), text);
  EXPECT_EQ(again.cases[0].measurements[0].total_seconds(), 1.375);
  EXPECT_EQ(again.cases[0].measurements[3].failure, "too much, really");
  EXPECT_FALSE(is_solve_report("{\"tool\": \"weft bench\"}", "here"));
  EXPECT_FALSE(is_solve_report("[1]", "here"));
}

TEST(SolveReport, WhatDoesNotFitIsNamedByItsPlace) {
  const std::string good = to_text(example());
  const std::pair<std::string, std::string> changes[] = {{"\"seed\":3", "seed"},
                                                         {"\"rtol\": 1e-08", "cases[0].rtol"},
                                                         {"\"iterations\":100", "cases[0].measurements[0].iterations"},
                                                         {"\"reached\":true", "cases[0].measurements[0].reached"},
                                                         {"\"type\": \"f32\"", "cases[0].type"}};
  for (const auto& [field, place] : changes) {
    std::string text = good;
    const std::size_t at = text.find(field);
    ASSERT_NE(at, std::string::npos) << field;
    text.replace(at, field.size(), field.substr(0, field.find(':')) + ": \"?\"");
    try {
      parse_solve_report(text, "here");
      ADD_FAILURE() << field;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse);
      EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("here: "), HasSubstr(place), HasSubstr("expected")));
    }
  }
}

TEST(SolveReport, CsvQuotesAndLeavesFailuresEmpty) {
  const std::string csv = to_csv(example());
  EXPECT_THAT(csv, testing::StartsWith("source,type,device,rows,nonzeros,rtol,name,method,"));
  EXPECT_THAT(csv, HasSubstr("\"one, \"\"quoted\"\" line\""));
  EXPECT_THAT(csv, testing::EndsWith(",\"too much, really\"\n"));
  const auto commas = [](std::string_view line) {
    bool quoted = false;
    std::size_t count = 0;
    for (const char c : line) {
      if (c == '"') quoted = !quoted;
      if (c == ',' && !quoted) ++count;
    }
    return count;
  };
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  const std::size_t columns = commas(line);
  while (std::getline(lines, line)) EXPECT_EQ(commas(line), columns) << line;
}

TEST(SolveReport, PictureAndPageEscapeWhatTheyShow) {
  const SolveBenchReport report = example();
  for (const std::string& text : {solve_chart_svg(report), solve_page({{"r.json", report}})}) {
    EXPECT_THAT(text, HasSubstr("a&amp;b.mtx"));
    EXPECT_THAT(text, Not(HasSubstr("a&b")));
    EXPECT_THAT(text, HasSubstr("too much, really"));
    EXPECT_THAT(text, Not(HasSubstr("nan")));
  }
  EXPECT_THAT(solve_page({{"r.json", report}}), HasSubstr("weft bench --solve &lt;a&gt;"));
}

}  // namespace
}  // namespace weft::bench
