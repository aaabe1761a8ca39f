#include <weft/plan.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>
#include <weft/formats.hpp>
#include <weft/generate.hpp>

#include <sstream>
#include <vector>

#include "plan/build.hpp"
#include "plan/device_table.hpp"
#include "simt/memory_use.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;

Csr<double> tridiagonal(Index n) {
  Array<Offset> offsets(static_cast<std::size_t>(n) + 1);
  std::vector<Index> columns;
  std::vector<double> values;
  for (Index row = 0; row < n; ++row) {
    offsets[row] = static_cast<Offset>(columns.size());
    for (Index column = std::max(0, row - 1); column <= std::min(n - 1, row + 1); ++column) {
      columns.push_back(column);
      values.push_back(column == row ? 2 : -1);
    }
  }
  offsets[n] = static_cast<Offset>(columns.size());
  return make_csr<double>(n, n, offsets, Array<Index>(std::move(columns)), Array<double>(std::move(values)));
}

template <class F>
std::string error_of(F&& body, ErrorCode code) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(Plan, AutoTellsWhatItTriedAndWhy) {
  auto p = plan(tridiagonal(5000), {.products = 100000, .remember = false});
  const PlanInfo& info = p.info();
  ASSERT_GE(info.candidates.size(), formats().size());
  int chosen = 0;
  for (const Candidate& candidate : info.candidates) {
    EXPECT_FALSE(candidate.verdict.empty()) << candidate.format;
    chosen += candidate.verdict.starts_with("chosen");
  }
  EXPECT_EQ(chosen, 1);
  EXPECT_GT(info.product_seconds, 0);
  EXPECT_GE(info.planning_seconds, info.setup.total());
  EXPECT_GT(info.setup.encode, 0);
  std::ostringstream text;
  text << info;
  EXPECT_THAT(text.str(), HasSubstr(" on cpu, f64, 5000 x 5000, 14998 nonzeros"));
  EXPECT_THAT(text.str(), HasSubstr("tried csr: "));
  std::vector<double> x(5000, 1.0), y(5000, -1.0);
  p.apply(x, y);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[2500], 0);
}

TEST(Plan, AFewProductsDoNotPayForTrials) {
  const PlanInfo info = plan(tridiagonal(5000), {.products = 1}).info();
  int built = 0;
  for (const Candidate& candidate : info.candidates) built += candidate.built;
  EXPECT_EQ(built, 1);
  EXPECT_EQ(info.format, "csr:merge");
}

TEST(Plan, AFewProductsDoNotPayForALookAtTheMatrix) {
  EXPECT_EQ(plan(tridiagonal(5000), {.products = 15}).info().setup.facts, 0);
  EXPECT_GT(plan(tridiagonal(5000), {.products = 1000}).info().setup.facts, 0);
}

TEST(Plan, UnknownFormatNamesThoseThereAre) {
  const auto matrix = tridiagonal(3);
  std::string all = "auto";
  for (const FormatInfo& format : formats()) all += ", " + format.name;
  EXPECT_EQ(error_of([&] { plan(matrix, {.format = "ccs"}); }, ErrorCode::invalid_argument),
            "there is no format 'ccs'; there are: " + all);
  EXPECT_THAT(error_of([&] { plan(matrix, {.format = "csr:vector8"}); }, ErrorCode::unsupported),
              HasSubstr("does not run on cpu"));
  EXPECT_THAT(error_of([&] { plan(matrix, {.format = "csr:quick"}); }, ErrorCode::invalid_argument),
              HasSubstr("has no variant 'quick'"));
  EXPECT_THAT(error_of([&] { plan(matrix, {.products = 0}); }, ErrorCode::invalid_argument), HasSubstr("products"));
}

TEST(Plan, NumbersInAFormatsNameAreTakenOrRefused) {
  const FormatName name = parse_format("sell:c=16:sigma=300");
  EXPECT_EQ(name.format->name, "sell");
  EXPECT_EQ(name.variant, "");
  EXPECT_EQ(name.parameters, (std::map<std::string, std::int64_t>{{"c", 16}, {"sigma", 300}}));
  EXPECT_EQ(parse_format("ell:rt:t=4").variant, "rt");

  const auto matrix = tridiagonal(3);
  const auto refusal = [&](const std::string& format) {
    return error_of([&] { plan(matrix, {.format = format}); }, ErrorCode::invalid_argument);
  };
  EXPECT_EQ(refusal("sell:c=3"), "format 'sell': c must be a whole number from 4 to 64, not '3'");
  EXPECT_THAT(refusal("sell:c=65"), HasSubstr("from 4 to 64"));
  EXPECT_THAT(refusal("sell:c=8x"), HasSubstr("not '8x'"));
  EXPECT_THAT(refusal("sell:c="), HasSubstr("not ''"));
  EXPECT_THAT(refusal("sell:c=99999999999999999999"), HasSubstr("from 4 to 64"));
  EXPECT_THAT(refusal("sell:t=3"), HasSubstr("a power of two from 1 to 32"));
  EXPECT_THAT(refusal("sell:c=8:c=8"), HasSubstr("c is given twice"));
  EXPECT_THAT(refusal("sell:b=8"), HasSubstr("has no parameter 'b'; it has: c, sigma, t, runs, hubs, padding"));
  EXPECT_THAT(refusal("coo:c=8"), HasSubstr("it has: none"));
  EXPECT_THAT(refusal("ell:t=4:rt"), HasSubstr("'rt' is not PARAMETER=NUMBER"));
  EXPECT_THAT(refusal("sell:"), HasSubstr("has no variant ''"));
}

TEST(Plan, WrongLengthsSayBoth) {
  auto p = plan(tridiagonal(4), {.format = "csr"});
  std::vector<double> x(5), y(4);
  EXPECT_EQ(error_of([&] { p.apply(x, y); }, ErrorCode::invalid_argument), "x has 5 elements, but the matrix needs 4");
  EXPECT_THAT(error_of([&] { p.apply(Op::transpose, 1, y, 0, y); }, ErrorCode::invalid_argument),
              HasSubstr(".transpose = true"));
}

TEST(Plan, SeveralVectorsNeedRoomForTheLast) {
  auto p = plan(tridiagonal(4), {.format = "csr"});
  std::vector<double> x(13), y(12);
  const auto apply = [&](std::size_t x_size, std::size_t stride, int count) {
    p.apply(Op::none, 1, Vectors<const double>{std::span(x).first(x_size), count, stride}, 0,
            Vectors<double>{y, count, 4});
  };
  EXPECT_NO_THROW(apply(12, 4, 3));
  EXPECT_NO_THROW(apply(13, 4, 3));
  EXPECT_EQ(error_of([&] { apply(11, 4, 3); }, ErrorCode::invalid_argument),
            "x has 11 elements, but the matrix needs 12");
  EXPECT_THAT(error_of([&] { apply(12, 3, 3); }, ErrorCode::invalid_argument), HasSubstr("stride"));
  EXPECT_THAT(error_of([&] { apply(12, std::size_t(1) << 63, 3); }, ErrorCode::invalid_argument),
              HasSubstr("x has 12 elements"));
  EXPECT_THAT(error_of([&] { apply(12, 4, 0); }, ErrorCode::invalid_argument), HasSubstr("1 or more"));
}

TEST(Plan, RowMajorVectorsNeedRoomForTheLastRow) {
  auto p = plan(tridiagonal(4), {.format = "csr"});
  std::vector<double> x(20), y(20);
  const auto apply = [&](std::size_t x_size, std::size_t stride, int count) {
    p.apply(Op::none, 1, Vectors<const double>{std::span(x).first(x_size), count, stride, Layout::row_major}, 0,
            Vectors<double>{y, count, 3, Layout::row_major});
  };
  EXPECT_NO_THROW(apply(12, 3, 3));
  EXPECT_NO_THROW(apply(18, 5, 3));
  EXPECT_NO_THROW(apply(16, 5, 1));
  EXPECT_NO_THROW(apply(20, 5, 1));
  EXPECT_EQ(error_of([&] { apply(17, 5, 3); }, ErrorCode::invalid_argument),
            "x has 17 elements, but the matrix needs 18");
  EXPECT_EQ(error_of([&] { apply(15, 5, 1); }, ErrorCode::invalid_argument),
            "x has 15 elements, but the matrix needs 16");
  EXPECT_THAT(error_of([&] { apply(20, 2, 3); }, ErrorCode::invalid_argument), HasSubstr("stride between rows"));
  EXPECT_THAT(error_of([&] { apply(20, 0, 1); }, ErrorCode::invalid_argument), HasSubstr("stride between rows"));
  EXPECT_THAT(error_of([&] { apply(20, std::size_t(1) << 63, 3); }, ErrorCode::invalid_argument),
              HasSubstr("x has 20 elements"));
  EXPECT_THAT(error_of([&] { apply(20, ~std::size_t(0), 3); }, ErrorCode::invalid_argument),
              HasSubstr("x has 20 elements"));
  EXPECT_THAT(error_of([&] { apply(12, 3, 0); }, ErrorCode::invalid_argument), HasSubstr("1 or more"));
}

TEST(Plan, VectorsOfTwoLayoutsAreRefused) {
  auto p = plan(tridiagonal(4), {.format = "csr"});
  std::vector<double> x(8), y(8);
  EXPECT_THAT(
      error_of(
          [&] { p.apply(Op::none, 1, Vectors<const double>{x, 2, 2, Layout::row_major}, 0, Vectors<double>{y, 2, 4}); },
          ErrorCode::invalid_argument),
      HasSubstr("the same layout"));
}

TEST(Plan, ARowMajorVectorOfOneIsAStridedVector) {
  const Csr<double> matrix = tridiagonal(50);
  auto p = plan(matrix, {.format = "csr"});
  std::vector<double> x(150, -1e300), y(100, 7), plain(50), expected(50);
  for (std::size_t i = 0; i < 50; ++i) plain[i] = x[3 * i] = static_cast<double>(i % 5) - 2;
  reference_apply<double>(Op::none, 2, matrix, plain, 0, expected);
  p.apply(Op::none, 2, Vectors<const double>{x, 1, 3, Layout::row_major}, 0,
          Vectors<double>{y, 1, 2, Layout::row_major});
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(y[2 * i], expected[i]) << i;
    EXPECT_EQ(y[2 * i + 1], 7) << i;
  }
}

TEST(Plan, RowMajorVectorsMayBeRangesOfColumnsOfOneArray) {
  const Csr<double> matrix = tridiagonal(4);
  const Plan<double> p = plan(matrix, {.format = "csr"});
  std::vector<double> z(64, 1.0);
  const std::span<double> all(z);
  const auto refusal = [&](std::size_t x_begin, std::size_t x_stride, std::size_t y_begin, std::size_t y_stride,
                           int count) {
    const Vectors<const double> x{all.subspan(x_begin), count, x_stride, Layout::row_major};
    const Vectors<double> y{all.subspan(y_begin), count, y_stride, Layout::row_major};
    return error_of([&] { p.apply(Op::none, 1, x, 0, y); }, ErrorCode::invalid_argument);
  };
  const auto refused = HasSubstr("x and y overlap");
  for (std::size_t x = 0; x <= 6; ++x)
    for (std::size_t y = 0; y <= 6; ++y) {
      const bool apart = x + 2 <= y || y + 2 <= x;
      EXPECT_EQ(refusal(x, 8, y, 8, 2), apart ? "no error" : "x and y overlap; a product needs a y of its own")
          << x << ' ' << y;
    }
  EXPECT_THAT(refusal(0, 8, 9, 8, 2), refused) << "its rows begin one further on";
  EXPECT_THAT(refusal(7, 8, 0, 8, 2), refused) << "a row of x that reaches into the next one of y";
  EXPECT_EQ(refusal(0, 8, 26, 8, 2), "no error") << "the last row ends before";
  EXPECT_EQ(refusal(26, 8, 0, 8, 2), "no error");
  EXPECT_EQ(refusal(0, 8, 4, 4, 2), "x and y overlap; a product needs a y of its own");
  EXPECT_EQ(refusal(0, 8, 2, 4, 2), "no error") << "rows at 0, 8, 16, 24 and 2, 6, 10, 14";
  EXPECT_EQ(refusal(2, 4, 0, 8, 2), "no error");
  EXPECT_THAT(refusal(2, 5, 0, 8, 2), refused) << "rows at 2, 7, 12, 17 and 0, 8, 16, 24";
  EXPECT_THAT(refusal(0, 3, 3, 9, 1), refused) << "rows at 0, 3, 6, 9 and 3, 12, 21, 30";
}

TEST(Plan, HostVectorsForAnotherDeviceAreRefused) {
  for (const Device device : available_devices()) {
    if (device.is_cpu()) continue;
    auto p = plan(tridiagonal(4), {.device = device, .format = "csr"});
    std::vector<double> x(4), y(4);
    EXPECT_THAT(error_of([&] { p.apply(x, y); }, ErrorCode::invalid_argument), HasSubstr("x is on cpu"));
  }
}

TEST(Plan, AMissingGpuIsSaid) {
  if (why_no_gpu().empty()) GTEST_SKIP() << "there is a GPU here";
  EXPECT_THAT(error_of([&] { plan(tridiagonal(4), {.device = Device::gpu()}); }, ErrorCode::no_device),
              HasSubstr("no GPU: "));
}

TEST(Plan, OverlappingVectorsAreRefused) {
  const Plan<double> p = plan(tridiagonal(4), {.format = "csr"});
  std::vector<double> z(12, 1.0);
  const std::span<double> all(z);
  EXPECT_THAT(error_of([&] { p.apply(all.subspan(0, 4), all.subspan(3, 4)); }, ErrorCode::invalid_argument),
              HasSubstr("x and y overlap"));
  EXPECT_THAT(error_of([&] { p.apply(all.subspan(0, 4), all.subspan(0, 4)); }, ErrorCode::invalid_argument),
              HasSubstr("x and y overlap"));
  EXPECT_NO_THROW(p.apply(all.subspan(0, 4), all.subspan(4, 4)));
  // x, y, x in one array: interleaved, but apart.
  const auto apply = [&](std::size_t from) {
    p.apply(Op::none, 1, Vectors<const double>{all.subspan(0, 12), 2, 8}, 0, Vectors<double>{all.subspan(from), 2, 4});
  };
  EXPECT_THAT(error_of([&] { apply(4); }, ErrorCode::invalid_argument), HasSubstr("overlap"));
  std::vector<double> w(16);
  const std::span<double> half(w);
  EXPECT_NO_THROW(
      p.apply(Op::none, 1, Vectors<double>{half.subspan(0, 12), 2, 8}, 0, Vectors<double>{half.subspan(4, 12), 2, 8}));
}

TEST(Plan, APlanThatWasMovedFromThrows) {
  Plan<double> first = plan(tridiagonal(4), {.format = "csr"});
  Plan<double> second = std::move(first);
  std::vector<double> x(4), y(4);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  EXPECT_THAT(error_of([&] { first.apply(x, y); }, ErrorCode::invalid_argument), HasSubstr("moved from"));
  EXPECT_THAT(error_of([&] { first.update_values(x); }, ErrorCode::invalid_argument), HasSubstr("moved from"));
  EXPECT_THAT(error_of([&] { static_cast<void>(first.info()); }, ErrorCode::invalid_argument), HasSubstr("moved from"));
  EXPECT_THAT(error_of([&] { first.ordering(); }, ErrorCode::invalid_argument), HasSubstr("moved from"));
  // NOLINTEND(bugprone-use-after-move)
  EXPECT_NO_THROW(second.apply(x, y));
}

TEST(Plan, VectorsOfNumbersAreVectorsOfConstantNumbers) {
  std::vector<double> numbers(8);
  const Vectors<const double> constant = Vectors<double>{numbers, 2, 4};
  EXPECT_EQ(constant.data.data(), numbers.data());
  EXPECT_EQ(constant.count, 2);
  EXPECT_EQ(constant.stride, 4u);
}

TEST(Plan, IsALinearOperatorOnEveryDevice) {
  const Csr<double> matrix = tridiagonal(100);
  std::vector<double> x(100), expected(100);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
  reference_apply<double>(Op::none, 2, matrix, x, 0, expected);
  for (const Device device : available_devices()) {
    const Plan<double> p = plan(matrix, {.device = device, .format = "csr"});
    const LinearOperator<double>& anything = p;
    EXPECT_EQ(anything.rows(), 100);
    EXPECT_EQ(anything.device(), device);
    const Vector<double> in(device, x);
    Vector<double> out(device, 100);
    anything.apply(2, in, 0, out);
    const Array<double> y = out.download();
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], expected[i]) << device.name() << ' ' << i;
  }
}

TEST(Plan, HasNoMoreThanCsrAndTwoOtherFormatsOnADevice) {
  for (const Device device : available_devices()) {
    if (device.is_cpu()) continue;
    const auto matrix = generate<double>("gen:band:3000:31");
    // 32-bit offsets, columns and values.
    const std::size_t csr = matrix.bytes() - 4 * matrix.offsets.size();
    device_table(device);  // measuring it needs memory of its own
    simt::reset_peak();
    const std::size_t before = simt::memory_use().allocated;
    const Plan<double> p = plan(matrix, {.device = device, .products = 100'000'000, .remember = false});
    int built = 0;
    for (const Candidate& candidate : p.info().candidates) built += candidate.built;
    EXPECT_GE(built, 2) << p.info();
    EXPECT_LE(static_cast<double>(simt::memory_use().peak - before), 3.2 * static_cast<double>(csr)) << device.name();
  }
}

TEST(Plan, SetUpTimesHaveTheSamePartsForEveryFormat) {
  for (const Device device : available_devices())
    for (const FormatInfo& format : formats()) {
      const PlanInfo info = plan(tridiagonal(3000), {.device = device, .format = format.name}).info();
      EXPECT_GE(info.planning_seconds, info.setup.total()) << format.name;
      EXPECT_GT(info.setup.encode, 0) << format.name;
      EXPECT_EQ(info.setup.order, 0) << format.name;
      EXPECT_EQ(info.setup.upload > 0, !device.is_cpu()) << format.name << " on " << device.name();
      EXPECT_EQ(info.setup.partition > 0, format.name == "ehyb") << format.name;
    }
}

// A host span cannot go where a device reads, nor the other way round.
template <class X, class Y>
concept applies = requires(Plan<double>& p, X x, Y y) { p.apply(x, y); };
static_assert(applies<std::span<const double>, std::span<double>>);
static_assert(applies<DeviceSpan<const double>, DeviceSpan<double>>);
static_assert(!applies<std::span<const double>, DeviceSpan<double>>);
static_assert(!applies<DeviceSpan<const double>, std::span<double>>);
static_assert(!applies<std::span<const float>, std::span<double>>);

TEST(Plan, APartitionMustBeOfTheRows) {
  const Csr<double> matrix = tridiagonal(4);
  const auto refusal = [&](Partition wrong) {
    const PlanOptions options{.format = "csr", .partition = std::make_shared<Partition>(std::move(wrong))};
    return error_of([&] { plan(matrix, options); }, ErrorCode::invalid_argument);
  };
  EXPECT_EQ(refusal({2, {0, 1, 1}}), "the partition is of 3 rows, but the matrix has 4");
  EXPECT_THAT(refusal({2, {0, 1, 2, 0}}), HasSubstr("in part 2"));
  const PlanOptions right{.format = "csr", .partition = std::make_shared<Partition>(Partition{2, {0, 1, 1, 0}})};
  EXPECT_EQ(plan(matrix, right).info().format.substr(0, 3), "csr");
}

TEST(Plan, APartitionFollowsTheOrderOfTheRows) {
  const auto given = std::make_shared<const Partition>(Partition{3, {0, 2, 1, 0}});
  EXPECT_EQ(in_order(given, {}), given);
  EXPECT_EQ(in_order(nullptr, {3, 2, 0, 1}), nullptr);
  const auto moved = in_order(given, {3, 2, 0, 1});
  EXPECT_EQ(moved->parts, 3);
  EXPECT_THAT(std::vector<Index>(moved->part_of.begin(), moved->part_of.end()), ::testing::ElementsAre(0, 1, 0, 2));
}

TEST(Plan, CoordinatesMustBeOfTheRowsOrOfNodes) {
  const Csr<double> matrix = tridiagonal(4);
  const auto refusal = [&](Coordinates given) {
    const PlanOptions options{.format = "csr", .coordinates = std::make_shared<Coordinates>(std::move(given))};
    return error_of([&] { plan(matrix, options); }, ErrorCode::invalid_argument);
  };
  EXPECT_EQ(
      refusal({1, {0.0, 1.0, 2.0}}),
      "there are coordinates of 3 points, but the matrix has 4 rows; give a point per row, or per node of equally "
      "many rows");
  EXPECT_THAT(refusal({1, {0.0, 1.0, 2.0, std::nan("")}}), HasSubstr("must be finite, but point 3 has"));
  EXPECT_EQ(refusal({1, {0.0, 1.0, 2.0, 3.0}}), "no error");
  EXPECT_EQ(refusal({3, {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}}), "no error");
}

TEST(Plan, CoordinatesFollowTheOrderOfTheRows) {
  const auto per_row = std::make_shared<const Coordinates>(Coordinates{2, {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5}});
  EXPECT_EQ(points_in_order(per_row, {}), per_row);
  EXPECT_EQ(points_in_order(nullptr, {3, 2, 0, 1}), nullptr);
  const auto moved = points_in_order(per_row, {3, 2, 0, 1});
  EXPECT_EQ(moved->dimensions, 2);
  EXPECT_THAT(std::vector<double>(moved->points.begin(), moved->points.end()),
              ::testing::ElementsAre(3.0, 3.5, 2.0, 2.5, 0.0, 0.5, 1.0, 1.5));
  const auto per_node = std::make_shared<const Coordinates>(Coordinates{1, {7.0, 8.0}});
  const auto rows = points_in_order(per_node, {3, 1, 0, 2});
  EXPECT_THAT(std::vector<double>(rows->points.begin(), rows->points.end()),
              ::testing::ElementsAre(8.0, 7.0, 7.0, 8.0));
}

}  // namespace
}  // namespace weft
