#include "bce.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

namespace weft::bench {
namespace {

Measurement measured(const std::string& name, double seconds, Setup setup = {}) {
  Measurement m;
  m.name = name;
  m.timing.median = seconds;
  m.setup = setup;
  return m;
}

BceCase paper_case(const char* source, ValueType type) {
  BceCase one;
  one.paper = find_bce_matrix(source);
  one.formats.type = type;
  return one;
}

TEST(PaperBce, KnowsTheTwentyMatricesOfThePaper) {
  std::set<std::string> names;
  for (const BcePaperMatrix& matrix : bce_matrices()) names.insert(matrix.name);
  EXPECT_EQ(names.size(), 20u);
  EXPECT_EQ(find_bce_matrix("x/channel-500x100x100-b050.mtx")->widest_row, 12);
  EXPECT_EQ(find_bce_matrix("circuit5M.mtx.gz")->widest_row, 1290501);
  EXPECT_EQ(find_bce_matrix("cant.mtx"), nullptr);
  EXPECT_EQ(find_bce_matrix("gen:poisson2d:3"), nullptr);
}

TEST(PaperBce, NumbersAreThoseThePaperPrints) {
  const BceCase wiki = paper_case("wikipedia-20051105.mtx", ValueType::f64);
  EXPECT_DOUBLE_EQ(*wiki.product(BceBy::paper, BceColumn::csr), 34.6e-3);
  EXPECT_DOUBLE_EQ(*wiki.solving(BceBy::paper, BceColumn::bsr), 351.4);
  EXPECT_DOUBLE_EQ(*wiki.transformation(BceBy::paper, BceColumn::hyb), 126e-3);
  EXPECT_FALSE(wiki.product(BceBy::paper, BceColumn::ell));         // NA
  EXPECT_FALSE(wiki.transformation(BceBy::paper, BceColumn::csr));  // csr comes as it is
  EXPECT_DOUBLE_EQ(*wiki.cpu_seconds(BceBy::paper), 0.484);
  EXPECT_DOUBLE_EQ(*wiki.total_seconds(BceBy::paper), 0.475);
  EXPECT_EQ(wiki.iterations(), 9827);
  const BceCase road = paper_case("road_usa.mtx", ValueType::f32);
  EXPECT_DOUBLE_EQ(*road.product(BceBy::paper, BceColumn::bce), 71.3e-3);
  EXPECT_DOUBLE_EQ(*road.solving(BceBy::paper, BceColumn::csr), 668.7);
  EXPECT_DOUBLE_EQ(*road.transformation(BceBy::paper, BceColumn::coo), 366.2e-3);
  EXPECT_DOUBLE_EQ(*paper_case("af_shell10.mtx", ValueType::f64).solving(BceBy::paper, BceColumn::ell), 57.2);
}

// Table 4 follows from Table 3, and the means of the text from Table 4: so both were read right.
TEST(PaperBce, ImprovementsFollowFromTheTimes) {
  const auto gain = [](const char* name, ValueType type, BceColumn over) {
    return *paper_case(name, type).improvement(&BceCase::product, BceBy::paper, over);
  };
  EXPECT_NEAR(gain("circuit5M", ValueType::f32, BceColumn::csr), 93.4, 0.05);
  EXPECT_NEAR(gain("ML_Geer", ValueType::f64, BceColumn::coo), 51.1, 0.05);
  EXPECT_NEAR(gain("af_shell10", ValueType::f64, BceColumn::ell), 20.5, 0.05);
  for (const ValueType type : {ValueType::f32, ValueType::f64})
    for (const BceColumn over : bce_columns) {
      if (over == BceColumn::bce) continue;
      double sum = 0;
      int count = 0;
      for (const BcePaperMatrix& matrix : bce_matrices())
        if (const auto one = paper_case(matrix.name, type).improvement(&BceCase::product, BceBy::paper, over)) {
          sum += *one;
          ++count;
        }
      EXPECT_NEAR(sum / count, *paper_mean_improvement(type, over), 0.06) << to_string(over) << " " << to_string(type);
    }
  EXPECT_FALSE(paper_mean_improvement(ValueType::f32, BceColumn::bce));
}

// The paper's Table 5 is transformation + iterations x product, with more digits of the product than Table 3 prints.
TEST(PaperBce, SolvingIsTransformationAndAllProducts) {
  for (const BcePaperMatrix& matrix : bce_matrices())
    for (const ValueType type : {ValueType::f32, ValueType::f64})
      for (const BceColumn column : bce_columns) {
        const BceCase one = paper_case(matrix.name, type);
        const auto each = one.product(BceBy::paper, column), all = one.solving(BceBy::paper, column);
        ASSERT_EQ(each.has_value(), all.has_value()) << matrix.name;
        if (!each) continue;
        const double once = one.transformation(BceBy::paper, column).value_or(0);
        EXPECT_NEAR(once + one.iterations() * *each, *all, 0.12 * *all) << matrix.name << " " << to_string(column);
      }
  BceCase ours;
  ours.formats.measurements = {measured("bce", 0.5, {.upload = 2, .encode = 3})};
  EXPECT_DOUBLE_EQ(*ours.transformation(BceBy::weft, BceColumn::bce), 3);
  EXPECT_DOUBLE_EQ(*ours.solving(BceBy::weft, BceColumn::bce), 3 + 0.5 * ours.iterations());
  EXPECT_DOUBLE_EQ(*ours.total_seconds(BceBy::weft), 5.5);
  EXPECT_FALSE(ours.solving(BceBy::weft, BceColumn::bsr));
  EXPECT_FALSE(ours.solving(BceBy::paper, BceColumn::bce));
}

TEST(PaperBce, CuSparseIsComparedWithOurBce) {
  BceCase one;
  one.formats.measurements = {measured("bce", 1), measured("csr", 2), measured("cusparse:csr-default", 4)};
  EXPECT_DOUBLE_EQ(*one.improvement(&BceCase::product, BceBy::weft, BceColumn::csr), 50);
  EXPECT_DOUBLE_EQ(*one.improvement(&BceCase::product, BceBy::cusparse, BceColumn::csr), 75);
  EXPECT_FALSE(one.improvement(&BceCase::product, BceBy::cusparse, BceColumn::bsr));
  EXPECT_DOUBLE_EQ(improvement_percent(1, 2), -100);
}

TEST(PaperBce, WithoutMatricesThereAreSomeForEveryDevice) {
  for (const Device device : {Device::cpu(), Device::gpu(), Device::emulator()})
    EXPECT_GE(bce_sources({}, device).size(), 4u) << device.name();
  EXPECT_EQ(bce_sources({"a.mtx"}, Device::cpu()), std::vector<std::string>{"a.mtx"});
}

TEST(PaperBce, ACaseTellsItsBlocks) {
  std::vector<std::string> notes;
  const RunOptions options{.device = Device::cpu(), .seconds = 0.002, .groups = 2};
  const BceCase one = run_bce_case("gen:poisson2d:40", generate<double>("gen:poisson2d:40"), options, notes);
  // 4 rows of 3 entries, 152 of 4 and the others of 5; the 4 would not fill a block, which takes 8.
  EXPECT_EQ(one.blocks.widest_row, 5);
  EXPECT_EQ(one.blocks.blocks, 2u);
  EXPECT_EQ(one.blocks.padding, 4);
  EXPECT_GT(one.blocks.model_gain, 1);
  EXPECT_TRUE(one.correct());
  EXPECT_GT(*one.cpu_seconds(BceBy::weft), 0);
  const auto json = to_json(one);
  EXPECT_TRUE(json["paper"].is_null());
  EXPECT_TRUE(json["weft"]["bsr"]["product_seconds"].is_null());
  EXPECT_GT(json["weft"]["ell"]["solving_seconds"], json["weft"]["ell"]["product_seconds"]);

  Csr<double> zeros;
  zeros.rows = zeros.cols = 3;
  zeros.offsets = Array<Offset>(4, 0);
  const BceCase nothing = run_bce_case("zeros.mtx", zeros, options, notes);
  EXPECT_EQ(nothing.blocks.blocks, 0u);
}

}  // namespace
}  // namespace weft::bench
