#include "formats/sell/sell.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <set>

#include "formats/testing.hpp"

namespace weft::sell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Random rows of the given lengths, with columns anywhere, or within `span` of a place that moves with the row.
Csr<double> rows_of(const std::vector<Index>& lengths, Index cols, Index span, unsigned seed) {
  std::mt19937 random(seed);
  Csr<double> matrix;
  matrix.rows = static_cast<Index>(lengths.size());
  matrix.cols = cols;
  matrix.offsets = Array<Offset>(lengths.size() + 1, 0);
  std::vector<Index> columns;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    const Index reach = std::min(cols, std::max(span, lengths[r]));
    const Index first = static_cast<Index>(static_cast<double>(cols - reach) * static_cast<double>(r) /
                                           static_cast<double>(std::max<std::size_t>(lengths.size() - 1, 1)));
    std::set<Index> row;
    while (static_cast<Index>(row.size()) < lengths[r])
      row.insert(first + static_cast<Index>(random() % static_cast<unsigned>(reach)));
    columns.insert(columns.end(), row.begin(), row.end());
    matrix.offsets[r + 1] = static_cast<Offset>(columns.size());
  }
  matrix.columns = Array<Index>(std::move(columns));
  matrix.values = Array<double>(matrix.columns.size());
  for (double& value : matrix.values) value = static_cast<double>(random() % 17) - 8;
  EXPECT_EQ(check(matrix), "");
  return matrix;
}

std::vector<Index> random_lengths(Index rows, Index most, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Index> lengths(static_cast<std::size_t>(rows));
  for (Index& length : lengths) length = static_cast<Index>(random() % static_cast<unsigned>(most + 1));
  return lengths;
}

/// What the comments of Storage promise, entry by entry.
template <Value V>
void expect_holds(const Storage<V>& storage, const Csr<V>& matrix) {
  const Index c = storage.shape.slice_rows;
  ASSERT_EQ(static_cast<Offset>(storage.slices.size()), (Offset(matrix.rows) + c - 1) / c);
  Offset padding = static_cast<Offset>(storage.values.size());
  for (Index slot = 0; slot < matrix.rows; ++slot) {
    const Index row = storage.order.empty() ? slot : storage.order[slot];
    const Slice& slice = storage.slices[slot / c];
    const Offset begin = matrix.offsets[row], length = matrix.offsets[row + 1] - begin;
    ASSERT_LE(length, slice.width);
    ASSERT_EQ(slice.width % storage.shape.threads, 0);
    ASSERT_EQ(slice.entry % slice_alignment, 0);
    for (Index k = 0; k < slice.width; ++k) {
      const Offset place = place_in_slice(slot % c, k, c, slice.width, storage.shape.group);
      ASSERT_LT(place, Offset(c) * slice.width);
      const std::uint16_t* narrow = storage.columns.data() + slice.column;
      Index column = 0;
      if (slice.base >= 0)
        column = narrow[place] == padding_column<std::uint16_t> ? -1 : slice.base + narrow[place];
      else
        std::memcpy(&column, narrow + 2 * place, sizeof column);
      ASSERT_EQ(column, k < length ? matrix.columns[begin + k] : -1) << "row " << row << " entry " << k;
      ASSERT_EQ(storage.values[slice.entry + place], k < length ? matrix.values[begin + k] : V(0));
      padding -= k < length;
    }
  }
  EXPECT_EQ(padding, static_cast<Offset>(storage.values.size()) - matrix.nonzeros());
}

const Shape shapes[] = {
    {.slice_rows = 4, .window = 1, .threads = 1, .group = 1},
    {.slice_rows = 8, .window = 64, .threads = 1, .group = 1},
    {.slice_rows = 32, .window = 1, .threads = 1, .group = 4, .may_widen = true},
    {.slice_rows = 32, .window = 256, .threads = 1, .group = 4, .may_widen = true},
    {.slice_rows = 7, .window = 100, .threads = 1, .group = 4},
    {.slice_rows = 64, .window = 1000, .threads = 1, .group = 4},
    {.slice_rows = 8, .window = 1, .threads = 8, .group = 8},
    {.slice_rows = 5, .window = 33, .threads = 2, .group = 2},
    {.slice_rows = 16, .window = 1, .threads = 32, .group = 32},
};

TEST(Sell, PlacesOfAGroupOfFour) {
  // Seven columns of three rows: a group of four, of two and of one.
  std::vector<Offset> places;
  for (Index k = 0; k < 7; ++k) places.push_back(place_in_slice(1, k, 3, 7, 4));
  EXPECT_THAT(places, ElementsAre(4, 5, 6, 7, 14, 15, 19));
  EXPECT_EQ(place_in_slice(2, 5, 3, 7, 1), 17);  // column-major
}

TEST(Sell, PlacesAreAllDifferent) {
  for (const int group : {1, 2, 4, 8})
    for (Index width = 0; width < 20; ++width)
      for (const Index rows : {1, 3, 4, 32}) {
        if (group == 8 && width % 8 != 0) continue;
        std::vector<bool> taken(static_cast<std::size_t>(width * rows));
        for (Index row = 0; row < rows; ++row)
          for (Index k = 0; k < width; ++k) {
            const auto place = static_cast<std::size_t>(place_in_slice(row, k, rows, width, group));
            ASSERT_LT(place, taken.size());
            ASSERT_FALSE(taken[place]);
            taken[place] = true;
          }
      }
}

// The shapes of the paper's Figure 1 (its matrix is only drawn; this one has five rows, too): SELL-2 needs a sixth row,
// and SELL-P with t = 2 pads every width to an even number.
TEST(Sell, ShapesOfThePapersFigureOne) {
  const Csr<double> matrix = rows_of({3, 1, 2, 4, 2}, 5, 5, 1);
  const auto widths = [&](const Shape& shape) {
    std::vector<Index> result;
    for (const Slice& slice : build_storage(matrix, shape, {}).slices) result.push_back(slice.width);
    return result;
  };
  EXPECT_THAT(widths({.slice_rows = 2, .group = 1}), ElementsAre(3, 4, 2));
  EXPECT_THAT(widths({.slice_rows = 2, .threads = 2, .group = 2}), ElementsAre(4, 4, 2));
  EXPECT_THAT(widths({.slice_rows = 5, .group = 1}), ElementsAre(4));              // ELLPACK
  EXPECT_THAT(widths({.slice_rows = 1, .group = 1}), ElementsAre(3, 1, 2, 4, 2));  // csr
  EXPECT_THAT(widths({.slice_rows = 2, .window = 5, .group = 1}), ElementsAre(4, 2, 1));
}

TEST(Sell, StorageHoldsEveryEntryOnce) {
  for (const Shape& shape : shapes)
    for (const Index rows : {0, 1, 31, 32, 33, 257})
      expect_holds(build_storage(rows_of(random_lengths(rows, 12, 3), 40, 40, 4), shape, {}),
                   rows_of(random_lengths(rows, 12, 3), 40, 40, 4));
}

TEST(Sell, SortsStablyInsideWindows) {
  const Csr<double> matrix = rows_of({1, 3, 3, 2, 0, 5, 1, 5, 2}, 6, 6, 1);
  const Array<Index> order = sorted_rows(matrix.offsets, matrix.rows, 4);
  EXPECT_EQ(std::vector<Index>(order.begin(), order.end()), (std::vector<Index>{1, 2, 3, 0, 5, 7, 6, 4, 8}));
}

TEST(Sell, AWindowWithOneHugeRowIsSortedToo) {
  std::vector<Index> lengths(50, 2);
  lengths[30] = 9000;
  const Csr<double> matrix = rows_of(lengths, 9000, 9000, 1);
  EXPECT_EQ(sorted_rows(matrix.offsets, matrix.rows, 50)[0], 30);
}

/// Two slices of four rows: in the first the columns span 65534, in the second one more.
Csr<double> slices_at_the_limit() {
  Csr<double> matrix;
  matrix.rows = 8;
  matrix.cols = 200000;
  matrix.offsets = {0, 1, 2, 2, 2, 3, 4, 4, 4};
  matrix.columns = {100, 100 + 65534, 100, 100 + 65535};
  matrix.values = {1, 2, 3, 4};
  return matrix;
}

TEST(Sell, ColumnsAreShortExactlyWhereTheyFit) {
  const Csr<double> matrix = slices_at_the_limit();
  const Storage<double> storage = build_storage(matrix, {.slice_rows = 4, .group = 4}, {});
  EXPECT_EQ(storage.slices[0].base, 100);
  EXPECT_EQ(storage.slices[1].base, -1);
  EXPECT_EQ(storage.short_slices, 1);
  expect_holds(storage, matrix);
}

TEST(Sell, NearlyEqualSlicesAreMadeEquallyWide) {
  std::vector<Index> lengths(32 * 100, 7);
  for (std::size_t r = 32; r < 64; ++r) lengths[r] = 6;
  const Shape shape{.slice_rows = 32, .group = 4, .may_widen = true};
  const Storage<double> storage = build_storage(rows_of(lengths, 300, 50, 1), shape, {});
  EXPECT_TRUE(storage.equally_wide);
  EXPECT_EQ(storage.slices[1].width, 7);
  EXPECT_EQ(storage.slices[99].entry, 99 * 7 * 32);
  expect_holds(storage, rows_of(lengths, 300, 50, 1));
  for (std::size_t r = 0; r < lengths.size() / 2; ++r) lengths[r] = 3;
  EXPECT_FALSE(build_storage(rows_of(lengths, 300, 50, 1), shape, {}).equally_wide);
}

TEST(Sell, RefusesTooMuchPaddingAndSaysHowMuch) {
  std::vector<Index> lengths(64, 1);
  lengths[0] = 100000;
  const Csr<double> matrix = rows_of(lengths, 100000, 100000, 1);
  try {
    plan(matrix, {.format = "sell:c=64"});
    FAIL() << "6.4 million entries for 100000";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("sell needs 64 MB, 64 times the entries: "));
    EXPECT_THAT(error.what(), HasSubstr("sell:padding="));
  }
  EXPECT_GT(plan(matrix, {.format = "sell:c=64:padding=100"}).info().padding, 6'000'000);
}

TEST(Sell, ChoosesBySight) {
  const auto chosen = [](const Csr<double>& matrix, Device device) {
    return choose_shape<double>(rows_to_cut(MatrixSource<double>(matrix), device), {.device = device});
  };
  // Rows of one length need no sorting; rows of two that alternate do.
  std::vector<Index> lengths(2000, 6);
  EXPECT_EQ(chosen(rows_of(lengths, 100, 100, 1), Device::gpu()).window, 1);
  for (std::size_t r = 0; r < lengths.size(); r += 2) lengths[r] = 2;
  EXPECT_EQ(chosen(rows_of(lengths, 100, 100, 1), Device::gpu()).window, 256);
  // Few long rows get several threads each.
  EXPECT_EQ(chosen(rows_of(std::vector<Index>(8, 900), 1000, 1000, 1), Device::gpu()).threads, 32);
  EXPECT_EQ(chosen(rows_of(std::vector<Index>(8, 900), 1000, 1000, 1), Device::cpu()).threads, 1);
}

TEST(Sell, IsRuledOutWhereALongRowMakesASliceOfPadding) {
  const auto ruled_out = [](Index longest) {
    std::vector<Index> lengths(20000, 6);
    lengths[77] = longest;
    return !test::prediction_of(format(), rows_of(lengths, 20000, 20000, 1), Device::emulator()).against.empty();
  };
  EXPECT_FALSE(ruled_out(6));
  EXPECT_FALSE(ruled_out(600));
  EXPECT_TRUE(ruled_out(9000));  // 32 * 9000 of 129,000
}

TEST(Sell, MultipliesWithTheLargestSlices) {
  const ParameterInfo c = format().info.parameters.front();
  ASSERT_EQ(c.name, "c");
  EXPECT_EQ(c.most, max_slice_rows);  // for which kernels have room
  const Csr<double> matrix = rows_of(random_lengths(200, 9, 3), 300, 300, 4);
  auto planned = plan(matrix, {.format = "sell:c=" + std::to_string(c.most)});
  std::vector<double> x(300), y(200), expected(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
  planned.apply(x, y);
  reference_apply<double>(Op::none, 1.0, matrix, x, 0.0, expected);
  EXPECT_EQ(y, expected);
}

class SellOnDevices : public ::testing::TestWithParam<test::Place> {};
INSTANTIATE_TEST_SUITE_P(Places, SellOnDevices, ::testing::ValuesIn(test::places()),
                         [](const auto& place) { return test::name_of(place.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SellOnDevices);

Storage<double> built_on(Device device, const MatrixSource<double>& source, const Shape& shape) {
  return WEFT_ON_DEVICE(device, sell::build_storage<double>)(source, shape, {.device = device});
}

template <class T>
bool same(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

TEST_P(SellOnDevices, SetUpIsThatOfTheCpuBitByBit) {
  const test::PlaceScope scope(GetParam());
  for (const Shape& shape : shapes)
    for (const Index rows : {0, 1, 33, 700})
      for (const Index span : {40, 90000}) {
        const Csr<double> matrix = rows_of(random_lengths(rows, 9, 5), 100000, span, 6);
        const Storage<double> expected = build_storage(matrix, shape, {});
        const Storage<double> built = built_on(GetParam().device, matrix, shape);
        EXPECT_TRUE(same(built.order, expected.order));
        EXPECT_TRUE(same(built.slices, expected.slices));
        EXPECT_TRUE(same(built.columns, expected.columns));
        EXPECT_TRUE(same(built.values, expected.values));
        EXPECT_EQ(built.equally_wide, expected.equally_wide);
        EXPECT_EQ(built.short_slices, expected.short_slices);
      }
}

TEST_P(SellOnDevices, ColumnsAreShortExactlyWhereTheyFit) {
  const test::PlaceScope scope(GetParam());
  const Shape shape{.slice_rows = 4, .group = 4};
  const Storage<double> built = built_on(GetParam().device, slices_at_the_limit(), shape);
  EXPECT_TRUE(same(built.slices, build_storage(slices_at_the_limit(), shape, {}).slices));
}

TEST_P(SellOnDevices, SortsWindowsOfAnySizeAsTheHostDoes) {
  const test::PlaceScope scope(GetParam());
  const Csr<double> matrix = rows_of(random_lengths(40000, 3, 5), 10, 10, 6);
  for (const Index window : {32768, 32769}) {  // sorted by a block, and on the host
    const Shape shape{.slice_rows = 32, .window = window, .group = 4};
    EXPECT_TRUE(same(built_on(GetParam().device, matrix, shape).order, sorted_rows(matrix.offsets, 40000, window)));
  }
}

TEST_P(SellOnDevices, IsMadeFromArraysOnTheDevice) {
  const test::PlaceScope scope(GetParam());
  const Device device = GetParam().device;
  const Csr<double> matrix = rows_of(random_lengths(700, 40, 11), 100000, 90000, 12);
  for (const char* name : {"sell", "sell:c=7:sigma=100", "sell:t=8", "sell:sigma=1"}) {
    test::expect_same_from_device<std::int32_t>(name, device, matrix);
    test::expect_same_from_device<Offset>(name, device, matrix);
  }
  const auto equal = rows_of(std::vector<Index>(700, 7), 1000, 60, 13);
  test::expect_same_from_device<Offset>("sell", device, equal);
}

// Of a large matrix, stretches of the offsets are enough.
TEST_P(SellOnDevices, ChoosesItsWindowByStretchesOfOffsetsOnTheDevice) {
  if (GetParam().lane_order > 0) GTEST_SKIP() << "no kernel runs";
  const Device device = GetParam().device;
  constexpr Index rows = 1000000;
  Array<Offset> offsets(rows + 1);
  offsets[0] = 0;
  for (Index row = 0; row < rows; ++row) offsets[row + 1] = offsets[row] + (row < rows / 2 ? 5 : row * 7 % 10);
  const DeviceBuffer<Offset> there(device, offsets);
  const BuildOptions options{.device = device};
  const Shape expected = choose_shape<double>({Device::cpu(), offsets.data(), rows, offsets[rows]}, options);
  const std::size_t before = simt::memory_use().downloaded;
  const Shape shape = choose_shape<double>({device, there.data(), rows, offsets[rows]}, options);
  EXPECT_EQ(shape.window, expected.window);
  EXPECT_GT(shape.window, 1);
  EXPECT_EQ(simt::memory_use().downloaded - before, 8u * (16384 + 1) * sizeof(Offset));
}

/// Rows of one to nine entries, none in column 0, where x is infinite: only padding could meet it. With many columns
/// these are of 32 bits.
template <class Apply>
void expect_padding_meets_no_x(const std::string& name, Device device, Index cols, Apply&& apply) {
  std::vector<Index> lengths(100);
  for (std::size_t r = 0; r < lengths.size(); ++r) lengths[r] = static_cast<Index>(1 + r * 7 % 9);
  Csr<double> matrix = rows_of(lengths, cols, cols, 2);
  for (Index& column : matrix.columns) ++column;
  ++matrix.cols;
  std::vector<double> x(static_cast<std::size_t>(matrix.cols), 1.0);
  x[0] = std::numeric_limits<double>::infinity();
  // A stored zero is no padding: it does meet it. This one ends the longest row of its slice.
  const auto longest = static_cast<Index>(std::ranges::max_element(lengths) - lengths.begin());
  const Offset last = matrix.offsets[longest + 1] - 1;
  matrix.values[last] = 0;
  const Index meets = matrix.columns[last];
  const auto y = apply(plan(matrix, {.device = device, .format = name}), x);
  for (const double element : y) EXPECT_TRUE(std::isfinite(element)) << name;
  x[static_cast<std::size_t>(meets)] = x[0];
  EXPECT_TRUE(std::isnan(apply(plan(matrix, {.device = device, .format = name}), x)[longest])) << name;
}

TEST(Sell, PaddingMeetsNoX) {
  for (const char* name : {"sell", "sell:c=4", "sell:c=7", "sell:c=32"})
    for (const Index cols : {60, 500000})
      expect_padding_meets_no_x(name, Device::cpu(), cols, [](auto planned, const std::vector<double>& x) {
        std::vector<double> y(100);
        planned.apply(x, y);
        return y;
      });
}

TEST_P(SellOnDevices, PaddingMeetsNoX) {
  const test::PlaceScope scope(GetParam());
  const Device device = GetParam().device;
  for (const char* name : {"sell:sigma=1", "sell:c=7", "sell:t=4"})
    for (const Index cols : {60, 500000})
      expect_padding_meets_no_x(name, device, cols, [&](auto planned, const std::vector<double>& x) {
        const DeviceBuffer<double> x_there(device, x);
        DeviceBuffer<double> y_there(device, 100);
        planned.apply(x_there, y_there);
        return y_there.download();
      });
}

TEST_P(SellOnDevices, EveryShapeMultiplies) {
  const test::PlaceScope scope(GetParam());
  const Device device = GetParam().device;
  for (const std::string name : {"sell", "sell:c=4", "sell:c=7", "sell:c=32:sigma=64", "sell:t=2", "sell:t=4:c=8",
                                 "sell:t=8:c=8:sigma=100", "sell:t=16", "sell:t=32:c=64"})
    for (const Index span : {60, 90000})
      for (const int vectors : {1, 3}) {
        const Csr<double> matrix = rows_of(random_lengths(321, 70, 7), 100000, span, 8);
        auto planned = plan(matrix, {.device = device, .format = name});
        const auto rows = static_cast<std::size_t>(matrix.rows), cols = static_cast<std::size_t>(matrix.cols);
        std::vector<double> x(cols * static_cast<std::size_t>(vectors)), expected(rows);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 11) - 5;
        const DeviceBuffer<double> x_there(device, x);
        DeviceBuffer<double> y_there(device, std::vector<double>(rows * static_cast<std::size_t>(vectors), NAN));
        planned.apply(Op::none, 2.0, DeviceVectors<const double>{x_there, vectors, cols}, 0.0,
                      DeviceVectors<double>{y_there, vectors, rows});
        const Array<double> y = y_there.download();
        for (int j = 0; j < vectors; ++j) {
          reference_apply<double>(Op::none, 2.0, matrix,
                                  std::span<const double>(x).subspan(static_cast<std::size_t>(j) * cols, cols), 0.0,
                                  expected);
          for (std::size_t r = 0; r < rows; ++r)
            ASSERT_EQ(y[static_cast<std::size_t>(j) * rows + r], expected[r]) << name << " row " << r;
        }
      }
}

TEST_P(SellOnDevices, EquallyWideSlicesMultiply) {
  const test::PlaceScope scope(GetParam());
  for (Index width = 1; width <= 17; ++width)
    for (const Index span : {60, 99000}) {
      if (span > 60 && width < 3) continue;  // by chance some slices could have short columns, others not
      std::vector<Index> lengths(1000, width);
      lengths[40] = width - 1;  // a row that ends early
      const Csr<double> matrix = rows_of(lengths, 100000, span, 9);
      auto planned = plan(matrix, {.device = GetParam().device, .format = "sell"});
      EXPECT_THAT(planned.info().details, HasSubstr("equally wide"));
      std::vector<double> x(100000), expected(1000);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
      const DeviceBuffer<double> x_there(GetParam().device, x);
      DeviceBuffer<double> y_there(GetParam().device, 1000);
      planned.apply(x_there, y_there);
      reference_apply<double>(Op::none, 1.0, matrix, x, 0.0, expected);
      const Array<double> y = y_there.download();
      for (std::size_t r = 0; r < 1000; ++r) ASSERT_EQ(y[r], expected[r]) << "width " << width << " row " << r;
    }
}

}  // namespace
}  // namespace weft::sell
