#include <numeric>

#include "sparse/as_stored.hpp"
#include "sparse/testing.hpp"

namespace weft {
namespace {

using testing::coo_of;
using testing::Dictionary;
using testing::dictionary_of;
using testing::Entry;
using testing::expect_error;
using testing::same_bits;
using testing::Threads;

/// Rows 1 and 3 are empty in the half; row 1 gets its only entries from below.
HalfCsr<double> small(Symmetry symmetry) {
  const double diagonal = symmetry == Symmetry::skew ? 0 : 7;
  return {{4, 4, {0, 1, 1, 4, 4}, {0, 0, 1, 2}, {diagonal, 3, -5, diagonal}}, symmetry};
}

TEST(Half, TheWholeOfASymmetricOneIsItsMirrorImage) {
  const Csr<double> matrix = whole(small(Symmetry::symmetric));
  EXPECT_EQ(check(matrix), "");
  EXPECT_EQ(matrix.symmetry, Symmetry::symmetric);
  const Dictionary<double> expected{{{0, 0}, 7}, {{0, 2}, 3}, {{1, 2}, -5}, {{2, 0}, 3}, {{2, 1}, -5}, {{2, 2}, 7}};
  EXPECT_TRUE(dictionary_of(matrix) == expected);
}

TEST(Half, TheWholeOfASkewOneChangesSignsAndKeepsStoredZeros) {
  const Csr<double> matrix = whole(small(Symmetry::skew));
  EXPECT_EQ(check(matrix), "");
  EXPECT_EQ(matrix.symmetry, Symmetry::skew);
  const Dictionary<double> expected{{{0, 0}, 0}, {{0, 2}, -3}, {{1, 2}, 5}, {{2, 0}, 3}, {{2, 1}, -5}, {{2, 2}, 0}};
  EXPECT_TRUE(dictionary_of(matrix) == expected);
  EXPECT_FALSE(std::signbit(matrix.values[0])) << "the diagonal is not mirrored";
}

TEST(Half, EmptyOnesAreFine) {
  EXPECT_EQ(whole(HalfCsr<float>{}).nonzeros(), 0);
  EXPECT_EQ(whole(HalfCsr<float>{{3, 3, Array<Offset>(4, 0), {}, {}}, Symmetry::skew}).rows, 3);
}

/// More entries than one thread takes at once, crowded into few rows and columns.
TEST(Half, LargeOnesGiveTheSameBitsForAnyNumberOfThreads) {
  std::vector<Entry<float>> entries = testing::random_entries<float>(3000, 3000, 200000, 3, 2.5);
  for (Entry<float>& entry : entries)
    if (entry.row < entry.column) std::swap(entry.row, entry.column);
  const Csr<float> lower = to_csr(coo_of(3000, 3000, entries));
  Dictionary<float> expected = dictionary_of(lower);
  for (const auto& [place, value] : dictionary_of(lower)) expected[{place.second, place.first}] = value;
  for (const int count : {1, 2, 5}) {
    const Threads used(count);
    const Csr<float> matrix = whole(HalfCsr<float>{lower, Symmetry::symmetric});
    EXPECT_EQ(check(matrix), "");
    EXPECT_TRUE(dictionary_of(matrix) == expected) << count << " threads";
    EXPECT_TRUE(same_bits(matrix, transpose(matrix)));
  }
}

TEST(Half, WhatIsNotOneIsRefused) {
  const auto refused = [](const std::string& words, HalfCsr<double> half) {
    expect_error(ErrorCode::invalid_matrix, {words}, [&] { whole(half); });
  };
  refused("without symmetry", small(Symmetry::general));
  refused("4 rows and 5 columns", {{4, 5, Array<Offset>(5, 0), {}, {}}, Symmetry::symmetric});
  refused("row 1 of a lower half has an entry above",
          {{3, 3, {0, 1, 3, 3}, {0, 0, 2}, {1, 1, 1}}, Symmetry::symmetric});
  refused("row 0 of a skew-symmetric matrix has a diagonal", {small(Symmetry::symmetric).lower, Symmetry::skew});
}

TEST(Half, AMatrixAsStoredGivesTheWholeEitherWay) {
  const Csr<double> matrix = whole(small(Symmetry::symmetric));
  EXPECT_TRUE(same_bits(whole(AsStored<double>(small(Symmetry::symmetric))), matrix));
  EXPECT_EQ(whole(AsStored<double>(matrix)).values.data(), matrix.values.data());
}

TEST(SymmetryMark, IsKeptWhereItStaysTrue) {
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::skew}) {
    const Csr<double> matrix = whole(small(symmetry));
    Array<Offset> positions;
    EXPECT_EQ(transpose(matrix).symmetry, symmetry);
    EXPECT_EQ(transpose(matrix, &positions).symmetry, symmetry);
    EXPECT_EQ(convert<float>(matrix).symmetry, symmetry);
    EXPECT_EQ(convert<double>(matrix).symmetry, symmetry);
    const std::vector<Index> order{2, 0, 3, 1}, other{0, 2, 3, 1};
    EXPECT_EQ(permute(matrix, order, order).symmetry, symmetry);
    EXPECT_EQ(permute(matrix, order, order, &positions).symmetry, symmetry);
    EXPECT_EQ(permute(matrix, {}, {}).symmetry, symmetry);
    EXPECT_EQ(permute(matrix, order, other).symmetry, Symmetry::general);
    EXPECT_EQ(permute(matrix, order, {}).symmetry, Symmetry::general);
    EXPECT_EQ(permute(matrix, {}, order).symmetry, Symmetry::general);
    EXPECT_EQ(to_csr(to_coo(matrix)).symmetry, Symmetry::general);
    EXPECT_EQ(make_csr<double>(4, 4, matrix.offsets, matrix.columns, matrix.values).symmetry, Symmetry::general);
  }
}

}  // namespace
}  // namespace weft
