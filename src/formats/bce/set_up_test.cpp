// The arrays of bce: the paper's examples, sub-blocks, threads per row, pieces of long rows, and the set-up on a GPU.
#include <gmock/gmock.h>

#include "formats/bce/testing.hpp"
#include "formats/csr/testing.hpp"
#include "structures.hpp"

namespace weft::bce {
namespace {

using test::random_rows;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

/// As the paper stores it: by columns, one thread per row, nothing aligned.
Settings plain_settings() {
  Settings settings;
  settings.group = 1;
  settings.alignment = 1;
  settings.threads = 1;
  return settings;
}

TEST(BceLayout, NumbersGiveTheSameOnADeviceOfAnotherSize) {
#ifndef WEFT_HAS_EMULATOR
  GTEST_SKIP() << "this build has no emulator";
#endif
  Settings large;
  large.threads_to_fill = 132 * 2048;
  large.rows_to_fill = 700;
  const std::vector<LengthCount> lengths{{3, 1000}, {40, 500}, {300, 200}};
  const Layout layout = make_layout(lengths, {}, large);
  const Settings small = settings_for({.device = Device::emulator(), .parameters = numbers_of(layout, large)});
  const Layout again = make_layout(lengths, {}, small);
  EXPECT_EQ(again.partition, layout.partition);
  EXPECT_THAT(again.threads, ElementsAreArray(layout.threads));
  Settings same = large;
  same.threads_to_fill = small.threads_to_fill;
  EXPECT_THAT(make_layout(lengths, {}, same).threads, ::testing::Not(ElementsAreArray(layout.threads)))
      << "the size of the device matters";
}

TEST(BceFormat, PiecesAreNotLongerThanRowsThatAreCut) {
  EXPECT_THROW(settings_for({.device = Device::cpu(), .parameters = {{"longest", 8}, {"piece", 9}}}), Error);
  EXPECT_EQ(settings_for({.device = Device::cpu(), .parameters = {{"longest", 8}}}).piece, 8);
}

Csr<double> paper_matrix() {  // section 5.1
  return make_csr<double>(
      10, 10, {0, 2, 5, 6, 8, 15, 16, 19, 23, 29, 31},
      {0, 4, 2, 3, 6, 1, 3, 4, 0, 1, 3, 5, 7, 8, 9, 6, 2, 3, 7, 1, 3, 6, 8, 0, 1, 3, 5, 6, 9, 2, 5},
      {3, 1, 9, -1, 7, 4, 12, 3, -1, 8, 2, 5, 2, 7, 9, -6, 6, 4, 3, 2, 5, 8, 1, 2, 1, 5, 3, 7, 4, 3, 7});
}

TEST(BceSetUp, GivesTheArraysOfThePapersFigure5) {
  Settings settings = plain_settings();
  settings.boundaries = {2, 4};
  const Csr<double> matrix = paper_matrix();
  const Storage<double> storage = set_up(matrix, settings);
  EXPECT_EQ(check(storage, matrix, settings), "");
  EXPECT_THAT(to_vector(storage.row_numbers), ElementsAre(0, 2, 3, 5, 9, 1, 6, 7, 4, 8));
  EXPECT_THAT(to_vector(storage.layout.block_rows), ElementsAre(0, 5, 8, 10));
  EXPECT_THAT(to_vector(storage.widths), ElementsAre(2, 4, 7));
  EXPECT_THAT(to_vector(storage.positions), ElementsAre(0, 10, 22, 36));
  EXPECT_THAT(to_vector(storage.full_widths), ElementsAre(1, 3, 6));
  EXPECT_THAT(to_vector(storage.values),
              ElementsAreArray({3.,  4., 12., -6., 3., 1., 0., 3., 0., 7.,                           // rows 1 3 4 6 10
                                9.,  6., 2.,  -1., 4., 5., 7., 3., 8., 0., 0., 1.,                   // rows 2 7 8
                                -1., 2., 8.,  1.,  2., 5., 5., 3., 2., 7., 7., 4., 9., 0.}));        // rows 5 9
  EXPECT_THAT(to_vector(storage.columns), ElementsAreArray({0, 1, 3, 6, 2, 4, -1, 4, -1, 5,          //
                                                            2, 2, 1, 3, 3, 3, 6,  7, 6,  -1, -1, 8,  //
                                                            0, 0, 1, 1, 3, 3, 5,  5, 7,  6,  8,  9, 9, -1}));
}

TEST(BceSetUp, OneBlockIsTheEllOfThePapersSection3) {
  Settings settings = plain_settings();
  settings.boundaries = {3};
  const auto matrix = make_csr<double>(4, 4, {0, 2, 3, 6, 8}, {0, 2, 2, 0, 1, 3, 1, 3}, {1, 2, 7, 4, 5, 8, 1, 3});
  const Storage<double> storage = set_up(matrix, settings);
  EXPECT_THAT(to_vector(storage.widths), ElementsAre(3));
  EXPECT_THAT(to_vector(storage.values), ElementsAre(1, 7, 4, 1, 2, 0, 5, 3, 0, 0, 8, 0));
  EXPECT_THAT(to_vector(storage.columns), ElementsAre(0, 2, 0, 1, 2, -1, 1, 3, -1, -1, 3, -1));
}

TEST(BceSetUp, TwoThreadsARowReadNeighbours) {
  Settings settings = plain_settings();
  settings.boundaries = {3};
  settings.threads = 2;
  const auto matrix = make_csr<double>(3, 4, {0, 3, 3, 5}, {0, 1, 3, 0, 2}, {1, 2, 3, 4, 5});
  const Storage<double> storage = set_up(matrix, settings);
  EXPECT_THAT(to_vector(storage.row_numbers), ElementsAre(0, 2, 1));
  EXPECT_THAT(to_vector(storage.widths), ElementsAre(4, 0));
  EXPECT_THAT(to_vector(storage.values), ElementsAre(1, 2, 4, 5, 3, 0, 0, 0));
  EXPECT_THAT(to_vector(storage.columns), ElementsAre(0, 1, 0, 2, 3, -1, -1, -1));
}

TEST(BceSetUp, StoredZerosAreEntriesAndNotPadding) {
  const auto matrix = make_csr<double>(2, 3, {0, 2, 3}, {0, 2, 1}, {0, 5, 0});
  const Storage<double> storage = set_up(matrix, plain_settings());
  EXPECT_THAT(to_vector(storage.columns), ElementsAre(0, 1, 2, -1));
}

TEST(BceSetUp, BlocksAreCutAtTheLanesOfASubBlock) {
  for (const Index rows : {255, 256, 257, 512, 513}) {
    Settings settings = plain_settings();
    const auto matrix = random_rows<float>(40, std::vector<Index>(static_cast<std::size_t>(rows), 3));
    const Storage<float> storage = set_up(matrix, settings);
    EXPECT_EQ(storage.layout.sub_blocks(), (rows + 255) / 256);
    EXPECT_EQ(check(storage, matrix, settings), "");
    settings.threads = 8;
    EXPECT_EQ(set_up(matrix, settings).layout.sub_blocks(), (rows + 31) / 32);
  }
}

TEST(BceSetUp, ASubBlockIsNoWiderThanItsLongestRow) {
  std::vector<Index> lengths(512, 5);
  lengths[300] = 9;
  Settings settings = plain_settings();
  settings.boundaries = {9};
  const auto matrix = random_rows<double>(50, lengths);
  EXPECT_THAT(to_vector(set_up(matrix, settings).widths), ElementsAre(5, 9));
}

TEST(BceSetUp, EmptyRowsComeLastAndTakeNoEntries) {
  const auto matrix = random_rows<double>(10, {0, 2, 0, 2, 0});
  const Storage<double> storage = set_up(matrix, plain_settings());
  EXPECT_THAT(to_vector(storage.row_numbers), ElementsAre(1, 3, 0, 2, 4));
  EXPECT_THAT(to_vector(storage.widths), ElementsAre(2, 0));
  EXPECT_THAT(to_vector(storage.positions), ElementsAre(0, 4, 4));
}

TEST(BceSetUp, LongRowsAreCutIntoPieces) {
  Settings settings = plain_settings();
  settings.longest_row = 8;
  settings.piece = 4;
  for (const Index length : {8, 9, 11, 12, 13, 40}) {
    const auto matrix = random_rows<double>(50, {2, length, 0, 3, length});
    const Storage<double> storage = set_up(matrix, settings);
    EXPECT_EQ(check(storage, matrix, settings), "") << length;
    const Offset pieces = length > 8 ? (length + 3) / 4 : 0;
    EXPECT_EQ(static_cast<Offset>(storage.layout.pieces.size()), 2 * pieces);
    EXPECT_EQ(storage.layout.long_rows(), length > 8 ? 2 : 0);
    if (length <= 8) continue;
    EXPECT_THAT(to_vector(storage.layout.piece_starts), ElementsAre(0, pieces, 2 * pieces));
    EXPECT_EQ(storage.layout.pieces[0], (Piece{2, 6}));
    EXPECT_EQ(storage.layout.pieces.back().end, matrix.nonzeros());
    EXPECT_EQ(storage.row_numbers[storage.layout.block_rows.back()], 1);
    EXPECT_EQ(storage.row_numbers.back(), 4);
  }
}

TEST(BceSetUp, NoThreadHasMoreThanItsShareOfTheMatrix) {
  Settings settings;
  settings.threads_to_fill = 1000;
  EXPECT_EQ(threads_per_row(64, 64'000, settings), 1);
  EXPECT_EQ(threads_per_row(65, 64'000, settings), 2);
  EXPECT_EQ(threads_per_row(129, 64'000, settings), 4);
  EXPECT_EQ(threads_per_row(513, 100'000'000, settings), 2);  // no share is more than 512
  EXPECT_EQ(threads_per_row(64, 64, settings), 16);           // and none less than 4
  EXPECT_EQ(threads_per_row(7, 7, settings), 1);
  EXPECT_EQ(threads_per_row(8, 8, settings), 2);
  EXPECT_EQ(threads_per_row(2048, 64'000, settings), 32);
  settings.threads = 4;
  EXPECT_EQ(threads_per_row(1, 1'000'000, settings), 4);
}

/// Row lengths of many kinds, with empty rows and long ones.
std::vector<Index> random_lengths(test::Dice& dice, Index cols) {
  std::vector<Index> lengths(static_cast<std::size_t>(dice.below(600)));
  const Index kind = dice.below(4), most = 1 + dice.below(kind == 0 ? 3 : 40);
  for (Index& length : lengths) {
    length = dice.below(most + 1);
    if (kind == 2 && dice.below(10) == 0) length = 0;
    if (kind == 3 && dice.below(50) == 0) length = dice.below(cols);
  }
  return lengths;
}

Settings random_settings(test::Dice& dice) {
  Settings settings;
  settings.rows_to_fill = 1 + dice.below(300);
  settings.threads = dice.below(2) ? 0 : 1 << dice.below(6);
  settings.group = 1 << dice.below(3);
  settings.longest_row = 10 + dice.below(100);
  settings.piece = 1 + dice.below(static_cast<Index>(settings.longest_row));
  settings.threads_to_fill = 1 + dice.below(4000);
  return settings;
}

TEST(BceSetUp, HoldsTheMatrixForRandomRowsAndSettings) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::Dice dice(seed);
    const auto matrix = random_rows<double>(300, random_lengths(dice, 300), seed);
    Settings settings = random_settings(dice);
    settings.lanes = 8 << dice.below(6);
    EXPECT_EQ(check(set_up(matrix, settings), matrix, settings), "") << seed;
  }
}

/// The arrays that a GPU's set-up gives otherwise than the CPU's.
template <Value V>
std::string differences_on(const test::Place& place, const Csr<V>& matrix, const Settings& settings) {
  const test::PlaceScope scope(place);
  return differences(set_up(matrix, settings),
                     WEFT_ON_DEVICE(place.device, bce::set_up<V>)(matrix, settings, place.device));
}

TEST(BceSetUp, OnAGpuGivesTheSameArrays) {
  for (const test::Place& place : test::places())
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      test::Dice dice(seed);
      const auto matrix = random_rows<double>(300, random_lengths(dice, 300), seed);
      EXPECT_EQ(differences_on(place, matrix, random_settings(dice)), "") << seed << ", " << name_of(place);
    }
}

TEST(BceSetUp, OnAGpuGroupsMoreBlocksThanOneDigitCounts) {
  std::vector<Index> lengths;
  for (Index length = 700; length > 0; --length) lengths.push_back(length);
  for (Index length = 1; length < 700; length += 3) lengths.push_back(length);
  Settings settings;
  settings.rows_to_fill = 1;
  const auto matrix = random_rows<float>(1000, lengths);
  ASSERT_GT(set_up(matrix, settings).layout.keys(), 512);
  for (const test::Place& place : test::places()) EXPECT_EQ(differences_on(place, matrix, settings), "");
}

TEST(BceSetUp, OnAGpuGroupsManyTiles) {
  std::vector<Index> lengths;
  for (Index row = 0; row < 20000; ++row) lengths.push_back(row * 7 % 5);
  const auto matrix = random_rows<float>(30, lengths);
  for (const test::Place& place : test::places()) EXPECT_EQ(differences_on(place, matrix, {}), "");
}

}  // namespace
}  // namespace weft::bce
