#include <gtest/gtest.h>
#include <weft/error.hpp>

#include "chart_data.hpp"
#include "charts.hpp"
#include "page.hpp"

namespace weft::bench {
namespace {

Measurement timed(const std::string& name, double seconds, bool peer = false) {
  Measurement m;
  m.name = m.chosen = name;
  m.peer = peer;
  m.timing.median = m.timing.low = m.timing.high = seconds;
  m.gflops = 1e-9 / seconds;
  m.gigabytes = 6 * m.gflops;
  m.bytes_per_nonzero = 12;
  m.setup.encode = 1;
  return m;
}

Case case_of(const std::string& source, std::vector<Measurement> measurements) {
  Case one;
  one.source = source;
  one.rows = one.cols = 10;
  one.nonzeros = 50;
  one.portrait = {{"4.", ".4"}, {{5, 5, 10}}};
  one.measurements = std::move(measurements);
  return one;
}

std::vector<const Case*> pointers(const std::vector<Case>& cases) {
  std::vector<const Case*> result;
  for (const Case& one : cases) result.push_back(&one);
  return result;
}

TEST(Profile, IsTheShareOfCasesWithinAFactorOfTheFastest) {
  const std::vector<Case> cases = {case_of("a", {timed("csr", 1), timed("sell", 2)}),
                                   case_of("b", {timed("csr", 3), timed("sell", 1)}),
                                   case_of("c", {timed("csr", 1), timed("sell", 1)})};
  EXPECT_DOUBLE_EQ(profile_share(pointers(cases), "csr", 1), 2.0 / 3);
  EXPECT_DOUBLE_EQ(profile_share(pointers(cases), "csr", 2.9), 2.0 / 3);
  EXPECT_DOUBLE_EQ(profile_share(pointers(cases), "csr", 3), 1);
  EXPECT_DOUBLE_EQ(profile_share(pointers(cases), "sell", 1.9), 2.0 / 3);
  const auto steps = profile_steps(pointers(cases), "sell", 4);
  EXPECT_EQ(steps, (std::vector<std::pair<double, double>>{{1, 2.0 / 3}, {2, 1}}));
}

TEST(Profile, FailedAndWrongResultsAreWithinNoFactor) {
  Measurement failed = timed("sell", 1), wrong = timed("sell", 0.1);
  failed.failure = "no";
  wrong.correct = false;
  const std::vector<Case> cases = {case_of("a", {timed("csr", 1), failed}), case_of("b", {timed("csr", 1), wrong}),
                                   case_of("c", {timed("csr", 1), timed("sell", 1)}), case_of("nothing", {failed})};
  EXPECT_DOUBLE_EQ(profile_share(pointers(cases), "sell", 100), 1.0 / 3);
  EXPECT_DOUBLE_EQ(profile_share(pointers(cases), "csr", 1), 1) << "the wrong one is not the fastest";
}

TEST(Leads, FollowTheLeastTotalTime) {
  EXPECT_EQ(leads({{"csr", 1, 1}, {"sell", 11, 0.5}, {"ehyb", 1001, 0.25}, {"coo", 50, 2}}),
            (std::vector<Lead>{{"csr", 1}, {"sell", 22}, {"ehyb", 3962}}));
}

TEST(Leads, AreWhoABruteForceSearchFinds) {
  const std::vector<Cost> costs = {{"a", 0.5, 0.9}, {"b", 3, 0.8}, {"c", 3.55, 0.75}, {"d", 20, 0.5}, {"e", 21, 0.1}};
  const std::vector<Lead> found = leads(costs);
  std::size_t at = 0;
  for (int products = 1; products < 200; ++products) {
    const Cost* best = &costs[0];
    for (const Cost& cost : costs)
      if (cost.total(products) < best->total(products)) best = &cost;
    while (at + 1 < found.size() && found[at + 1].from <= products) ++at;
    EXPECT_EQ(found[at].name, best->name) << products;
  }
}

TEST(Leads, EndWithExtremeNumbers) {
  EXPECT_TRUE(leads({}).empty());
  EXPECT_EQ(leads({{"a", 1e9, 1e-300}, {"b", 1e9, 2e-300}, {"c", 0, 1e9}}).front().name, "c");
  EXPECT_EQ(leads({{"a", 1, 1}, {"b", 1, 1}}).size(), 1u);
  EXPECT_EQ(leads({{"a", 0, 1}, {"b", 1e9, 1 - 1e-15}}).size(), 1u) << "beyond any number of products";
}

TEST(Entrants, HaveCsrAndRoomForPeers) {
  std::vector<Measurement> measurements = {timed("csr", 9)};
  for (int i = 0; i < 12; ++i) measurements.push_back(timed("ours" + std::to_string(i), 1 + i));
  for (int i = 0; i < 5; ++i) measurements.push_back(timed("peer" + std::to_string(i), 1 + i, true));
  std::vector<std::string> names;
  for (const Entrant& entrant : choose_entrants({case_of("a", measurements)})) names.push_back(entrant.name);
  EXPECT_EQ(names, (std::vector<std::string>{"csr", "ours0", "ours1", "ours2", "ours3", "peer0", "peer1", "peer2"}));
  const std::vector<Entrant> few = choose_entrants({case_of("a", {timed("sell", 1), timed("p", 2, true)})});
  ASSERT_EQ(few.size(), 2u);
  EXPECT_TRUE(few[1].peer && few[1].style == 1);
}

TEST(CsrFloor, CountsValuesColumnsOffsetsAndVectorsOnce) {
  EXPECT_DOUBLE_EQ(csr_intensity(case_of("a", {})), 100.0 / (50 * 12 + 11 * 4 + 20 * 8));
}

Report report_of(std::vector<Case> cases) {
  Report report;
  report.device_name = "a CPU";
  report.bandwidth = 1e10;
  report.cases = std::move(cases);
  return report;
}

TEST(ReportPage, EscapesWhatTheFileSays) {
  const std::string evil = "<script>alert(1)</script>\"'&";
  Measurement m = timed(evil, 1), peer = timed(evil + "p", 2, true), failed;
  m.details = m.chosen = peer.version = evil;
  failed.name = failed.failure = evil;
  Report report = report_of({case_of(evil, {m, peer, failed}), case_of(evil + "2", {m, peer})});
  report.device_name = report.command = report.machine.cpu = report.machine.commit = evil;
  report.notes = {evil};
  const std::string page = report_page({{evil, report}});
  std::size_t scripts = 0;
  for (std::size_t at = page.find("<script"); at != std::string::npos; at = page.find("<script", at + 1)) ++scripts;
  EXPECT_EQ(scripts, 1u) << "our own";
  EXPECT_EQ(page.find("alert(1)</"), std::string::npos);
}

TEST(ReportPage, IsMadeOfAnyReport) {
  Measurement failed, huge = timed("csr", 1e9), tiny = timed("sell", 1e-12);
  failed.name = "ell";
  failed.failure = "no";
  huge.setup.encode = 1e9;
  tiny.gflops = tiny.gigabytes = tiny.bytes_per_nonzero = 0;
  huge.instructions_per_nonzero = 1e9;
  tiny.instructions_per_nonzero = 1e-300;
  Case nothing = case_of("nothing", {failed}), empty = case_of("empty", {});
  empty.rows = empty.cols = empty.nonzeros = 0;
  empty.portrait = {};
  std::vector<Case> many;
  for (int i = 0; i < 100; ++i) many.push_back(case_of("m" + std::to_string(i), {huge, tiny}));
  for (const Report& report : {report_of({}), report_of({nothing}), report_of({empty}),
                               report_of({nothing, case_of("a", {huge, tiny})}), report_of(many)}) {
    const std::string page = report_page({{"r.json", report}});
    EXPECT_TRUE(page.ends_with("</html>\n"));
    for (const char* none : {"nan\"", "nan,", "nan<", "nan ", "inf\"", "inf,", "inf<", "inf "})
      EXPECT_EQ(page.find(none), std::string::npos) << none;
  }
}

TEST(ReportPage, WrongAndFailedResultsAreToldFirst) {
  Measurement wrong = timed("sell", 1), failed;
  wrong.correct = false;
  failed.name = "ell";
  failed.failure = "too wide";
  const std::string page = report_page({{"r.json", report_of({case_of("a", {timed("csr", 1), wrong, failed})})}});
  const std::size_t results = page.find("Results in f64</h2>");
  EXPECT_LT(page.find("WRONG result: sell on a (f64)"), results);
  EXPECT_LT(page.find("No result: ell on a (f64): too wide"), results);
}

TEST(ReportPage, TheSameRefusalOnSeveralMatricesIsToldOnce) {
  Measurement failed, other, unsteady = timed("coo", 1, true);
  failed.name = "ell";
  other.name = "ell:r";
  failed.failure = other.failure = "too wide";
  unsteady.repeatable = false;
  const std::vector<Measurement> all = {timed("csr", 1), failed, other, unsteady};
  const std::string page =
      report_page({{"r.json", report_of({case_of("a", all), case_of("b", all), case_of("c", all)})}});
  EXPECT_NE(page.find("<li>No result: ell, ell:r on a (f64) and 2 more: too wide</li>"), std::string::npos);
  EXPECT_NE(page.find("<li>Not the same bits every time: coo on a (f64) and 2 more.</li>"), std::string::npos);
  EXPECT_EQ(page.find("on b (f64): too wide"), std::string::npos);
}

TEST(ReportPage, ThirtyMatricesWithThirtyNamesStayUnderTwoMegabytes) {
  std::vector<Case> cases;
  for (int c = 0; c < 30; ++c) {
    std::vector<Measurement> measurements;
    for (int n = 0; n < 30; ++n) {
      measurements.push_back(timed("format:variant" + std::to_string(n), 1e-3 * (1 + (n * 7 + c * 3) % 11), n > 20));
      measurements.back().details = "C = 32, sigma = 4096, t = 1, 16-bit columns in 69300 of 69338 slices";
    }
    cases.push_back(case_of("gen:elasticity3d:" + std::to_string(c), measurements));
    cases.back().portrait.cells.assign(64, std::string(32, '3') + ".012345..5.4.3.2.1.0.1.2.3.4.5.");
  }
  EXPECT_LT(report_page({{"r.json", report_of(cases)}}).size(), 2'000'000u);
}

TEST(ReportPage, HasATableOfWhatWasCounted) {
  Measurement csr = timed("csr", 2e-6), sell = timed("sell", 1e-6), coo = timed("coo", 4e-6);
  csr.instructions_per_nonzero = 8;
  sell.instructions_per_nonzero = 2;
  Report report = report_of({case_of("a", {csr, sell, coo})});
  report.counted_by = "callgrind, GNU 12, Release";
  const std::string page = report_page({{"r.json", report}});
  const std::size_t table = page.find("<th scope=\"col\">executing, %</th>");
  ASSERT_NE(table, std::string::npos);
  const std::string rows = page.substr(table, page.find("</table>", table) - table);
  // csr executes 8 x 50 instructions in 2 us, sell 2 x 50 in 1 us.
  EXPECT_NE(rows.find("<td class=\"text\">csr</td><td>0.12</td><td>8</td><td>0.0005</td><td>0.2</td>"),
            std::string::npos)
      << rows;
  EXPECT_NE(rows.find("<td>100</td></tr>"), std::string::npos);
  EXPECT_NE(rows.find("<td>50</td></tr>"), std::string::npos);
  EXPECT_EQ(rows.find("coo"), std::string::npos);
  EXPECT_NE(page.find("<dt>instructions counted by</dt><dd>callgrind, GNU 12, Release</dd>"), std::string::npos);
  EXPECT_EQ(report_page({{"r.json", report_of({case_of("a", {coo})})}}).find("executing, %"), std::string::npos);
}

TEST(Join, KeepsAllCasesOfOneMachineAndRefusesOthers) {
  const Report first = report_of({case_of("a", {timed("csr", 1)})});
  Report second = report_of({case_of("a", {timed("csr", 2)}), case_of("b", {timed("csr", 2)})});
  second.notes = {"n"};
  const Report joined = join({{"1.json", first}, {"2.json", second}});
  ASSERT_EQ(joined.cases.size(), 3u);
  EXPECT_EQ(joined.cases[1].source, "a (2.json)");
  EXPECT_EQ(joined.cases[2].source, "b");
  EXPECT_EQ(joined.notes.size(), 1u);
  second.device_name = "another CPU";
  EXPECT_THROW(join({{"1.json", first}, {"2.json", second}}), Error);
}

}  // namespace
}  // namespace weft::bench
