#include "formats/bro_sell/bro_sell.hpp"

#include <gmock/gmock.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/bro_sell/testing.hpp"
#include "formats/testing.hpp"

namespace weft::bro_sell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(BroSell, WidthsAndCodes) {
  EXPECT_EQ(code_for(0), 0u);
  for (const std::uint32_t code : {1u, 2u, 3u}) {
    const std::uint32_t most = (1u << width_of(code)) - 1;
    EXPECT_EQ(code_for(most), code);
    EXPECT_EQ(code_for(most + 1), code + 1);
  }
  EXPECT_EQ(code_for(~0u), 4u);
  EXPECT_THAT((std::array{width_of(0), width_of(1), width_of(2), width_of(3), width_of(4)}),
              ElementsAre(0, 4, 8, 16, 32));
}

/// The example that README.md draws: three rows, of which the second has a column one to the right.
TEST(BroSell, TheExampleOfTheReadmeBitByBit) {
  const Csr<double> matrix = test::matrix_of(3, 40, {{0, 1, 20, 21, 30}, {1, 3, 21, 22, 31}, {2, 3, 22}});
  const Shape shape{.block = 1, .slice_rows = 8, .window = 1, .threads = 1, .pack = 1};
  const Pattern pattern = find_pattern(3, matrix.offsets, matrix.columns, 1);
  Part<double> part = measure_part(matrix, pattern, shape, {});
  finish_part(matrix, pattern, part, {});
  ASSERT_EQ(part.slices.size(), 1u);
  EXPECT_EQ(part.slices[0].width, 5);
  EXPECT_EQ(part.slices[0].marks, ragged);
  EXPECT_EQ(part.slices[0].codes, 0x01u);  // four bits in the first group, none in the second
  EXPECT_THAT(part.bases, ElementsAre(0, 1, 18, 1, 9, 0, 0, 0));
  // Eight lengths, then 16 bits a slot: rows 0 and 1 share a word, row 2 has the next.
  EXPECT_THAT(part.words, ElementsAre(5, 5, 3, 0, 0, 0, 0, 0, 0x00100100u, 0x00000100u, 0, 0));
}

std::vector<Shape> shapes_for(int block) {
  return {
      {.block = block, .slice_rows = 8, .window = 1, .threads = 1, .pack = 1},
      {.block = block, .slice_rows = 16, .window = 256, .threads = 1, .pack = 1},
      {.block = block, .slice_rows = 8, .window = 1, .threads = 1, .pack = 1, .runs = true},
      {.block = block, .slice_rows = 16, .window = 64, .threads = 1, .pack = 1, .runs = true},
      {.block = block, .slice_rows = 32, .window = 1, .threads = 1, .pack = 4, .may_widen = block == 1},
      {.block = block, .slice_rows = 32, .window = 64, .threads = 4, .pack = 4},
      {.block = block, .slice_rows = 32, .window = 1, .threads = 32, .pack = 4},
  };
}

template <class V>
void expect_entries(const std::map<std::pair<Index, Index>, V>& entries, const Csr<V>& matrix) {
  ASSERT_EQ(static_cast<Offset>(entries.size()), matrix.nonzeros());
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      const auto found = entries.find({row, matrix.columns[i]});
      ASSERT_NE(found, entries.end()) << "row " << row << " column " << matrix.columns[i];
      ASSERT_EQ(found->second, matrix.values[i]);
    }
}

TEST(BroSell, EveryEntryIsStoredOnce) {
  const BuildOptions lenient{.device = Device::cpu(), .parameters = {{"padding", 1000000}}};
  for (const auto& [name, matrix] : test::awkward())
    for (const int block : {1, 2, 3, 4, 5, 6}) {
      if (matrix.rows % block != 0 || matrix.cols % block != 0) continue;
      for (const Shape& shape : shapes_for(block)) {
        SCOPED_TRACE(name + ", b = " + std::to_string(block) + ", C = " + std::to_string(shape.slice_rows) +
                     ", t = " + std::to_string(shape.threads));
        const Pattern pattern = find_pattern(matrix.rows, matrix.offsets, matrix.columns, block);
        Part<double> part = measure_part(matrix, pattern, shape, {});
        finish_part(matrix, pattern, part, lenient);
        std::map<std::pair<Index, Index>, double> entries;
        ASSERT_NO_FATAL_FAILURE(test::decode(part, entries));
        ASSERT_NO_FATAL_FAILURE(expect_entries(entries, matrix));
      }
    }
}

TEST(BroSell, BothPartsTogetherHoldTheMatrix) {
  for (const auto& [name, matrix] : test::awkward()) {
    SCOPED_TRACE(name);
    const Storage<double> storage = build_storage<double>(matrix, {.device = Device::cpu()});
    std::map<std::pair<Index, Index>, double> entries;
    ASSERT_NO_FATAL_FAILURE(test::decode(storage.blocks, entries));
    ASSERT_NO_FATAL_FAILURE(test::decode(storage.singles, entries));
    ASSERT_NO_FATAL_FAILURE(expect_entries(entries, matrix));
  }
}

TEST(BroSell, BlocksAreSeenAndUsedWhereTheySaveBytes) {
  for (int b = 2; b <= 6; ++b) {
    const Csr<double> full = test::blocky(b, 300, 300, 8, 0, 1);
    EXPECT_EQ(block_for<double>(full, {.device = Device::cpu()}), b);
    const Storage<double> storage = build_storage<double>(full, {.device = Device::cpu()});
    EXPECT_EQ(storage.blocks.rows, 300);
    EXPECT_EQ(storage.blocks.masked_slices, 0);
    EXPECT_EQ(storage.singles.rows, 0);
  }
  const Csr<double> none = test::blocky(1, 300, 300, 8, 0, 2);
  EXPECT_EQ(block_for<double>(none, {.device = Device::cpu()}), 1);

  // A gap here and there costs a mask; hardly any entries left cost more than their columns.
  const Csr<double> few = test::blocky(3, 300, 300, 8, 1, 3);
  EXPECT_GT(build_storage<double>(few, {.device = Device::cpu()}).blocks.masked_slices, 0);
  const Csr<double> many = test::blocky(3, 300, 300, 8, 85, 3);
  const Storage<double> singles = build_storage<double>(many, {.device = Device::cpu(), .parameters = {{"block", 3}}});
  EXPECT_LT(singles.blocks.rows, 90);  // those with no entry, or with one: their slices cost little in any way
  EXPECT_GT(singles.singles.rows, 600);
  for (const auto& [name, matrix] : test::awkward()) {
    if (name != "blocks in some rows") continue;
    const Storage<double> both = build_storage<double>(matrix, {.device = Device::cpu(), .parameters = {{"block", 3}}});
    EXPECT_GT(both.blocks.rows, 50);
    EXPECT_GT(both.singles.rows, 200);
  }
}

TEST(BroSell, WhatASliceTakesIsWhatIsCounted) {
  // Whichever way split_by_bytes decides, the other way is not smaller.
  for (const int missing : {2, 8, 15, 30}) {
    const Csr<double> matrix = test::blocky(3, 96, 96, 9, missing, 5);
    const auto bytes = [&](const Storage<double>& s) {
      std::size_t sum = 0;
      for (const Part<double>* part : {&s.blocks, &s.singles})
        sum += part->slices.bytes() + part->bases.bytes() + part->words.bytes() + part->values.bytes();
      return sum;
    };
    const auto with = [&](int block) {
      return bytes(
          build_storage<double>(matrix, {.device = Device::cpu(), .parameters = {{"block", block}, {"sigma", 1}}}));
    };
    EXPECT_LE(with(3), with(1)) << missing << " of 100 entries missing";
  }
}

TEST(BroSell, TheOperatorSaysHowItStores) {
  const auto details = [](const std::string& format, const std::string& matrix) {
    return plan(generate<double>(matrix), {.format = format}).info().details;
  };
  EXPECT_THAT(details("bro-sell", "gen:elasticity3d:6"), HasSubstr("3 x 3 blocks, C = 8"));
  EXPECT_THAT(details("bro-sell:block=1", "gen:elasticity3d:6"), ::testing::StartsWith("C = 8"));
  EXPECT_THAT(details("bro-sell:block=2", "gen:poisson2d:5"), ::testing::StartsWith("C = 8"));  // 25 rows: no blocks
}

template <class T>
bool same(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

void expect_same(const Part<double>& built, const Part<double>& expected) {
  EXPECT_EQ(built.rows, expected.rows);
  EXPECT_TRUE(same(built.order, expected.order));
  EXPECT_TRUE(same(built.slices, expected.slices));
  EXPECT_TRUE(same(built.bases, expected.bases));
  EXPECT_TRUE(same(built.words, expected.words));
  EXPECT_TRUE(same(built.values, expected.values));
  EXPECT_EQ(built.masked_slices, expected.masked_slices);
  EXPECT_EQ(built.wide, expected.wide);
  EXPECT_EQ(built.equally_wide, expected.equally_wide);
}

/// All awkward matrices on the CPU, with every instruction set: x is NaN where no entry reads it.
template <Value V>
void expect_only_entries_meet_x(const std::string& format) {
  const Isa before = isa();
  for (auto& [name, matrix] : test::awkward()) {
    if (matrix.cols > 2000000) continue;  // x would be large
    std::vector<bool> is_read(static_cast<std::size_t>(matrix.cols));
    for (const Index column : matrix.columns) is_read[static_cast<std::size_t>(column)] = true;
    Array<V> values(matrix.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<V>(matrix.values[i]);
    const Csr<V> own{matrix.rows, matrix.cols, matrix.offsets, matrix.columns, std::move(values)};
    std::vector<V> x(is_read.size()), y(static_cast<std::size_t>(matrix.rows), V(3)), expected(y);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = is_read[i] ? static_cast<V>(i % 5) - V(2) : std::numeric_limits<V>::quiet_NaN();
    reference_apply<V>(Op::none, V(2), own, x, V(-1), expected);
    for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
      if (!isa_available(isa)) continue;
      set_isa(isa);
      std::vector<V> result = y;
      plan(own, {.format = format}).apply(Op::none, V(2), x, V(-1), result);
      EXPECT_EQ(result, expected) << name << ", " << format << ", " << to_string(isa);  // small whole numbers
    }
  }
  set_isa(before);
}

TEST(BroSell, OnlyEntriesMeetXWithEveryInstructionSet) {
  for (const char* choice : {"", ":block=1", ":block=2", ":block=3:sigma=64", ":runs=0"}) {
    expect_only_entries_meet_x<double>("bro-sell:padding=1000000" + std::string(choice));
    expect_only_entries_meet_x<float>("bro-sell:padding=1000000" + std::string(choice));
  }
}

Storage<double> with_runs(const Csr<double>& matrix, bool runs = true) {
  return build_storage<double>(matrix, {.device = Device::cpu(), .parameters = {{"runs", runs}}});
}

TEST(BroSell, AStencilIsRunsThatAreStoredOnce) {
  const Storage<double> nodes = with_runs(generate<double>("gen:elasticity3d:16"));
  Index repeated = 0;
  for (const Slice& slice : nodes.blocks.slices) {
    EXPECT_TRUE(slice.marks & in_runs);
    repeated += (slice.marks & repeats) != 0;
  }
  EXPECT_EQ(repeated, 0);  // the two slices of a line of 16 nodes have their ends apart
  EXPECT_EQ(nodes.blocks.bases.size(), 0u);

  const Storage<double> line = with_runs(generate<double>("gen:poisson2d:400"));
  repeated = 0;
  for (const Slice& slice : line.singles.slices) repeated += (slice.marks & repeats) != 0;
  EXPECT_GT(repeated, 40 * 400);
  EXPECT_LT(line.singles.words.size(), 20u * 3 * 400);
}

TEST(BroSell, SlicesThatAreNotAlikeArePacked) {
  const Csr<double> uneven = test::blocky(1, 500, 500, 9, 0, 1);
  for (const Slice& slice : with_runs(uneven).singles.slices) EXPECT_FALSE(slice.width > 2 && slice.marks & in_runs);
  const Csr<double> alike = generate<double>("gen:poisson2d:40");
  for (const Slice& slice : with_runs(alike, false).singles.slices) EXPECT_FALSE(slice.marks & in_runs);
  // Sorted rows that still follow each other are runs; what is padded stays within its limit.
  const Csr<double> holes = test::banded(3, 700, 700, {-40, -1, 0, 1, 5, 40}, 6, 3);
  const Storage<double> sorted =
      build_storage<double>(holes, {.device = Device::cpu(), .parameters = {{"sigma", 64}, {"block", 3}}});
  int runs = 0, packed = 0;
  for (const Slice& slice : sorted.blocks.slices) (slice.marks & in_runs ? runs : packed)++;
  EXPECT_GT(runs, 0);
  EXPECT_GT(packed, 0);
}

TEST(BroSell, IsTheSameForAnyNumberOfThreads) {
  const Csr<double> matrix = test::banded(2, 9000, 9000, {-40, -1, 0, 1, 5, 40}, 9, 3);
  const int before = threads();
  set_threads(1);
  const Storage<double> one = with_runs(matrix);
  for (const int count : {2, 5}) {
    set_threads(count);
    expect_same(with_runs(matrix).blocks, one.blocks);
  }
  set_threads(before);
}

Storage<double> built_on(const MatrixSource<double>& source, const BuildOptions& options) {
  return WEFT_ON_DEVICE(options.device, bro_sell::build_storage<double>)(source, options);
}

/// The same on the CPU, cut for a GPU.
Part<double> cut_for_gpu(const Csr<double>& matrix, const Part<double>& like, const BuildOptions& options) {
  if (like.rows == 0) return {};
  const Pattern pattern = find_pattern(matrix.rows, matrix.offsets, matrix.columns, like.shape.block);
  Part<double> part = measure_part(matrix, pattern, like.shape,
                                   like.rows == pattern.rows && like.shape.window > 1 ? Array<Index>() : like.order);
  finish_part(matrix, pattern, part, options);
  return part;
}

class BroSellOnDevices : public ::testing::TestWithParam<weft::test::Place> {};
INSTANTIATE_TEST_SUITE_P(Places, BroSellOnDevices, ::testing::ValuesIn(weft::test::places()),
                         [](const auto& place) { return weft::test::name_of(place.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BroSellOnDevices);

TEST_P(BroSellOnDevices, SetUpIsThatOfTheCpuBitByBit) {
  const weft::test::PlaceScope scope(GetParam());
  const BuildOptions plain{.device = GetParam().device};
  for (const auto& [name, matrix] : test::awkward()) {
    std::vector<std::map<std::string, std::int64_t>> choices{{}, {{"block", 1}, {"sigma", 64}}, {{"t", 8}}};
    if (name.find(" x ") != std::string::npos) choices.push_back({{"block", name[0] - '0'}, {"t", 4}});
    for (const auto& parameters : choices) {
      SCOPED_TRACE(name + ", choice " + std::to_string(&parameters - choices.data()));
      BuildOptions options = plain;
      options.parameters = parameters;
      options.parameters["padding"] = 1000000;
      const Storage<double> built = built_on(matrix, options);
      expect_same(built.blocks, cut_for_gpu(matrix, built.blocks, options));
      expect_same(built.singles, cut_for_gpu(matrix, built.singles, options));
      std::map<std::pair<Index, Index>, double> entries;
      ASSERT_NO_FATAL_FAILURE(test::decode(built.blocks, entries));
      ASSERT_NO_FATAL_FAILURE(test::decode(built.singles, entries));
      ASSERT_NO_FATAL_FAILURE(expect_entries(entries, matrix));
    }
  }
}

TEST_P(BroSellOnDevices, RowsAreSplitAsOnTheCpu) {
  const weft::test::PlaceScope scope(GetParam());
  int split = 0;
  for (const int missing : {3, 20, 45})
    for (const int threads : {1, 4}) {
      const Csr<double> matrix = test::blocky(3, 150, 150, 9, missing, static_cast<unsigned>(missing));
      const BuildOptions options{.device = GetParam().device,
                                 .parameters = {{"block", 3}, {"t", threads}, {"sigma", 64}, {"padding", 1000000}}};
      const Storage<double> built = built_on(matrix, options);
      const Pattern pattern = find_pattern(matrix.rows, matrix.offsets, matrix.columns, 3);
      const Shape shape{.block = 3, .slice_rows = 32, .window = 64, .threads = threads, .pack = 4};
      const Split expected = split_by_bytes(matrix, pattern, measure_part(matrix, pattern, shape, {}));
      SCOPED_TRACE(std::to_string(missing) + " of 100 entries missing, t = " + std::to_string(threads));
      EXPECT_EQ(built.singles.rows, static_cast<Index>(3 * expected.singles.size()));
      if (!expected.singles.empty()) {
        EXPECT_TRUE(same(built.blocks.order, expected.blocks));
      }
      split += !expected.singles.empty() && !expected.blocks.empty();
    }
  EXPECT_GT(split, 0);
}

TEST_P(BroSellOnDevices, ArraysOnTheDeviceAreNotFetched) {
  const weft::test::PlaceScope scope(GetParam());
  const Device device = GetParam().device;
  const Csr<double> singles = generate<double>("gen:poisson2d:40");
  const Csr<double> blocks = generate<double>("gen:elasticity3d:6");
  const Csr<double> gaps = test::blocky(3, 150, 150, 12, 20, 7);
  for (const Csr<double>* matrix : {&singles, &blocks, &gaps}) {
    weft::test::expect_same_from_device<Offset>("bro-sell", device, *matrix);
    weft::test::expect_same_from_device<std::int32_t>("bro-sell:block=3:sigma=64", device, *matrix);
  }
}

/// All awkward matrices and all choices against the reference, before and after new values; small whole numbers, so
/// that sums are exact.
void expect_products(Device device, const std::vector<std::string>& choices) {
  for (auto& [name, matrix] : test::awkward()) {
    if (matrix.cols > 2000000) continue;  // x would be large
    for (const std::string& choice : choices)
      for (const int vectors : {1, 6}) {
        const std::string format = "bro-sell:padding=1000000" + choice;
        SCOPED_TRACE(name + ", " + format + ", " + std::to_string(vectors) + " vectors");
        Csr<double> own = matrix;
        own.values = matrix.values.clone();
        Plan<double> planned = plan(own, {.device = device, .format = format});
        const auto rows = static_cast<std::size_t>(own.rows), cols = static_cast<std::size_t>(own.cols);
        std::vector<double> x(cols * static_cast<std::size_t>(vectors)), expected(rows);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 11) - 5;
        for (const bool updated : {false, true}) {
          if (updated) {
            for (std::size_t i = 0; i < own.values.size(); ++i) own.values[i] = static_cast<double>(i % 5) - 2;
            planned.update_values(own.values);
          }
          const std::vector<double> y = weft::test::product(planned, device, x, rows, vectors);
          for (int j = 0; j < vectors; ++j) {
            reference_apply<double>(Op::none, 2.0, own,
                                    std::span<const double>(x).subspan(static_cast<std::size_t>(j) * cols, cols), 0.0,
                                    expected);
            for (std::size_t r = 0; r < rows; ++r)
              ASSERT_EQ(y[static_cast<std::size_t>(j) * rows + r], expected[r]) << "row " << r << " vector " << j;
          }
        }
      }
  }
}

TEST(BroSell, EveryBlockSizeMultiplies) {
  expect_products(Device::cpu(),
                  {"", ":block=1", ":block=2", ":block=3", ":block=4", ":block=5", ":block=6:sigma=1", ":runs=0"});
}

TEST_P(BroSellOnDevices, EveryBlockSizeMultiplies) {
  const weft::test::PlaceScope scope(GetParam());
  expect_products(GetParam().device, {"", ":block=1:t=4", ":block=1:sigma=64", ":t=32"});
}

/// x is infinite in every column that no row of a block row has an entry in, so that whatever is read for padding or
/// for a gap of a block shows.
void expect_gaps_meet_no_x(Device device, const std::string& format) {
  for (int b = 1; b <= 6; ++b) {
    // Every block has its first column but not its last; single entries are never in the last column.
    Csr<double> matrix = test::blocky(b, 80, 80, 7, 0, 4);
    std::vector<std::set<Index>> rows(static_cast<std::size_t>(matrix.rows));
    for (Index r = 0; r < matrix.rows; ++r)
      for (Offset i = matrix.offsets[r]; i < matrix.offsets[r + 1]; ++i)
        if (matrix.columns[i] % 6 != 5 && (b == 1 || matrix.columns[i] != 4 * b - 1))
          rows[static_cast<std::size_t>(r)].insert(matrix.columns[i]);
    matrix = test::matrix_of(matrix.rows, matrix.cols, rows);
    std::vector<bool> used(static_cast<std::size_t>(matrix.cols));
    for (const Index column : matrix.columns) used[static_cast<std::size_t>(column)] = true;
    std::vector<double> x(static_cast<std::size_t>(matrix.cols), 1.0);
    for (std::size_t c = 0; c < x.size(); ++c)
      if (!used[c]) x[c] = std::numeric_limits<double>::infinity();
    Plan<double> planned = plan(matrix, {.device = device, .format = format + std::to_string(b)});
    for (const double element : weft::test::product(planned, device, x, static_cast<std::size_t>(matrix.rows), 1))
      EXPECT_TRUE(std::isfinite(element)) << format << b;
  }
}

TEST(BroSell, GapsAndPaddingMeetNoX) { expect_gaps_meet_no_x(Device::cpu(), "bro-sell:block="); }

TEST_P(BroSellOnDevices, GapsAndPaddingMeetNoX) {
  const weft::test::PlaceScope scope(GetParam());
  expect_gaps_meet_no_x(GetParam().device, "bro-sell:block=");
}

TEST_P(BroSellOnDevices, EquallyWideSlicesMultiply) {
  const weft::test::PlaceScope scope(GetParam());
  for (Index width = 1; width <= 17; ++width) {
    std::vector<std::set<Index>> rows(1000);
    for (Index r = 0; r < 1000; ++r)
      for (Index k = 0; k < width - (r == 40); ++k) rows[static_cast<std::size_t>(r)].insert(r + k * (3 + r % 2));
    const Csr<double> matrix = test::matrix_of(1000, 1200, rows);
    Plan<double> planned = plan(matrix, {.device = GetParam().device, .format = "bro-sell"});
    std::vector<double> x(1200), expected(1000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 7) - 3;
    reference_apply<double>(Op::none, 2.0, matrix, x, 0.0, expected);
    EXPECT_EQ(weft::test::product(planned, GetParam().device, x, 1000, 1), expected) << "width " << width;
  }
}

}  // namespace
}  // namespace weft::bro_sell
