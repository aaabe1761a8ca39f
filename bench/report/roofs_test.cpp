#include "roofs.hpp"

#include <gtest/gtest.h>

#include "chart_labels.hpp"
#include "chart_points.hpp"
#include "charts.hpp"
#include "testing.hpp"

namespace weft::bench {
namespace {

/// A product of 1 million nonzeros that moves so many bytes per nonzero, so fast.
Measurement product(const std::string& name, double bytes, double seconds) {
  Measurement m;
  m.name = m.chosen = name;
  m.timing.median = seconds;
  m.gflops = 2e6 / seconds / 1e9;
  m.gigabytes = bytes * 1e6 / seconds / 1e9;
  m.bytes_per_nonzero = bytes - 2;
  return m;
}

Case case_of(const std::string& source, std::vector<Measurement> measurements) {
  Case one;
  one.source = source;
  one.rows = one.cols = 100'000;
  one.nonzeros = 1'000'000;
  one.measurements = std::move(measurements);
  return one;
}

std::vector<Roof> roofs() { return {{2e10, 0}, {1e11, 8 << 20}, {3e11, 1 << 20}}; }

const std::vector<Entrant> names = {{"csr", false, 0}, {"sell", false, 1}, {"mkl", true, 2}};

TEST(Roofs, AreTheMemorysAndThoseOfClearlyFasterCaches) {
  Report report;
  report.bandwidth = 2e10;
  report.caches = {{1 << 20, 3e11}, {4 << 20, 3.1e11}, {8 << 20, 1e11}, {64 << 20, 2.1e10}};
  std::vector<std::size_t> bytes;
  for (const Roof& roof : roofs_of(report)) bytes.push_back(roof.bytes);
  EXPECT_EQ(bytes, (std::vector<std::size_t>{0, 8 << 20, 1 << 20}));
  EXPECT_EQ(roofs_of(report)[0].name(), "memory, 20 GB/s");
  EXPECT_EQ(roofs_of(report)[1].name(), "8.4 MB in caches, 100 GB/s");
  report.bandwidth = 0;
  EXPECT_TRUE(roofs_of(report).empty());
}

TEST(Roofs, ProductsAreUnderTheSmallestCacheThatHoldsThemOrTheMemory) {
  EXPECT_EQ(roof_of(case_of("a", {product("csr", 12, 1e-3)}), roofs())->bytes, 0u);
  EXPECT_EQ(roof_of(case_of("a", {product("csr", 12, 1e-3), product("bro", 8, 2e-3)}), roofs())->bytes, 8u << 20);
  EXPECT_EQ(roof_of(case_of("a", {product("csr", 0.5, 1e-3)}), roofs())->bytes, 1u << 20);
  EXPECT_EQ(roof_of(case_of("a", {product("csr", 12, 4e-4)}), roofs())->bytes, 8u << 20) << "30 GB/s are from a cache";
  EXPECT_EQ(roof_of(case_of("a", {}), {}), nullptr);
}

TEST(Roofs, TheHighestRateOfInstructionsIsOfWhatWasCounted) {
  Case one = case_of("a", {product("csr", 12, 1e-3), product("sell", 12, 5e-4), product("coo", 16, 1e-4)});
  EXPECT_EQ(fastest_execution({&one}).one, nullptr);
  one.measurements[0].instructions_per_nonzero = 9;
  one.measurements[1].instructions_per_nonzero = 3;
  EXPECT_EQ(fastest_execution({&one}).measurement->name, "csr");
  EXPECT_DOUBLE_EQ(fastest_execution({&one}).rate, 9e9);
}

TEST(RisingLine, IsCutToThePlot) {
  const svg::Scale x{1, 100, 0, 200, true}, y{1, 100, 100, 0, true};
  const auto within = svg::rising(x, y, {1, 2}, {100, 50});
  ASSERT_TRUE(within);
  EXPECT_DOUBLE_EQ(within->x1, 0);
  EXPECT_DOUBLE_EQ(within->x2, 200);
  const auto cut = svg::rising(x, y, {1, 0.1}, {100, 1000});
  ASSERT_TRUE(cut);
  EXPECT_DOUBLE_EQ(cut->x1, 50);
  EXPECT_DOUBLE_EQ(cut->y1, 100);
  EXPECT_DOUBLE_EQ(cut->x2, 150);
  EXPECT_DOUBLE_EQ(cut->y2, 0);
  EXPECT_FALSE(svg::rising(x, y, {1, 200}, {100, 20000}));
  EXPECT_FALSE(svg::rising(x, y, {1, 0.001}, {100, 0.1}));
}

TEST(Labels, NeverHideAMarkOrEachOther) {
  Labels labels(0, 0, 200, 200);
  labels.keep_clear(100, 100, 6);
  labels.keep_clear(130, 100, 6);  // where the text would be first
  const std::string text = labels.beside(100, 100, "matrix");
  EXPECT_TRUE(has(text, "matrix"));
  EXPECT_FALSE(has(text, "x=\"108\" y=\"104\""));
  for (double at = 0; at <= 200; at += 8)
    for (double down = 0; down <= 200; down += 8) labels.keep_clear(at, down, 4);
  EXPECT_EQ(labels.beside(100, 100, "full"), "");
  EXPECT_TRUE(has(labels.along(0, 200, 200, 0, "memory"), ">memory</text>")) << "a line is never without a name";
  Labels free(0, 0, 200, 200);
  EXPECT_TRUE(has(free.along(0, 200, 200, 0, "memory"), "rotate(-45)"));
  EXPECT_EQ(free.along(0, 200, 20, 190, "too long for it"), "");
}

TEST(Roofline, HasARoofForTheMemoryAndForCachesThatExplainAPoint) {
  const Case large = case_of("large", {product("csr", 14, 9e-4), product("sell", 13, 8e-4)});
  const std::string memory_only = roofline_figure({&large}, names, roofs()).panel.body;
  EXPECT_EQ(count(memory_only, "class=\"roof memory\""), 1u);
  EXPECT_EQ(count(memory_only, "class=\"roof\""), 0u);
  EXPECT_TRUE(has(memory_only, "memory, 20 GB/s"));
  const Case small = case_of("small", {product("csr", 14, 3e-4), product("sell", 13, 2e-4)});
  const Figure both = roofline_figure({&large, &small}, names, roofs());
  EXPECT_EQ(count(both.panel.body, "class=\"roof memory\""), 1u);
  EXPECT_EQ(count(both.panel.body, "class=\"roof\""), 1u) << "65 GB/s is below the larger cache's";
  EXPECT_TRUE(has(both.panel.body, "8.4 MB in caches, 100 GB/s"));
  EXPECT_TRUE(has(both.panel.body, "sell on small: 10 GFLOP/s with 13 bytes per nonzero, 65 GB/s, 65 % of 8.4 MB"));
  EXPECT_TRUE(has(both.panel.body, ">large</text>"));
  EXPECT_TRUE(has(both.panel.body, ">small</text>"));
  EXPECT_TRUE(has(both.sentence, "while it was measured: small."));
  EXPECT_EQ(xml_fault("<g>" + both.panel.body + "</g>"), "");
}

TEST(Roofline, LeavesOutThoseWhoseBytesAreUnknownAndSaysSo) {
  Measurement mkl = product("mkl", 14, 1e-4);
  mkl.peer = mkl.bytes_estimated = true;
  const Case one = case_of("a", {product("csr", 14, 9e-4), mkl});
  const Figure figure = roofline_figure({&one}, names, roofs());
  EXPECT_FALSE(has(figure.panel.body, "mkl"));
  EXPECT_TRUE(has(figure.sentence, "Not drawn, since their bytes are unknown: mkl."));
}

TEST(Roofline, ALongAxisHasItsBytesFromManyToFew) {
  const Case one = case_of("a", {product("csr", 14, 9e-4)});
  const std::string body = roofline_figure({&one}, names, roofs()).panel.body;
  const std::size_t many = body.find(">20</text>"), few = body.find(">8</text>");
  ASSERT_NE(many, std::string::npos);
  ASSERT_NE(few, std::string::npos);
  EXPECT_GT(many, few) << "drawn from the right";
  EXPECT_TRUE(has(body, "flops per byte"));
}

TEST(InstructionsChart, IsOfWhatWasCounted) {
  Case one = case_of("a", {product("csr", 14, 9e-4), product("sell", 13, 8e-4), product("hyb", 13, 1e-3)});
  EXPECT_TRUE(instructions_figure({&one}, names, roofs(), "").empty());
  one.measurements[0].instructions_per_nonzero = 9;
  one.measurements[2].instructions_per_nonzero = 7;
  const Figure figure = instructions_figure({&one}, names, roofs(), "callgrind, GNU 12");
  EXPECT_TRUE(has(figure.panel.body, "csr on a: 14 bytes and 9 instructions per nonzero"));
  EXPECT_TRUE(has(figure.panel.body, "hyb on a: 13 bytes and 7 instructions per nonzero"));
  EXPECT_FALSE(has(figure.panel.body, "sell on a"));
  EXPECT_TRUE(has(figure.panel.body, ">others</text>")) << "hyb is not among the chosen";
  EXPECT_TRUE(has(figure.sentence, "csr on a executes most instructions per second, 10 billion"));
  EXPECT_TRUE(has(figure.sentence, "Counted by callgrind, GNU 12, with one thread."));
  EXPECT_EQ(xml_fault("<g>" + figure.panel.body + "</g>"), "");
  EXPECT_FALSE(instructions_figure({&one}, names, {}, "").empty()) << "without a bandwidth there are no lines";
}

}  // namespace
}  // namespace weft::bench
