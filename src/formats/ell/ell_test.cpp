#include "formats/ell/ell.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include <limits>
#include <optional>
#include <vector>

#include "formats/ell/tuning.hpp"
#include "formats/testing.hpp"

namespace weft::test {
namespace {

using ell::Shape;
using ell::Variant;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The example of section 3.2 of Yang, Li and Li (2017).
Csr<double> four_by_four() {
  return make_csr<double>(4, 4, {0, 2, 3, 6, 8}, {0, 2, 2, 0, 1, 3, 1, 3}, {1, 2, 7, 4, 5, 8, 1, 3});
}

struct Filled {
  std::vector<Index> columns;
  std::vector<double> values;
};

Shape shape_of(const Csr<double>& matrix, const BuildOptions& options, std::optional<Index> part_width = {}) {
  return ell::choose_shape(analyze_rows(matrix), sizeof(double), options, part_width);
}

Filled fill(const Shape& shape, const Csr<double>& matrix) {
  Filled filled{std::vector<Index>(static_cast<std::size_t>(shape.stored()), 77),
                std::vector<double>(static_cast<std::size_t>(shape.stored()), 77.0)};
  ell::fill(shape, matrix.offsets, matrix.columns.data(), matrix.values.data(), filled.columns.data(),
            filled.values.data());
  return filled;
}

/// The first `count` places of a step; all others must be padding.
template <class T>
std::vector<T> step_of(const Shape& shape, const std::vector<T>& places, Index step, int count, T padding) {
  const auto begin = places.begin() + step * shape.slots();
  for (auto place = begin + count; place < begin + shape.slots(); ++place) EXPECT_EQ(*place, padding);
  return {begin, begin + count};
}

TEST(EllFormat, TheExampleOfSection322IsStoredColumnByColumn) {
  const Csr<double> matrix = four_by_four();
  const Shape shape = shape_of(matrix, {.device = Device::cpu()});
  EXPECT_EQ(shape.width, 3);
  EXPECT_EQ(shape.steps(), 3);
  EXPECT_EQ(shape.slots(), 32);
  EXPECT_EQ(shape.padding(), 3 * 32 - 8);
  const Filled filled = fill(shape, matrix);
  EXPECT_EQ(step_of(shape, filled.columns, 0, 4, -1), (std::vector<Index>{0, 2, 0, 1}));
  EXPECT_EQ(step_of(shape, filled.columns, 1, 4, -1), (std::vector<Index>{2, -1, 1, 3}));
  EXPECT_EQ(step_of(shape, filled.columns, 2, 4, -1), (std::vector<Index>{-1, -1, 3, -1}));
  EXPECT_EQ(step_of(shape, filled.values, 0, 4, 0.0), (std::vector<double>{1, 7, 4, 1}));
  EXPECT_EQ(step_of(shape, filled.values, 1, 4, 0.0), (std::vector<double>{2, 0, 5, 3}));
  EXPECT_EQ(step_of(shape, filled.values, 2, 4, 0.0), (std::vector<double>{0, 0, 8, 0}));
}

TEST(EllFormat, TwoThreadsPerRowFindNeighboursInEachStep) {
  const Csr<double> matrix = four_by_four();
  const Shape shape = shape_of(matrix, {.device = Device::cpu(), .parameters = {{"t", 2}}});
  EXPECT_EQ(shape.variant, Variant::rt);
  EXPECT_EQ(shape.steps(), 2);
  const Filled filled = fill(shape, matrix);
  EXPECT_EQ(step_of(shape, filled.values, 0, 8, 0.0), (std::vector<double>{1, 2, 7, 0, 4, 5, 1, 3}));
  EXPECT_EQ(step_of(shape, filled.values, 1, 8, 0.0), (std::vector<double>{0, 0, 0, 0, 8, 0, 0, 0}));
  EXPECT_EQ(step_of(shape, filled.columns, 1, 8, -1), (std::vector<Index>{-1, -1, -1, -1, 3, -1, -1, -1}));
}

TEST(EllFormat, OnlyTheFirstEntriesOfEachRowAreStoredInAPart) {
  const Csr<double> matrix = four_by_four();
  const Shape shape = shape_of(matrix, {.device = Device::cpu()}, 2);
  EXPECT_EQ(shape.kept, 7);
  EXPECT_EQ(shape.padding(), 2 * 32 - 7);
  const Filled filled = fill(shape, matrix);
  EXPECT_EQ(step_of(shape, filled.values, 1, 4, 0.0), (std::vector<double>{2, 0, 5, 3}));
}

TEST(EllFormat, APartMultipliesTheFirstEntriesOfEachRow) {
  const Csr<double> matrix = four_by_four();
  for (const Device device : available_devices()) {
    const auto part = ell::build_part<double>(matrix, 2, {.device = device});
    const Array<double> x{1, 10, 100, 1000}, y{1, 2, 3, 4};
    EXPECT_THAT(apply(*part, device, 1.0, x, 1.0, y), ElementsAre(202, 702, 57, 3014)) << device.name();
    part->update_values(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1});
    EXPECT_THAT(apply(*part, device, 1.0, x, 0.0, y), ElementsAre(101, 100, 11, 1010)) << device.name();
    EXPECT_EQ(part->info().padding, 2 * 32 - 7);
  }
}

// Only build_part makes a part.
TEST(EllFormat, NoParameterSetsTheWidth) {
  const Csr<double> matrix = four_by_four();
  for (const Device device : available_devices())
    for (const char* name : {"width", "k"}) {
      const auto built = ell::format().build.get<double>()(matrix, {.device = device, .parameters = {{name, 2}}});
      EXPECT_THAT(built->info().details, HasSubstr("width 3")) << name << " on " << device.name();
    }
}

TEST(EllFormat, AMatrixOnADeviceStaysThere) {
  RowWriter rows;
  for (Offset length = 0; length < 400; ++length) rows.row(20 + length % 13).empty(length % 40 == 0);
  const auto matrix = integer_matrix<double>(rows.offsets());
  for (const Device device : devices_with_kernels())
    for (const char* way : {"ell", "ell:plain", "ell:r", "ell:t=4"}) {
      expect_same_from_device<Offset>(way, device, matrix);
      expect_same_from_device<std::int32_t>(way, device, matrix);
    }
}

TEST(EllFormat, SizesNearTheLimitsOfIndicesDoNotOverflow) {
  const Index most = std::numeric_limits<Index>::max();
  for (const int threads : {1, 2, 32}) {
    const Shape shape{.rows = most, .width = most, .threads = threads};
    EXPECT_EQ(shape.slots(), ((Offset(most) * threads + 31) / 32 | 1) * 32) << threads;
    EXPECT_EQ(shape.steps(), threads == 1 ? most : Index((Offset(1) << 31) / threads)) << threads;
    EXPECT_GT(shape.stored(), Offset(most) * most) << threads;
  }
}

Shape chosen(const std::vector<Offset>& offsets, BuildOptions options) {
  return shape_of(integer_matrix<double>(offsets), options);
}

TEST(EllFormat, LengthsAreStoredWherePaddingIsMore) {
  const BuildOptions cpu{.device = Device::cpu()};
  EXPECT_EQ(chosen(RowWriter().rows_up_to(700, 7).offsets(), cpu).variant, Variant::plain);
  // 100 rows: 33 entries of padding are 396 bytes, 34 are 408, and the lengths 400.
  EXPECT_EQ(chosen(RowWriter().rows_up_to(693, 7).rows_up_to(693 + 7, 7).offsets(), cpu).variant, Variant::plain);
  RowWriter few, many;
  few.rows_up_to(67 * 2, 2).rows_up_to(67 * 2 + 33, 1);
  many.rows_up_to(66 * 2, 2).rows_up_to(66 * 2 + 34, 1);
  EXPECT_EQ(chosen(few.offsets(), cpu).variant, Variant::plain);
  EXPECT_EQ(chosen(many.offsets(), cpu).variant, Variant::r);
}

TEST(EllFormat, FewLongRowsGetSeveralThreadsOnAGpu) {
  ell::Tuning tuning;
  tuning.enough_threads = 1000;
  tuning.entries_per_thread = 4;
  const auto threads = [&](Index rows, Offset length, const std::string& variant) {
    const Offset entries = rows * length;
    return chosen(RowWriter().rows_up_to(entries, length).offsets(),
                  {.device = Device::emulator(), .variant = variant, .tuning = tuning})
        .threads;
  };
  EXPECT_EQ(threads(1000, 64, ""), 1);
  EXPECT_EQ(threads(999, 64, ""), 2);
  EXPECT_EQ(threads(200, 64, ""), 8);
  EXPECT_EQ(threads(20, 63, ""), 8);  // 16 threads would have fewer than four entries each
  EXPECT_EQ(threads(20, 64, ""), 16);
  EXPECT_EQ(threads(20, 1000, ""), 32);
  EXPECT_EQ(threads(1000, 64, "rt"), 16);
  EXPECT_EQ(threads(1000, 7, "rt"), 1);
  EXPECT_EQ(threads(20, 64, "plain"), 1);
  EXPECT_EQ(threads(20, 64, "r"), 1);
}

std::string sentence_of(const Csr<double>& matrix, const std::string& format, ErrorCode code) {
  try {
    plan(matrix, {.format = format});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "none";
}

TEST(EllFormat, RefusesMuchPaddingWithTheBytesItWouldNeed) {
  // 1000 rows of 2 entries and one of 20000: 1024 x 20000 x 12 bytes for 22000 entries.
  const auto uneven = integer_matrix<double>(RowWriter().rows_up_to(2000, 2).row(20000).offsets());
  EXPECT_EQ(sentence_of(uneven, "ell", ErrorCode::unsupported),
            "ell needs 246 MB, 931 times the entries: allow ell:padding=931, or use hyb");
  EXPECT_THAT(sentence_of(uneven, "ell:padding=930", ErrorCode::unsupported), HasSubstr("ell needs 246 MB"));
  EXPECT_EQ(sentence_of(uneven, "ell:padding=931", ErrorCode::unsupported), "none");
  // 15.9 MB are never too much.
  const auto small = integer_matrix<double>(RowWriter().rows_up_to(2000, 2).row(1300).offsets());
  EXPECT_EQ(sentence_of(small, "ell:padding=1", ErrorCode::unsupported), "none");
}

TEST(EllFormat, ThreadsPerRowAreForOneVariant) {
  EXPECT_EQ(sentence_of(four_by_four(), "ell:r:t=4", ErrorCode::invalid_argument),
            "format 'ell:r' gives a row one thread; t is for ell:rt");
  EXPECT_EQ(sentence_of(four_by_four(), "ell:rt:t=4", ErrorCode::invalid_argument), "none");
  EXPECT_THAT(sentence_of(four_by_four(), "ell:width=2", ErrorCode::invalid_argument), HasSubstr("no parameter"));
}

const char* const ways[] = {"ell:plain", "ell:r", "ell:t=1", "ell:t=2", "ell:t=4", "ell:t=8", "ell:t=16", "ell:t=32"};

TEST(EllFormat, RowsOfEveryLengthBesideEachOther) {
  RowWriter rows;
  for (Offset length = 0; length < 70; ++length) rows.row(length).row(69 - length).empty(length % 3 == 0);
  const auto matrix = integer_matrix<double>(rows.offsets());
  const auto single = integer_matrix<float>(rows.offsets());
  std::vector<Place> all = places();
  all.push_back({Device::cpu()});
  for (const Place& place : all) {
    const PlaceScope scope(place);
    for (const std::string way : ways) {
      SCOPED_TRACE(way + " on " + name_of(place));
      for (const double beta : {0.0, 3.0}) {
        EXPECT_TRUE(
            multiplies_exactly<double>(*build_variant<double>(way, place.device, matrix), place.device, matrix, beta));
        EXPECT_TRUE(multiplies_exactly<float>(*build_variant<float>(way, place.device, single), place.device, single,
                                              static_cast<float>(beta)));
      }
    }
  }
}

/// A x into 50 elements, where x is the inside of `around`, without its first and last element.
Array<double> product_inside(Operator<double>& built, Device device, const Array<double>& around) {
  const std::size_t count = around.size() - 2;
  Array<double> y(50, std::numeric_limits<double>::quiet_NaN());
  if (device.is_cpu()) {
    built.apply({1.0, around.data() + 1, count, 0.0, y.data(), y.size(), 1}, {});
    return y;
  }
  DeviceBuffer<double> from(device, around), to(device, y);
  built.apply({1.0, from.data() + 1, count, 0.0, to.data(), y.size(), 1}, {});
  return to.download();
}

// Padding has a value of 0, and 0 times what stands at any place of x, or before it, might be NaN.
TEST(EllFormat, PaddingNeverMeetsX) {
  const double infinity = std::numeric_limits<double>::infinity();
  RowWriter rows;
  for (Offset row = 0; row < 50; ++row) rows.row(row % 7);
  Csr<double> matrix = integer_matrix<double>(rows.offsets());
  for (Index& column : matrix.columns) column += 1;  // nobody reads x[0] nor the last
  matrix.cols += 2;
  matrix.values[9] = 0;  // but a stored 0 is an entry
  Array<double> x(static_cast<std::size_t>(matrix.cols) + 2, 1.0);
  x[0] = x[1] = x[x.size() - 2] = x.back() = infinity;
  Array<double> other = x.clone();
  other[1 + matrix.columns[9]] = infinity;
  for (const Device device : available_devices())
    for (const std::string way : ways) {
      SCOPED_TRACE(way + " on " + device.name());
      const auto built = build_variant<double>(way, device, matrix);
      for (const double& y : product_inside(*built, device, x)) EXPECT_LT(y, 1000);
      const Array<double> y = product_inside(*built, device, other);
      for (Index row = 0; row < matrix.rows; ++row) {
        const bool has_it = matrix.offsets[row] <= 9 && 9 < matrix.offsets[row + 1];
        EXPECT_EQ(std::isnan(y[row]), has_it) << row;
      }
    }
}

}  // namespace
}  // namespace weft::test
