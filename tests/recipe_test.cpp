// A plan's recipe builds the same plan again, to the bit: every format of the registry, with each of its variants and
// parameters, on every device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstring>
#include <sstream>

#include "format_names.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct Case {
  Device device;
  const Format* format;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.format->info.name << " on " << one.device.name(); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Device device : available_devices())
    for (const Format* format : registry())
      if (format->runs_on(device.kind())) cases.push_back({device, format});
  return cases;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.format->info.name + "_on_" + info.param.device.name();
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Random values, so that the order of a sum shows in its bits.
template <Value V>
Csr<V> with_random_values(const Csr<double>& matrix) {
  return make_csr<V>(matrix.rows, matrix.cols, matrix.offsets, matrix.columns,
                     random_vector<V>(matrix.values.size(), 5));
}

/// Half of the entries are gone in the lower half: blocks are full in some rows only.
Csr<double> thinned(const Csr<double>& matrix) {
  Dice dice(3);
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  for (Index row = 0; row < matrix.rows; ++row) {
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      if (row < matrix.rows / 2 || dice.below(2) == 0) columns.push_back(matrix.columns[k]);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  Array<double> values(columns.size(), 1.0);
  return make_csr<double>(matrix.rows, matrix.cols, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                          std::move(values));
}

template <Value V>
std::vector<Named<V>> some_matrices() {
  std::vector<Named<V>> all;
  for (const char* source : {"gen:poisson2d:17", "gen:elasticity3d:4", "gen:rmat:8", "gen:empty-rows:300",
                             "gen:uniform:150:9:cols=70", "gen:dense:7:100"})
    all.push_back({source, with_random_values<V>(generate<double>(source))});
  all.push_back(
      {"blocks, not all of them full", with_random_values<V>(thinned(generate<double>("gen:elasticity3d:4")))});
  all.push_back({"a long row", random_rows<V>(3000, {2900, 2, 3, 1, 0, 70, 5}, 6)});
  return all;
}

template <Value V>
Array<V> multiply(Plan<V>& plan, Op op, int count) {
  const PlanInfo& info = plan.info();
  const auto in = static_cast<std::size_t>(op == Op::none ? info.cols : info.rows);
  const auto out = static_cast<std::size_t>(op == Op::none ? info.rows : info.cols);
  const Array<V> x = random_vector<V>(in * static_cast<std::size_t>(count), 31);
  Array<V> y = random_vector<V>(out * static_cast<std::size_t>(count), 32);
  if (plan.device().is_cpu()) {
    plan.apply(op, V(1.1), Vectors<const V>{x, count, in}, V(0.7), Vectors<V>{y, count, out});
    return y;
  }
  const DeviceBuffer<V> from(plan.device(), x);
  DeviceBuffer<V> to(plan.device(), y);
  plan.apply(op, V(1.1), DeviceVectors<const V>{from, count, in}, V(0.7), DeviceVectors<V>{to, count, out});
  return to.download();
}

template <Value V>
void expect_same(Plan<V>& one, Plan<V>& other) {
  const PlanInfo &a = one.info(), &b = other.info();
  EXPECT_FALSE(a.recipe.empty());
  EXPECT_EQ(a.recipe, b.recipe);
  EXPECT_EQ(a.format, b.format);
  EXPECT_EQ(a.details, b.details);
  EXPECT_EQ(a.ordering, b.ordering);
  EXPECT_EQ(a.bytes, b.bytes);
  EXPECT_EQ(a.padding, b.padding);
  for (const Op op : {Op::none, Op::transpose}) {
    if (op == Op::transpose && !a.transpose) continue;
    for (const int count : {1, 3}) {
      const Array<V> y = multiply(one, op, count), again = multiply(other, op, count);
      ASSERT_EQ(y.size(), again.size());
      EXPECT_TRUE(y.empty() || std::memcmp(y.data(), again.data(), y.bytes()) == 0)
          << a.recipe << ", " << count << (op == Op::none ? "" : ", transposed");
    }
  }
}

/// Plans, and plans again by the recipe.
template <Value V>
void expect_rebuilt(const Csr<V>& matrix, PlanOptions options) {
  SCOPED_TRACE(options.format);
  Plan<V> first = plan(matrix, options);
  SCOPED_TRACE(first.info().recipe);
  options.format = first.info().recipe;
  options.order = Ordering::none;
  Plan<V> second = plan(matrix, options);
  expect_same(first, second);
}

class Recipes : public ::testing::TestWithParam<Case> {};

TEST_P(Recipes, BuildTheSameAgain) {
  const auto [device, format] = GetParam();
  const auto check = [&]<Value V>(std::type_identity<V>) {
    if (!format->has_type(value_type<V>)) return;
    for (const auto& [name, matrix] : some_matrices<V>()) {
      SCOPED_TRACE(name + ", " + std::string(to_string(value_type<V>)));
      for (const std::string& way : names_on(device.kind(), *format))
        if (!HasFailure()) expect_rebuilt(matrix, {.device = device, .format = way});
    }
  };
  check(std::type_identity<float>());
  check(std::type_identity<double>());
}

TEST_P(Recipes, IncludeTheTransposedMatrixAndTheOrder) {
  const auto [device, format] = GetParam();
  for (const auto& [name, matrix] : some_matrices<double>()) {
    SCOPED_TRACE(name);
    PlanOptions options{.device = device, .format = format->info.name, .transpose = true};
    ASSERT_NO_FATAL_FAILURE(expect_rebuilt(matrix, options));
    options.order = matrix.rows == matrix.cols ? Ordering::rcm : Ordering::length;
    ASSERT_NO_FATAL_FAILURE(expect_rebuilt(matrix, options));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Recipes, ::testing::ValuesIn(all_cases()), case_name);

TEST(Recipe, OfWhatAutoChoseBuildsTheSameAgain) {
  for (const Device device : available_devices())
    for (const auto& [name, matrix] : some_matrices<double>()) {
      SCOPED_TRACE(name + " on " + device.name());
      expect_rebuilt(matrix, {.device = device, .products = 100000});
    }
}

TEST(Recipe, HasAllNumbersInTheOrderOfTheParameters) {
  const auto matrix = generate<double>("gen:poisson2d:20");
  const auto recipe = [&](const PlanOptions& options) { return plan(matrix, options).info().recipe; };
  EXPECT_EQ(recipe({.format = "csr"}), "csr:merge");
  EXPECT_EQ(recipe({.format = "sell:sigma=64:c=16"}), "sell:c=16:sigma=64:t=1:runs=0");
  EXPECT_EQ(recipe({.format = "sell:c=16:sigma=64", .order = Ordering::rcm}), "rcm+sell:c=16:sigma=64:t=1:runs=0");
  EXPECT_EQ(recipe({.format = "length+sell:c=16:sigma=64"}), "length+sell:c=16:sigma=64:t=1:runs=0");
  EXPECT_EQ(recipe({.format = "bro-ell"}), "bro-ell:h=256:sym=32");
}

TEST(Recipe, KeepsALimitOnlyIfItWasGiven) {
  const auto matrix = generate<double>("gen:poisson2d:20");
  EXPECT_EQ(plan(matrix, {.format = "bro-ell:padding=7"}).info().recipe, "bro-ell:h=256:sym=32:padding=7");
}

TEST(Recipe, IsPrintedWithThePlan) {
  std::ostringstream text;
  text << plan(generate<double>("gen:poisson2d:20"), {.format = "rcm+sell:c=16:sigma=64"}).info();
  EXPECT_THAT(text.str(), HasSubstr("  recipe rcm+sell:c=16:sigma=64:t=1:runs=0\n"));
}

TEST(Recipe, NamesTheOrder) {
  const auto matrix = generate<double>("gen:poisson2d:20");
  EXPECT_EQ(plan(matrix, {.format = "rcm+csr"}).info().ordering, Ordering::rcm);
  EXPECT_EQ(plan(matrix, {.format = "rcm+auto"}).info().ordering, Ordering::rcm);
  EXPECT_EQ(plan(matrix, {.format = "rcm+csr", .order = Ordering::rcm}).info().ordering, Ordering::rcm);
  EXPECT_EQ(plan(matrix, {.format = "csr", .order = Ordering::rcm}).info().ordering, Ordering::rcm);
}

std::string error_of(const std::string& format, Ordering order = Ordering::none) {
  try {
    plan(generate<double>("gen:poisson2d:5"), {.format = format, .order = order, .transpose = true});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Recipe, ThatIsWrongIsRefusedInASentence) {
  EXPECT_EQ(error_of("rcm+csr", Ordering::length),
            "format 'rcm+csr' is in the order rcm, but the order length is requested");
  EXPECT_THAT(error_of("metis+csr"), StartsWith("there is no order"));
  EXPECT_THAT(error_of("+csr"), StartsWith("there is no order"));
  EXPECT_THAT(error_of("rcm+"), StartsWith("there is no format ''"));
  EXPECT_THAT(error_of("rcm+rcm+csr"), StartsWith("there is no format 'rcm+csr'"));
  EXPECT_THAT(error_of("sell:c=16/"), StartsWith("there is no format ''"));
  EXPECT_THAT(error_of("auto/csr"), StartsWith("there is no format 'auto'"));
  EXPECT_EQ(error_of("sell:c=16/csr"),
            "format 'sell:c=16': the transposed matrix is stored in the same format, not as 'csr'");
  EXPECT_EQ(error_of("sell:c=16/sell:c=8:sigma=2"), "no error");
}

TEST(Recipe, IsTakenApart) {
  const Recipe recipe = parse_recipe("rcm+csr:merge-block:several=2/csr:vector4");
  EXPECT_EQ(recipe.order, Ordering::rcm);
  EXPECT_EQ(recipe.format, "csr:merge-block:several=2");
  EXPECT_EQ(recipe.transposed, "csr:vector4");
  EXPECT_EQ(parse_recipe("auto").format, "auto");
}

}  // namespace
}  // namespace weft::test
