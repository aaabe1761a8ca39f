// Products with bce where only it can go wrong: borders of sub-blocks, threads per row, pieces of long rows, padding.
#include "formats/bce/bce.hpp"

#include <gmock/gmock.h>
#include <weft/plan.hpp>

#include <cmath>

#include "formats/bce/tuning.hpp"
#include "formats/testing.hpp"

namespace weft {
namespace {

using test::multiplies_exactly;
using ::testing::HasSubstr;

std::vector<Offset> offsets_of(const std::vector<Index>& lengths) {
  std::vector<Offset> offsets{0};
  for (const Index length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

template <Value V>
Csr<V> matrix_of(const std::vector<Index>& lengths) {
  return test::integer_matrix<V>(offsets_of(lengths));
}

/// Long rows begin early, so that small matrices have some.
bce::Tuning short_pieces() {
  bce::Tuning tuning;
  tuning.longest_row = 64;
  tuning.piece = 16;
  return tuning;
}

template <Value V>
std::unique_ptr<Operator<V>> build_bce(const Csr<V>& matrix, Device device, std::int64_t threads = 0,
                                       const std::any& tuning = {}) {
  BuildOptions options{.device = device, .tuning = tuning};
  if (threads > 0) options.parameters["t"] = threads;
  return bce::format().build.get<V>()(matrix, options);
}

class BceOnDevices : public ::testing::TestWithParam<test::Place> {
 protected:
  Device device() const { return GetParam().device; }
  test::PlaceScope scope_{GetParam()};
};

TEST_P(BceOnDevices, RowsAtTheBordersOfSubBlocks) {
  for (const std::size_t rows : {1u, 31u, 32u, 33u, 255u, 256u, 257u, 511u, 513u}) {
    const auto matrix = matrix_of<double>(std::vector<Index>(rows, 5));
    for (const double beta : {0.0, 3.0})
      EXPECT_TRUE(multiplies_exactly(*build_bce(matrix, device()), device(), matrix, beta)) << rows;
  }
}

TEST_P(BceOnDevices, EachNumberOfThreadsARow) {
  std::vector<Index> lengths;
  for (Index row = 0; row < 150; ++row) lengths.push_back(row % 67);
  const auto narrow = matrix_of<float>(lengths);
  const auto wide = matrix_of<double>(std::vector<Index>(lengths.begin(), lengths.begin() + 70));
  for (const std::int64_t threads : {1, 2, 4, 8, 16, 32}) {
    EXPECT_TRUE(multiplies_exactly(*build_bce(narrow, device(), threads), device(), narrow, 0.0f)) << threads;
    EXPECT_TRUE(multiplies_exactly(*build_bce(wide, device(), threads), device(), wide, 3.0)) << threads;
  }
}

TEST_P(BceOnDevices, LongRowsOfAnyLengthAroundTheBordersOfPieces) {
  for (const std::int64_t threads : {0, 1, 8})
    for (const Index length : {63, 64, 65, 79, 80, 81, 500}) {
      const auto matrix = matrix_of<double>({3, length, 0, 16, length, 1});
      for (const double beta : {0.0, 3.0})
        EXPECT_TRUE(multiplies_exactly(*build_bce(matrix, device(), threads, short_pieces()), device(), matrix, beta))
            << length << " entries, " << threads << " threads";
    }
}

TEST_P(BceOnDevices, OneHugeRowAmongMany) {
  std::vector<Index> lengths(700, 3);
  lengths[350] = 50'000;
  const auto matrix = matrix_of<float>(lengths);
  auto built = build_bce(matrix, device());
  EXPECT_TRUE(multiplies_exactly(*built, device(), matrix, 0.0f));
  EXPECT_THAT(built->info().details, HasSubstr("1 row in 49 pieces"));
}

TEST_P(BceOnDevices, SeveralVectorsWithPieces) {
  const auto matrix = matrix_of<double>({3, 200, 0, 70, 1, 65});
  auto built = build_bce(matrix, device(), 0, short_pieces());
  const auto cols = static_cast<std::size_t>(matrix.cols), rows = static_cast<std::size_t>(matrix.rows);
  for (const int count : {2, 3, 8}) {
    Array<double> x(cols * count), before(rows * count, 5.0), expected = before.clone();
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7);
    for (int j = 0; j < count; ++j)
      reference_apply<double>(Op::none, 2.0, matrix, {x.data() + j * cols, cols}, 3.0,
                              {expected.data() + j * rows, rows});
    DeviceBuffer<double> from(device(), x), to(device(), before);
    built->apply({2.0, from.data(), cols, 3.0, to.data(), rows, count}, {});
    const Array<double> y = to.download();
    EXPECT_TRUE(std::equal(y.begin(), y.end(), expected.begin())) << count;
  }
}

TEST_P(BceOnDevices, NewValuesReachEveryEntry) {
  auto matrix = matrix_of<float>({3, 200, 0, 70, 64, 1, 17});
  for (const std::int64_t threads : {0, 1, 4}) {
    auto built = build_bce(matrix, device(), threads, short_pieces());
    Csr<float> other = matrix;
    other.values = Array<float>(matrix.values.size());
    for (std::size_t k = 0; k < other.values.size(); ++k) other.values[k] = static_cast<float>(k % 13);
    built->update_values(other.values);
    EXPECT_TRUE(multiplies_exactly(*built, device(), other, 0.0f)) << threads;
  }
}

TEST_P(BceOnDevices, IsMadeFromArraysOnTheDevice) {
  std::vector<Index> lengths;
  for (Index row = 0; row < 400; ++row) lengths.push_back(row * 7 % 31);
  lengths[17] = 9000;  // in pieces
  const auto matrix = matrix_of<double>(lengths);
  for (const char* name : {"bce", "bce:t=4", "bce:fill=1"}) {
    test::expect_same_from_device<std::int32_t>(name, device(), matrix);
    test::expect_same_from_device<Offset>(name, device(), matrix);
  }
}

TEST_P(BceOnDevices, ReportsItsPaddingAndBytes) {
  const auto matrix = matrix_of<double>({4, 3, 3, 4});
  const OperatorInfo info = build_bce(matrix, device())->info();
  EXPECT_EQ(info.padding, 32 - 14);  // 4 x 4, and the next sub-block would begin at 32
  EXPECT_GE(info.bytes, 32 * 12u);
  EXPECT_EQ(info.details, "1 block of width 4, fill 2048, 1 thread per row");
}

INSTANTIATE_TEST_SUITE_P(Devices, BceOnDevices, ::testing::ValuesIn(test::places()),
                         [](const auto& test) { return test::name_of(test.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BceOnDevices);  // in a build without kernels

std::vector<double> product_of(const Csr<double>& matrix, const std::string& format, double beta = 0) {
  auto p = plan(matrix, {.format = format});
  std::vector<double> x(static_cast<std::size_t>(matrix.cols)), y(static_cast<std::size_t>(matrix.rows), 7.0);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(1 + i % 5);
  p.apply(1.0, x, beta, y);
  return y;
}

TEST(BceFormat, MultipliesAHandMadeMatrix) {
  // 0 1
  // 0 0
  // 2 3
  auto p = plan(make_csr<double>(3, 2, {0, 1, 1, 3}, {1, 0, 1}, {1, 2, 3}), {.format = "bce", .transpose = true});
  std::vector<double> x{10, 100}, y{-1, -1, -1};
  p.apply(x, y);
  EXPECT_EQ(y, (std::vector<double>{100, 0, 320}));
  p.apply(1.0, x, 2.0, y);
  EXPECT_EQ(y, (std::vector<double>{300, 0, 960}));
  std::vector<double> z{1, 5, 10}, w(2, 1.0);
  p.apply(Op::transpose, 1.0, z, 1.0, w);
  EXPECT_EQ(w, (std::vector<double>{21, 32}));
}

TEST(BceFormat, AllRowsEmpty) {
  const auto matrix = matrix_of<double>({0, 0, 0});
  EXPECT_EQ(product_of(matrix, "bce"), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(product_of(matrix, "bce", 2.0), (std::vector<double>{14, 14, 14}));
}

TEST(BceFormat, PaddingNeverMeetsAnInfinity) {
  // Columns 0 and 9 are in no row, but what padding would read if it were multiplied.
  Csr<double> matrix = make_csr<double>(9, 10, {0, 1, 3, 4, 7, 8, 10, 11, 12, 13},
                                        {1, 1, 2, 3, 4, 5, 6, 7, 7, 8, 2, 3, 4}, Array<double>(13, 1.0));
  for (const Device device : available_devices())
    for (const char* format : {"bce", "bce:t=1", "bce:t=4", "bce:t=32", "bce:fill=1"}) {
      auto p = plan(matrix, {.device = device, .format = format});
      Array<double> x(10, 1.0), y(9, 0.0);
      x[0] = x[9] = std::numeric_limits<double>::infinity();
      if (device.is_cpu()) {
        p.apply(x, y);
      } else {
        DeviceBuffer<double> from(device, x), to(device, y);
        p.apply(from, to);
        y = to.download();
      }
      for (Index row = 0; row < 9; ++row)
        EXPECT_EQ(y[row], double(matrix.offsets[row + 1] - matrix.offsets[row])) << format << " on " << device.name();
    }
}

TEST(BceFormat, AStoredZeroTimesInfinityIsNotANumber) {
  const auto matrix = make_csr<double>(2, 2, {0, 2, 3}, {0, 1, 0}, {0, 1, 1});
  for (const Device device : available_devices())
    for (const char* format : {"bce", "bce:t=2"}) {
      auto p = plan(matrix, {.device = device, .format = format});
      Array<double> x{std::numeric_limits<double>::infinity(), 1.0}, y(2, 0.0);
      if (device.is_cpu()) {
        p.apply(x, y);
      } else {
        DeviceBuffer<double> from(device, x), to(device, y);
        p.apply(from, to);
        y = to.download();
      }
      EXPECT_TRUE(std::isnan(y[0])) << format << " on " << device.name();
    }
}

// On the CPU rows longer than 16384 are cut into pieces of 4096.
TEST(BceFormat, LongRowsOnTheCpuHaveTheSameBitsForAnyThreads) {
  for (const Index length : {16384, 16385, 20480, 20481, 100'000}) {
    const auto matrix = matrix_of<double>({2, length, 0, 5, length});
    const std::vector<double> expected = product_of(matrix, "csr");
    for (const int count : {1, 2, 3}) {
      set_threads(count);
      EXPECT_EQ(product_of(matrix, "bce"), expected) << length;  // integers: exact in any order
      EXPECT_EQ(product_of(matrix, "bce:t=4"), expected) << length;
    }
    set_threads(0);
  }
}

TEST(BceFormat, RowsAtTheBordersOfSubBlocksOnTheCpu) {
  for (const std::size_t rows : {7u, 8u, 9u, 15u, 16u, 17u}) {
    std::vector<Index> lengths(rows, 5);
    lengths[rows / 2] = 3;
    const auto matrix = matrix_of<double>(lengths);
    for (const std::string format : {"bce", "bce:fill=1", "bce:t=2", "bce:t=16"})
      EXPECT_EQ(product_of(matrix, format, 2.0), product_of(matrix, "csr", 2.0)) << format << ", " << rows << " rows";
  }
}

TEST(BceFormat, IsNotTriedOnEvenRows) {
  const auto against = [](const std::vector<Index>& lengths, Device device) {
    return test::prediction_of(bce::format(), matrix_of<double>(lengths), device).against;
  };
  for (const Device device : {Device::cpu(), Device::emulator()}) {
    EXPECT_THAT(against({5, 5, 4, 5}, device), HasSubstr("even enough"));
    EXPECT_EQ(against({5, 5, 9, 5}, device), "");
  }
}

TEST(BceFormat, SaysHowItGroupsTheRows) {
  EXPECT_EQ(plan(matrix_of<double>({1, 1, 9, 0}), {.format = "bce:fill=1"}).info().details,
            "2 blocks of widths 1 9, fill 1, 1 thread per row");
  EXPECT_EQ(plan(matrix_of<double>({1, 2, 3, 4, 5, 6}), {.format = "bce:fill=1:t=2"}).info().details,
            "6 blocks of widths 1 2 ... 6, fill 1, 2 threads per row");
  EXPECT_EQ(plan(matrix_of<double>({0}), {.format = "bce"}).info().details, "0 blocks, fill 8, 1 thread per row");
}

}  // namespace
}  // namespace weft
