#include "specsum.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/runtime.hpp>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/harness/testing.hpp"

namespace weft::bench {
namespace {

TEST(PaperSpecsum, KnowsTheTwentyMatricesOfThePaper) {
  std::set<std::string> names;
  for (const SpecsumPaperMatrix& matrix : specsum_matrices()) names.insert(matrix.name);
  EXPECT_EQ(names.size(), 20u);
  EXPECT_STREQ(find_specsum_matrix("x/rail4284.mtx.gz")->title, "LP");
  EXPECT_STREQ(find_specsum_matrix("cop20k_A.mtx")->lengths, "0, 21, 81");
  EXPECT_STREQ(find_specsum_matrix("gen:epidemic2d:2050:257")->title, "Epidemiology");
  EXPECT_STREQ(find_specsum_matrix("conf5_4-8x8-05.mtx")->title, "QCD");
  EXPECT_EQ(find_specsum_matrix("gen:dense:100"), nullptr);
  EXPECT_EQ(find_specsum_matrix("cage10.mtx"), nullptr);
}

TEST(PaperSpecsum, SpeedupsAreThoseThePaperTells) {
  const auto find = [](ValueType type, const std::string& rival, const std::string& processor) {
    for (const SpecsumPaperSpeedup& one : paper_specsum_speedups(type, rival))
      if (one.processor == processor) return one;
    return SpecsumPaperSpeedup{"none", 0, 0};
  };
  EXPECT_EQ(find(ValueType::f32, "csr:vector", "HD 5500").max, 6.90);
  EXPECT_STREQ(find(ValueType::f64, "csr:vector", "HD 5500").processor, "none");
  EXPECT_EQ(find(ValueType::f64, "csr:scalar", "A10-7850K").max, 94.05);
  EXPECT_EQ(find(ValueType::f32, "csr:scalar", "A10-7850K").mean, 22.17);
  EXPECT_EQ(find(ValueType::f64, "csr:vector", "Tegra K1").mean, 2.53);
  EXPECT_EQ(find(ValueType::f64, cpu_rival, "Tegra K1").mean, 1.42);
  EXPECT_TRUE(paper_specsum_speedups(ValueType::f32, "csr:merge").empty());
}

TEST(PaperSpecsum, BandwidthCountsAnElementOfXForEveryEntry) {
  SpecsumCase one;
  one.formats.rows = 2;
  one.formats.nonzeros = 5;
  one.formats.measurements = {measured("csr:speculative", 0.5)};
  EXPECT_DOUBLE_EQ(*one.bandwidth("csr:speculative"), 2 * ((2 + 1 + 5) * 4 + (5 + 5 + 2) * 8));
  one.formats.type = ValueType::f32;
  EXPECT_DOUBLE_EQ(*one.bandwidth("csr:speculative"), 2 * ((2 + 1 + 5) * 4 + (5 + 5 + 2) * 4));
  EXPECT_FALSE(one.bandwidth("csr"));
  EXPECT_DOUBLE_EQ(one.gflops(1e-9), 10);
}

TEST(PaperSpecsum, RivalsAreFormatsPeersAndTheCpu) {
  SpecsumCase one;
  one.formats.measurements = {measured("csr:speculative", 1), measured("csr:scalar", 6)};
  one.cpu = Case{};
  one.cpu->measurements = {measured("csr", 3)};
  one.one_thread = Case{};
  one.one_thread->measurements = {measured("csr", 5)};
  const auto mean = [&](const std::string& rival) {
    const auto speedup = specsum_speedup({one}, ValueType::f64, "csr:speculative", rival);
    return speedup ? speedup->mean : 0;
  };
  EXPECT_DOUBLE_EQ(mean("csr:scalar"), 6);
  EXPECT_DOUBLE_EQ(mean(cpu_rival), 3);
  EXPECT_DOUBLE_EQ(mean(one_thread_rival), 5);
  EXPECT_DOUBLE_EQ(mean("csr:vector"), 0);
  EXPECT_FALSE(specsum_speedup({one}, ValueType::f32, "csr:speculative", cpu_rival));
}

TEST(PaperSpecsum, WithoutMatricesThereAreSomeForEveryDevice) {
  for (const Device device : {Device::cpu(), Device::gpu(), Device::emulator()})
    EXPECT_GE(specsum_sources({}, device).size(), 4u) << device.name();
  EXPECT_EQ(specsum_summary_rivals(Device::cpu()).back(), one_thread_rival);
  EXPECT_EQ(std::ranges::count(specsum_summary_rivals(Device::cpu()), cpu_rival), 0);  // that may be csr itself
  EXPECT_EQ(std::ranges::count(specsum_summary_rivals(Device::gpu()), cpu_rival), 1);
  EXPECT_EQ(specsum_subject(Device::cpu()), "csr");
  EXPECT_EQ(specsum_subject(Device::gpu()), "csr:speculative");
}

TEST(PaperSpecsum, ACaseLeavesTheThreadsAsTheyWere) {
  const int before = threads();
  set_threads(2);
  std::vector<std::string> notes;
  const SpecsumCase one = run_specsum_case("gen:empty-rows:200", generate<double>("gen:empty-rows:200"),
                                           {.device = Device::emulator(), .seconds = 0.002, .groups = 2}, notes);
  EXPECT_EQ(threads(), 2);
  set_threads(before);
  EXPECT_TRUE(one.correct());
  EXPECT_EQ(one.shortest_row, 0);
  EXPECT_GT(one.empty_rows, 100);
  EXPECT_GT(*one.one_thread_seconds(), 0);
  EXPECT_GT(*one.cpu_seconds(), 0);
  for (const std::string& rival : specsum_rivals(Device::emulator())) EXPECT_TRUE(one.find(rival)) << rival;
  const auto json = to_json(one);
  EXPECT_TRUE(json["paper"].is_null());
  EXPECT_GT(json["paper_bytes_per_second"]["csr:speculative"], 0);
  const auto summary = summary_json({one}, Device::emulator());
  EXPECT_EQ(summary[0]["against"], "csr:scalar");
  EXPECT_EQ(summary[0]["paper"][0]["max"], 94.05);
}

}  // namespace
}  // namespace weft::bench
