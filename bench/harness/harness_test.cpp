#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/coo.hpp>

#include <chrono>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "bench/peers/peer.hpp"
#include "bench/report/summary.hpp"
#include "bench/report/writer.hpp"
#include "measure.hpp"
#include "result.hpp"
#include "run.hpp"
#include "verify.hpp"

namespace weft::bench {
namespace {

/// Rows: (1 -1 0), empty, (2 0 3).
template <Value V>
Csr<V> small_matrix() {
  return make_csr<V>(3, 3, Array<Offset>{0, 2, 2, 4}, Array<Index>{0, 1, 0, 2}, Array<V>{1, -1, 2, 3});
}

template <class V>
class VerifyTest : public testing::Test {};
using ValueTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(VerifyTest, ValueTypes);

TYPED_TEST(VerifyTest, AcceptsTheExactResultAndRoundingOfIt) {
  using V = TypeParam;
  const std::vector<V> x{1, 1, 2};
  const Reference<V> reference(Op::none, V(1), small_matrix<V>(), x, V(0), {});
  std::vector<V> y{0, 0, 8};
  EXPECT_TRUE(reference.compare(y).correct);
  EXPECT_EQ(reference.compare(y).backward_error, 0);
  EXPECT_EQ(reference.compare(y).forward_error, 0);
  y[0] = std::numeric_limits<V>::epsilon();  // cancelled to zero, so only |A||x| tells how large rounding may be
  EXPECT_TRUE(reference.compare(y).correct);
}

TYPED_TEST(VerifyTest, FindsADroppedEntryAndNamesItsRow) {
  using V = TypeParam;
  const std::vector<V> x{1, 1, 2};
  const Reference<V> reference(Op::none, V(1), small_matrix<V>(), x, V(0), {});
  const Verdict verdict = reference.compare(std::vector<V>{0, 0, 6});
  EXPECT_FALSE(verdict.correct);
  EXPECT_EQ(verdict.worst, 2);
  EXPECT_DOUBLE_EQ(verdict.backward_error, 0.25);
  EXPECT_DOUBLE_EQ(verdict.forward_error, 0.25);
}

TYPED_TEST(VerifyTest, FindsAnEmptyRowNobodyWrote) {
  using V = TypeParam;
  const std::vector<V> x{1, 1, 2};
  const Reference<V> reference(Op::none, V(1), small_matrix<V>(), x, V(0), {});
  for (const V left : {std::numeric_limits<V>::quiet_NaN(), V(1e-20)}) {
    const Verdict verdict = reference.compare(std::vector<V>{0, left, 8});
    EXPECT_FALSE(verdict.correct);
    EXPECT_EQ(verdict.worst, 1);
    EXPECT_EQ(std::isfinite(verdict.forward_error), std::isfinite(left));
    EXPECT_FALSE(std::isfinite(verdict.backward_error));
  }
}

TYPED_TEST(VerifyTest, NamesTheRowThatIsWrongNotALongerOneThatRounds) {
  using V = TypeParam;
  const V epsilon = std::numeric_limits<V>::epsilon();
  // A row of 400 ones, where rounding may change the sum by much, and a row of one.
  Array<Index> columns(401);
  for (Index k = 0; k < 400; ++k) columns[k] = k;
  columns[400] = 0;
  const Csr<V> matrix = make_csr<V>(2, 400, Array<Offset>{0, 400, 401}, columns, Array<V>(401, V(1)));
  const Reference<V> reference(Op::none, V(1), matrix, std::vector<V>(400, V(1)), V(0), {});
  const Verdict verdict = reference.compare(std::vector<V>{V(400) * (1 + 200 * epsilon), 1 + 8 * epsilon});
  EXPECT_FALSE(verdict.correct);
  EXPECT_EQ(verdict.worst, 1);
  EXPECT_GT(verdict.backward_error, 100 * epsilon);
}

TYPED_TEST(VerifyTest, AnOverflowThatTheReferenceHasTooIsRight) {
  using V = TypeParam;
  const V large = std::numeric_limits<V>::max(), infinity = std::numeric_limits<V>::infinity();
  const Csr<V> matrix = make_csr<V>(1, 2, Array<Offset>{0, 2}, Array<Index>{0, 1}, Array<V>{large, large});
  const Reference<V> reference(Op::none, V(1), matrix, std::vector<V>{1, 1}, V(0), {});
  EXPECT_TRUE(reference.compare(std::vector<V>{infinity}).correct);
}

TYPED_TEST(VerifyTest, TransposedScaledAndAddedToY) {
  using V = TypeParam;
  const std::vector<V> x{1, 5, 2};
  const std::vector<V> y0{1, 2, 3};
  const Reference<V> reference(Op::transpose, V(2), small_matrix<V>(), x, V(-1), y0);
  EXPECT_TRUE(reference.compare(std::vector<V>{9, -4, 9}).correct);
  EXPECT_FALSE(reference.compare(std::vector<V>{10, -2, 12}).correct);  // beta forgotten
}

TYPED_TEST(VerifyTest, RefusesAnotherLength) {
  using V = TypeParam;
  const std::vector<V> x{1, 1, 1};
  const Reference<V> reference(Op::none, V(1), small_matrix<V>(), x, V(0), {});
  EXPECT_THROW(reference.compare(std::vector<V>{0, 0}), Error);
}

TEST(Measure, SlowerProductsTakeLongerAndFailuresKeepTheirSentence) {
  using namespace std::chrono_literals;
  int calls_after_failure = 0;
  const Product products[] = {
      [] { std::this_thread::sleep_for(200us); },
      [] { std::this_thread::sleep_for(2ms); },
      [&] {
        ++calls_after_failure;
        throw Error(ErrorCode::unsupported, "cannot do that");
      },
  };
  double last_progress = 0;
  const auto timings = measure(Device::cpu(), products, {.seconds = 0.05, .groups = 5, .progress = [&](double share) {
                                                           EXPECT_GE(share, last_progress);
                                                           last_progress = share;
                                                           return true;
                                                         }});
  ASSERT_EQ(timings.size(), 3u);
  EXPECT_GE(timings[0].median, 200e-6);
  EXPECT_GE(timings[1].median, 2e-3);
  EXPECT_GT(timings[1].median, timings[0].median);
  EXPECT_LE(timings[0].low, timings[0].median);
  EXPECT_GE(timings[0].high, timings[0].median);
  EXPECT_EQ(timings[2].failure, "cannot do that");
  EXPECT_EQ(calls_after_failure, 1);
  EXPECT_EQ(last_progress, 1);
}

TEST(Measure, ProductsTakeTurns) {
  std::vector<char> turns;
  const auto record = [&](char who) {
    return [&turns, who] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (turns.empty() || turns.back() != who) turns.push_back(who);
    };
  };
  const Product products[] = {record('a'), record('b')};
  measure(Device::cpu(), products, {.seconds = 0.02, .groups = 4});
  // Warm-up is one change each; one after the other would make four in all, four groups in turn make ten.
  EXPECT_GE(turns.size(), 6u);
}

TEST(Measure, EveryTurnStartsWithAProductThatIsNotTimed) {
  int calls = 0;
  const Product products[] = {[&] {
    // The first call of a turn is the slow one, as with cold caches. The first two are the warm-up before all turns.
    std::this_thread::sleep_for(std::chrono::milliseconds(calls++ % 2 == 0 ? 30 : 3));
  }};
  const auto timings = measure(Device::cpu(), products, {.seconds = 0.2, .groups = 100});
  EXPECT_EQ(timings[0].products, timings[0].groups);
  EXPECT_LT(timings[0].high, 0.02);
}

TEST(Measure, VerySlowProductsAreTimedOnceAndNoMore) {
  int calls = 0;
  const Product products[] = {[&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }};
  const auto timings = measure(Device::cpu(), products, {.seconds = 0.001, .groups = 50});
  EXPECT_GE(timings[0].median, 0.02);
  EXPECT_LE(calls, 4);
}

Measurement measured(const std::string& name, double setup, double seconds, bool peer = false) {
  Measurement m;
  m.name = m.chosen = name;
  m.peer = peer;
  m.setup.encode = setup;
  m.timing.median = seconds;
  return m;
}

TEST(Compare, BreakEvenIsTheExtraSetUpOverTheGainAProduct) {
  Case one;
  one.measurements = {measured("csr", 1, 0.5),     measured("better", 11, 0.25),    measured("cheap", 0.5, 0.25),
                      measured("slower", 0, 0.75), measured("eigen", 0, 1.0, true), measured("other", 0, 0.5, true)};
  compare(one);
  EXPECT_FALSE(one.measurements[0].break_even);
  EXPECT_EQ(one.measurements[1].break_even, 40);
  EXPECT_EQ(one.measurements[2].break_even, 0);
  EXPECT_FALSE(one.measurements[3].break_even);
  EXPECT_DOUBLE_EQ(one.measurements[1].peer_ratio.value(), 2);
  EXPECT_FALSE(one.measurements[4].peer_ratio);
}

TEST(Compare, WhatIsWithinFivePercentOfTheFastestSharesItsRank) {
  Case one;
  one.measurements = {measured("third", 0, 1.2),       measured("fastest", 0, 1.0), measured("tied", 0, 1.04),
                      measured("peer", 0, 1.06, true), measured("wrong", 0, 0.5),   measured("alike", 0, 1.11)};
  one.measurements[4].correct = false;
  compare(one);
  std::vector<int> ranks;
  for (const Measurement& m : one.measurements) ranks.push_back(m.rank);
  EXPECT_THAT(ranks, testing::ElementsAre(5, 1, 1, 3, 0, 3));
}

TEST(Compare, ATieIsNamedAsItIsCounted) { EXPECT_EQ(fmt::format("{:.0f} %", 100 * (tie - 1)), tie_text); }

TEST(Summarize, MeansAreOverCompleteSetsOnly) {
  Report report;
  for (double slow : {4.0, 1.0, 0.5}) {  // a win, a tie, a loss
    Case one;
    one.measurements = {measured("csr", 0, 1), measured("sell", 0, 2), measured("eigen", 0, slow, true)};
    report.cases.push_back(one);
  }
  report.cases[1].measurements[1].failure = "refused";
  const std::vector<Summary> all = summarize(report);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].compared, 3);
  EXPECT_EQ(all[0].wins, 1);
  EXPECT_EQ(all[0].ties, 1);
  EXPECT_EQ(all[0].losses, 1);
  EXPECT_NEAR(all[0].ratio.value(), std::cbrt(4 * 1 * 0.5), 1e-12);
  ASSERT_EQ(all[0].names.size(), 3u);
  EXPECT_NEAR(all[0].names[0].peer_ratio.value(), std::cbrt(4 * 1 * 0.5), 1e-12);
  EXPECT_FALSE(all[0].names[1].peer_ratio) << "sell refused a matrix";
  EXPECT_EQ(all[0].names[1].measured, 2);
  EXPECT_EQ(
      headline(all[0]),
      "On these 3 matrices (f64) Weft is 1.26 times as fast as the fastest peer (geometric mean) and wins 1 of 3, "
      "with 1 tied.");
}

TEST(Summarize, WithoutPeersThereIsNoRatio) {
  Report report;
  report.cases.emplace_back();
  report.cases[0].measurements = {measured("csr", 0, 1)};
  EXPECT_FALSE(summarize(report)[0].ratio);
  EXPECT_EQ(headline(summarize(report)[0]), "No peer to compare with (f64).");
}

TEST(RunCase, KeepsFormatsThatRefuseInTheTable) {
  std::vector<std::string> notes;
  const Case one = run_case<double>(
      "small", small_matrix<double>(),
      {.device = Device::cpu(), .formats = {"csr", "no-such-format"}, .seconds = 0.001, .groups = 1}, notes);
  ASSERT_EQ(one.measurements.size(), 2u);
  EXPECT_TRUE(one.measurements[0].measured());
  EXPECT_TRUE(one.measurements[0].correct);
  EXPECT_GT(one.measurements[0].gflops, 0);
  EXPECT_THAT(one.measurements[1].failure, testing::HasSubstr("no-such-format"));
  const Measurement& csr = one.measurements[0];
  EXPECT_DOUBLE_EQ(csr.setup_products.value(), (csr.setup.total() - csr.setup.upload) / csr.timing.median);
  EXPECT_EQ(csr.padding, 0);
}

TEST(RunCase, MeasuresEveryFormatOfTheCpuAndPeersCorrectly) {
  std::vector<std::string> notes;
  const Case one = run_case<float>(
      "small", small_matrix<float>(),
      {.device = Device::cpu(), .formats = formats_for(Device::cpu()), .peers = "all", .seconds = 0.001}, notes);
  for (const Measurement& m : one.measurements) {
    if (m.name == "petsc:aij")  // built for f64, it keeps its place with the reason
      EXPECT_THAT(m.failure, testing::HasSubstr("f64"));
    else
      EXPECT_EQ(m.failure, "") << m.name;
    EXPECT_TRUE(m.correct) << m.name;
  }
}

TEST(Report, AWrongFormatFailsTheRunAndAWrongPeerDoesNot) {
  Report report;
  report.cases.emplace_back();
  report.cases[0].measurements = {measured("csr", 0, 1), measured("eigen", 0, 1, true)};
  report.cases[0].measurements[1].correct = false;
  EXPECT_TRUE(report.all_correct());
  report.cases[0].measurements[0].correct = false;
  EXPECT_FALSE(report.all_correct());
}

TEST(Report, CsvQuotesAndHasAsManyFieldsInEveryLine) {
  Report report;
  report.cases.emplace_back();
  report.cases[0].source = "a,\"b\".mtx";
  report.cases[0].measurements = {measured("csr", 0, 1), measured("broken", 0, 0)};
  report.cases[0].measurements[1].failure = "no; reason";
  const std::string csv = to_csv(report);
  EXPECT_THAT(csv, testing::HasSubstr("\"a,\"\"b\"\".mtx\""));
  std::vector<long> commas;
  std::size_t begin = 0;
  while (begin < csv.size()) {
    const std::size_t end = csv.find('\n', begin);
    commas.push_back(std::count(csv.begin() + static_cast<long>(begin), csv.begin() + static_cast<long>(end), ','));
    begin = end + 1;
  }
  ASSERT_EQ(commas.size(), 3u);
  EXPECT_EQ(commas[1], commas[0] + 1);  // the comma inside the quoted name
  EXPECT_EQ(commas[2], commas[0] + 1);
}

TEST(Report, CsvPutsEachNumberUnderItsName) {
  Report report;
  report.cases.emplace_back();
  Measurement m = measured("csr", 4, 6);
  m.version = "1.0";
  m.rank = 3;
  m.repeatable = false;
  m.setup.upload = 16;  // 20 in all
  m.first_product_seconds = 5;
  m.timing.low = 7;
  m.timing.high = 8;
  m.timing.cold = Quartiles{9, 0, 0};
  m.gflops = 10;
  m.gigabytes = 11;
  m.bandwidth_share = 12;
  m.bytes_per_nonzero = 13;
  m.break_even = 14;
  m.forward_error = 15;
  m.backward_error = 15.5;
  m.peer_ratio = 15.75;
  m.setup_products = 17;
  m.padding = 18;
  m.details = "19, and more";
  report.cases[0].measurements = {m};
  const std::string csv = to_csv(report);
  EXPECT_THAT(csv, testing::HasSubstr(
                       "name,chosen,peer,version,correct,rank,repeatable,setup_seconds,first_product_seconds,"
                       "median_seconds,low_seconds,high_seconds,cold_median_seconds,gflops,gigabytes_per_second,"
                       "bandwidth_share,bytes_per_nonzero,break_even_products,forward_error,backward_error,peer_ratio,"
                       "upload_seconds,setup_products,padding,details,recipe,failure\n"));
  EXPECT_THAT(csv, testing::EndsWith(",csr,csr,false,1.0,true,3,false,20,5,6,7,8,9,10,11,12,13,14,15,15.5,15.75,16,17,"
                                     "18,\"19, and more\",,\n"));
}

TEST(Report, JsonTellsHowAFormatIsStoredAndDoesNotGuessForAPeer) {
  Report report;
  report.cases.emplace_back();
  Measurement m = measured("sell", 3, 2);
  m.padding = 14;
  m.details = "C = 32";
  m.setup.upload = 1;
  m.setup.partition = 0.5;
  m.setup_products = 1;
  report.cases[0].measurements = {m, measured("eigen", 1, 1, true)};
  const auto json = to_json(report)["cases"][0]["measurements"];
  EXPECT_EQ(json[0]["padding"], 14);
  EXPECT_EQ(json[0]["details"], "C = 32");
  EXPECT_EQ(json[0]["setup_seconds"], 4.5);
  EXPECT_EQ(json[0]["setup"]["encode_seconds"], 3);
  EXPECT_EQ(json[0]["setup"]["upload_seconds"], 1);
  EXPECT_EQ(json[0]["setup"]["partition_seconds"], 0.5);
  EXPECT_EQ(json[0]["setup_products"], 1);
  EXPECT_TRUE(json[1]["padding"].is_null());
  EXPECT_TRUE(json[1]["setup_products"].is_null());
}

TEST(Report, TheTextOfAFileIsTheJson) {
  Report report;
  report.command = "weft bench \xff";  // not UTF-8: replaced, not refused
  report.notes = {"no \"peer\""};
  EXPECT_EQ(nlohmann::ordered_json::parse(to_text(report))["cases"].size(), 0u);
  for (int i = 0; i < 2; ++i) {
    report.cases.emplace_back();
    report.cases.back().measurements = {measured("csr", 0, 1.0 / 3), measured("coo", 0, 2)};
  }
  report.command = "weft bench";
  EXPECT_EQ(nlohmann::ordered_json::parse(to_text(report)), to_json(report));
  report.cases[0].measurements[1].backward_error = std::numeric_limits<double>::denorm_min();
  EXPECT_LT(to_json(report)["cases"][0]["measurements"][1]["backward_error"], 1e-300);
  report.cases[0].measurements[0].backward_error = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(
      nlohmann::ordered_json::parse(to_text(report))["cases"][0]["measurements"][0]["backward_error"].is_null());
}

}  // namespace
}  // namespace weft::bench
