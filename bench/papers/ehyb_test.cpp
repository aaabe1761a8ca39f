#include "ehyb.hpp"

#include <gtest/gtest.h>
#include <weft/error.hpp>
#include <weft/generate.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "bench/harness/testing.hpp"

namespace weft::bench {
namespace {

EhybCase case_of(ValueType type, std::vector<Measurement> measurements) {
  EhybCase one;
  one.formats.type = type;
  one.formats.measurements = std::move(measurements);
  return one;
}

TEST(PaperEhyb, KnowsTheNinetyFourMatricesOfThePaper) {
  const auto& all = ehyb_matrices();
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 94u);
  EXPECT_EQ(find_ehyb_matrix("somewhere/audikw_1.mtx.gz"), "audikw_1");
  EXPECT_EQ(find_ehyb_matrix("cant.weft"), "cant");
  EXPECT_EQ(find_ehyb_matrix("cage10.mtx"), "");
  EXPECT_EQ(find_ehyb_matrix("gen:cant"), "");
}

TEST(PaperEhyb, AFolderStandsForThePapersMatricesInIt) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "weft-paper-ehyb";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "pwtk");  // no file
  const auto error = [&] {
    try {
      ehyb_sources({folder.string()}, Device::cpu());
    } catch (const Error& e) {
      return e.code() == ErrorCode::io ? std::string(e.what()) : "another error";
    }
    return std::string();
  };
  EXPECT_NE(error().find("has no matrix of the paper's Table 3"), std::string::npos) << error();
  for (const char* name : {"cant.weft", "cant.mtx", "cfd2.mtx.gz", "cage10.mtx"}) std::ofstream(folder / name) << "";
  const std::vector<std::string> expected = {"gen:poisson2d:3", (folder / "cfd2.mtx.gz").string(),
                                             (folder / "cant.mtx").string()};
  EXPECT_EQ(ehyb_sources({"gen:poisson2d:3", folder.string()}, Device::cpu()), expected);
  std::filesystem::remove_all(folder);
}

TEST(PaperEhyb, WithoutMatricesThereAreSomeForEveryDevice) {
  for (const Device device : {Device::cpu(), Device::gpu(), Device::emulator()})
    EXPECT_GE(ehyb_sources({}, device).size(), 4u) << device.name();
  for (const std::string& source : ehyb_sources({}, Device::emulator()))
    EXPECT_GT(generate<float>(source).nonzeros(), 0) << source;
}

TEST(PaperEhyb, SpeedupsAreOverMatricesThatBothWereMeasuredOn) {
  Measurement failed = measured("csr", 1);
  failed.failure = "no memory";
  const std::vector<EhybCase> cases = {
      case_of(ValueType::f64, {measured("ehyb", 1), measured("csr", 3)}),
      case_of(ValueType::f64, {measured("ehyb", 2), measured("csr", 1)}),
      case_of(ValueType::f64, {measured("ehyb", 2), measured("csr", 2)}),  // not faster
      case_of(ValueType::f64, {measured("ehyb", 1), failed}),
      case_of(ValueType::f32, {measured("ehyb", 1), measured("csr", 10)}),
  };
  const auto speedup = speedup_over(cases, ValueType::f64, "ehyb", "csr");
  ASSERT_TRUE(speedup);
  EXPECT_EQ(speedup->matrices, 3);
  EXPECT_DOUBLE_EQ(speedup->max, 3);
  EXPECT_DOUBLE_EQ(speedup->min, 0.5);
  EXPECT_DOUBLE_EQ(speedup->mean, 1.5);
  EXPECT_DOUBLE_EQ(speedup->faster_percent, 100.0 / 3);
  EXPECT_FALSE(speedup_over(cases, ValueType::f64, "ehyb", "csr:merge"));
  EXPECT_FALSE(speedup_over(cases, ValueType::f32, "ehyb:guests=0", "csr"));
}

TEST(PaperEhyb, ThePapersRowsAreThoseItPrints) {
  EXPECT_EQ(paper_speedup(ValueType::f32, "csr:merge")->mean, 1.517);
  EXPECT_EQ(paper_speedup(ValueType::f32, "cusparse:csr-alg2")->max, 4.0);
  EXPECT_EQ(paper_speedup(ValueType::f64, "cusparse:csr-alg1")->min, 1.07);
  EXPECT_FALSE(paper_speedup(ValueType::f64, "csr:speculative"));
}

TEST(PaperEhyb, SetUpIsPartitionReorderAndUpload) {
  Measurement m = measured("ehyb", 0.5);
  m.setup = {.upload = 1, .partition = 6, .encode = 3};
  const auto preparation = case_of(ValueType::f64, {m}).preparation("ehyb");
  ASSERT_TRUE(preparation);
  EXPECT_DOUBLE_EQ(preparation->reorder_seconds, 3);
  EXPECT_DOUBLE_EQ(preparation->partition_products(), 12);
  EXPECT_DOUBLE_EQ(preparation->reorder_products(), 6);
  EXPECT_FALSE(case_of(ValueType::f64, {}).preparation("ehyb"));
}

TEST(PaperEhyb, RivalsAreWhatADeviceHas) {
  const auto has = [](Device device, const std::string& name) {
    const auto rivals = ehyb_rivals(device);
    return std::ranges::find(rivals, name) != rivals.end();
  };
  EXPECT_TRUE(has(Device::cpu(), "csr:merge"));
  EXPECT_FALSE(has(Device::cpu(), "csr:speculative"));
  EXPECT_FALSE(has(Device::cpu(), "cusparse:csr-alg1"));
  EXPECT_TRUE(has(Device::gpu(), "csr:speculative"));
  EXPECT_TRUE(has(Device::gpu(), "cusparse:csr-alg2"));
}

TEST(PaperEhyb, ACaseTellsPartitioningApart) {
  std::vector<std::string> notes;
  // Parts there are: 512 K of x do not fit the cache of one.
  const EhybCase one = run_ehyb_case("gen:poisson2d:256", generate<double>("gen:poisson2d:256"),
                                     {.device = Device::cpu(), .seconds = 0.002, .groups = 2}, notes);
  for (const std::string& form : ehyb_forms) {
    const auto preparation = one.preparation(form);
    ASSERT_TRUE(preparation) << form;
    EXPECT_GT(preparation->partition_seconds, 0) << form;
    EXPECT_GT(preparation->reorder_seconds, 0) << form;
  }
  const auto json = to_json(one);
  EXPECT_TRUE(json["paper_name"].is_null());
  EXPECT_EQ(json["preparation"].size(), 2u);
  const auto summary = summary_json({one}, Device::cpu());
  EXPECT_EQ(summary[0]["against"], "csr");
  EXPECT_TRUE(summary[0]["paper"].is_null());
}

}  // namespace
}  // namespace weft::bench
