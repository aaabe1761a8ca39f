#include <gtest/gtest.h>

#include <cstring>
#include <ostream>

#include "formats/csr/testing.hpp"
#include "formats/csr/tuning.hpp"
#include "reference.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

/// The paper's W, S and B.
struct Shape {
  int width = 4, tiles = 8, bunches = 8;
  int tile() const { return 32 * width; }
  int bunch() const { return tile() * tiles; }
};

std::string name_of(const Shape& shape) {
  return "W = " + std::to_string(shape.width) + ", S = " + std::to_string(shape.tiles) +
         ", B = " + std::to_string(shape.bunches);
}

constexpr int all_widths[] = {2, 4, 6, 8};
constexpr int all_bunches[] = {1, 2, 5, 8};

template <Value V>
std::unique_ptr<Operator<V>> build_speculative(Device device, const Csr<V>& matrix, const Shape& shape,
                                               const std::string& format = "csr:speculative") {
  csr::Tuning tuning;
  tuning.speculative.f32 = tuning.speculative.f64 = {shape.width, shape.tiles, shape.bunches};
  auto built = build_variant<V>(format, device, matrix, tuning);
  EXPECT_TRUE(built->info().details.starts_with(name_of(shape))) << built->info().details;
  return built;
}

template <Value V>
::testing::AssertionResult speculates_exactly(Device device, const RowWriter& rows, const Shape& shape, V beta,
                                              const std::string& format = "csr:speculative") {
  const Csr<V> matrix = integer_matrix<V>(rows.offsets());
  return multiplies_exactly<V>(*build_speculative<V>(device, matrix, shape, format), device, matrix, beta)
         << ", " << format << ", " << name_of(shape);
}

struct Case {
  Place place;
  int width = 0;
};

void PrintTo(const Case& one, std::ostream* out) { *out << "W = " << one.width << " on " << name_of(one.place); }

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return "W" + std::to_string(info.param.width) + "_" + name_of(info.param.place);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Place& place : places())
    for (const int width : all_widths) cases.push_back({place, width});
  return cases;
}

class Speculative : public ::testing::TestWithParam<Case> {
 protected:
  Device device() const { return GetParam().place.device; }
  int width() const { return GetParam().width; }

 private:
  PlaceScope scope_{GetParam().place};
};

/// Every position of a tile, or those beside the borders of its words of 32 and a few others.
std::vector<int> positions_of(int tile, bool every) {
  std::vector<int> positions;
  for (int p = 0; p < tile; ++p)
    if (every || (p + 1) % 32 < 3 || p % 11 == 5) positions.push_back(p);
  return positions;
}

/// One position a tile. As there are at least `positions.size()` bunches, each tile of a bunch meets each position. The
/// last bunch lacks `cut` entries.
RowWriter walk(Walked walked, const Shape& shape, const std::vector<int>& positions, Offset bunches, int cut) {
  const Offset entries = bunches * shape.bunch() - cut;
  RowWriter rows;
  for (Offset t = 0; t < bunches * shape.tiles; ++t) {
    // Neighbouring tiles have positions far apart, so that rows differ in length.
    const Offset turn = t / shape.tiles + t % shape.tiles * 5;
    const Offset entry = t * shape.tile() + positions[static_cast<std::size_t>(turn) % positions.size()];
    if (entry < entries) walk_to(rows, walked, entry);
  }
  if (walked == Walked::empty_among_short) rows.rows_up_to(entries, 1);
  if (rows.entries() < entries) rows.end_at(entries);
  return rows;
}

TEST_P(Speculative, EmptyRowsRowStartsAndRowEndsAnywhereInATileAndInABunch) {
  int turn = 0;
  for (const int tiles : {1, 2, 3, 8, 31})
    for (const Walked walked : all_walked) {
      ++turn;
      for (int b = 0; b < 4; ++b) {
        const Shape shape{width(), tiles, all_bunches[b]};
        const bool small = tiles <= 3, smaller = tiles <= 2 || (small && width() <= 4);
        // The emulator is slow: every position with one of the B, those that matter most with the others.
        const std::vector<int> positions = positions_of(shape.tile(), smaller && b == turn % 4);
        const auto count = static_cast<Offset>(positions.size());
        const Offset bunches = small ? count : std::max<Offset>(3, count / tiles + 2);
        const int cuts[] = {0, 1, tiles / 2 * shape.tile() + 33, shape.bunch() - 1};
        const RowWriter rows = walk(walked, shape, positions, bunches, cuts[b]);
        EXPECT_TRUE((turn + b) % 2 ? speculates_exactly<float>(device(), rows, shape, b % 2 ? -1.0f : 0.0f)
                                   : speculates_exactly<double>(device(), rows, shape, b % 2 ? 0.0 : -1.0))
            << name_of(walked);
      }
    }
}

/// What the walk does not meet: runs of empty rows of any length, and rows over many bunches.
std::vector<RowWriter> long_things(const Shape& shape) {
  const Offset tile = shape.tile(), bunch = shape.bunch();
  std::vector<RowWriter> all;
  all.push_back(RowWriter().row(1));
  all.push_back(RowWriter().row(tile));
  for (const int run : {1, 31, 32, 33, 1100}) {
    all.push_back(RowWriter().empty(run).rows_up_to(bunch + 5, 7));
    for (const Offset end : {tile, tile + 1, bunch - 1, 2 * bunch})
      all.push_back(RowWriter().rows_up_to(end, 7).empty(run));
  }
  for (const int run : {33, 1100})
    for (const Offset place : {Offset(1), tile - 1, tile, tile + 1, bunch - 1, bunch, bunch + 1})
      all.push_back(RowWriter().rows_up_to(place, 5).empty(run).rows_up_to(2 * bunch + tile / 2, 5));
  for (const Offset bunches : {2, shape.tiles == 1 ? 70 : 3})
    for (const Offset start : {Offset(0), Offset(1), bunch - 1, bunch})
      for (const Offset more : {0, 1}) {
        all.push_back(RowWriter().rows_up_to(start, 9).row(bunches * bunch + more).row(3).row(tile));
        all.push_back(RowWriter().rows_up_to(start, 9).empty(2).row(bunches * bunch + more).empty(40).row(3));
      }
  return all;
}

TEST_P(Speculative, LongRunsOfEmptyRowsAndRowsOverManyBunches) {
  for (const int tiles : {1, 3}) {
    const std::vector<RowWriter> things = long_things({width(), tiles, 1});
    for (std::size_t i = 0; i < things.size(); ++i) {
      const Shape shape{width(), tiles, all_bunches[i % 4]};
      EXPECT_TRUE(i % 3 == 0 ? speculates_exactly<float>(device(), things[i], shape, -1.0f)
                             : speculates_exactly<double>(device(), things[i], shape, i % 3 == 1 ? 0.0 : -1.0));
      EXPECT_TRUE(speculates_exactly<double>(device(), things[i], shape, i % 2 ? 0.0 : -1.0, "csr:speculative-cpu"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Speculative, ::testing::ValuesIn(all_cases()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Speculative);  // where there is neither a GPU nor the emulator

template <Value V>
void expect_same_bits_for_any_grid(Device device) {
  std::vector<Index> lengths;
  for (int i = 0; i < 4; ++i) lengths.insert(lengths.end(), {3, 0, 50, 1, 0, 0, 0, i == 2 ? 5500 : 390, 17, 9});
  const Csr<V> matrix = random_rows<V>(6000, lengths, 31);
  const Array<V> x = random_vector<V>(6000, 32), before = random_vector<V>(lengths.size(), 33);
  Array<V> first;
  for (const int bunches : all_bunches) {
    const auto built = build_speculative<V>(device, matrix, {4, 2, bunches});
    for (int repeat = 0; repeat < 20; ++repeat) {
      const PlaceScope scope({device, repeat});
      const Array<V> y = apply<V>(*built, device, V(1.5), x, V(0.75), before);
      if (first.empty()) {
        first = y;
        EXPECT_TRUE(equals_reference<V>(matrix, Op::none, V(1.5), x, V(0.75), before, y));
      }
      ASSERT_EQ(std::memcmp(first.data(), y.data(), y.bytes()), 0) << "B = " << bunches << ", repeat " << repeat;
    }
  }
}

TEST(SpeculativeSums, HaveTheSameBitsInEveryRepeatLaneOrderAndGrid) {
  for (const Device device : devices_with_kernels()) {
    SCOPED_TRACE(device.name());
    expect_same_bits_for_any_grid<float>(device);
    expect_same_bits_for_any_grid<double>(device);
  }
}

TEST(SpeculativeShape, ThatNoKernelIsCompiledForIsRefused) {
  const Csr<double> matrix = integer_matrix<double>({0, 5, 9});
  for (const Device device : devices_with_kernels())
    for (const Shape& shape : {Shape{0, 8, 8}, Shape{3, 8, 8}, Shape{10, 8, 8}, Shape{4, 0, 8}, Shape{4, 32, 8},
                               Shape{4, 8, 0}, Shape{4, 8, 9}})
      EXPECT_THROW(build_speculative<double>(device, matrix, shape), Error) << name_of(shape);
}

// Liu and Vinter, section 2.1: x = 1..6.
template <Value V>
void expect_six_by_six(const std::string& format, Device device) {
  const V a = 2, b = 3, c = 5, d = 7, e = 11, f = 13, g = 17, h = 19, i = 23, j = 29, k = 31, l = 37;
  const Csr<V> matrix = make_csr<V>(6, 6, {0, 3, 6, 8, 8, 9, 12}, {0, 2, 5, 0, 1, 2, 2, 4, 4, 2, 3, 4},
                                    {a, b, c, d, e, f, g, h, i, j, k, l});
  const V nan = std::numeric_limits<V>::quiet_NaN();
  const Array<V> y =
      apply<V>(*build_variant<V>(format, device, matrix), device, V(1), {1, 2, 3, 4, 5, 6}, V(0), Array<V>(6, nan));
  const std::vector<V> expected{a + 3 * b + 6 * c, d + 2 * e + 3 * f, 3 * g + 5 * h, 0, 5 * i, 3 * j + 4 * k + 5 * l};
  EXPECT_EQ(std::vector<V>(y.begin(), y.end()), expected) << format << " on " << device.name();
}

// Section 3.2, Figure 3: 12 rows, two of them empty; all entries of a row have its letter, and x is 1. The paper tells
// the lengths of the first row and of those from the fifth on.
template <Value V>
void expect_figure_3(const std::string& format, Device device) {
  const std::vector<Offset> offsets{0, 3, 8, 12, 19, 27, 29, 29, 34, 37, 37, 44, 48};
  const V a = 2, b = 3, c = 5, d = 7, e = 11, f = 13, g = 17, h = 19, i = 23, j = 29;
  const std::vector<V> letters{a, b, c, d, e, f, 0, g, h, 0, i, j};
  Csr<V> matrix = integer_matrix<V>(offsets);
  for (Index row = 0; row < 12; ++row)
    for (Offset entry = offsets[row]; entry < offsets[row + 1]; ++entry) matrix.values[entry] = letters[row];
  const V nan = std::numeric_limits<V>::quiet_NaN();
  const Array<V> y = apply<V>(*build_variant<V>(format, device, matrix), device, V(1),
                              Array<V>(static_cast<std::size_t>(matrix.cols), V(1)), V(0), Array<V>(12, nan));
  const std::vector<V> expected{3 * a, 5 * b, 4 * c, 7 * d, 8 * e, 2 * f, 0, 5 * g, 3 * h, 0, 7 * i, 4 * j};
  EXPECT_EQ(std::vector<V>(y.begin(), y.end()), expected) << format << " on " << device.name();
}

TEST(PaperExamples, AreMultipliedByMergeAndSpeculative) {
  for (const Device device : devices_with_kernels())
    for (const char* const format :
         {"csr:merge-narrow", "csr:merge-wide", "csr:merge-block", "csr:speculative", "csr:speculative-cpu"}) {
      expect_six_by_six<float>(format, device);
      expect_six_by_six<double>(format, device);
      expect_figure_3<float>(format, device);
      expect_figure_3<double>(format, device);
    }
}

}  // namespace
}  // namespace weft::test
