#include "formats/csr/row_groups.hpp"

#include <gtest/gtest.h>
#include <weft/plan.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

using Kind = csr::ChunkShape::Kind;
using RowLength = std::function<Offset(Index)>;

Array<Offset> offsets_of(Index rows, const RowLength& length) {
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, 0);
  for (Index row = 0; row < rows; ++row) offsets[row + 1] = offsets[row] + length(row);
  return offsets;
}

/// Numbers from `least` to `most` that cannot be guessed but are the same in every run.
RowLength uneven(Offset least, Offset most) {
  return [=](Index row) {
    std::minstd_rand draws(static_cast<unsigned>(row) + 1);
    draws.discard(3);
    return least + static_cast<Offset>(draws() >> 8) % (most - least + 1);
  };
}

struct Grouped {
  Array<csr::Chunk> chunks;
  csr::RowGroups groups;
};

Grouped group(Index rows, const Array<Offset>& offsets) {
  Grouped result{csr::cut_into_chunks(rows, offsets, 1000), {}};
  result.groups = csr::group_rows(rows, offsets, result.chunks);
  return result;
}

/// How many chunks of such rows have each kind.
std::vector<int> kinds(Index rows, const RowLength& length) {
  std::vector<int> counts(4, 0);
  for (const csr::ChunkShape& shape : group(rows, offsets_of(rows, length)).groups.shapes)
    ++counts[static_cast<std::size_t>(shape.kind)];
  return counts;
}

TEST(CsrRowGroups, ShapesFollowTheLengths) {
  EXPECT_EQ(kinds(1000, [](Index) { return 4; }), (std::vector<int>{0, 0, 5, 0}));
  EXPECT_EQ(kinds(1000, [](Index row) { return row % 50 == 0 ? 3 : 4; }), (std::vector<int>{0, 5, 0, 0}));
  EXPECT_EQ(kinds(1000, uneven(3, 5))[static_cast<std::size_t>(Kind::grouped)], 5);
  EXPECT_EQ(kinds(100, [](Index) { return 19; }), (std::vector<int>{2, 0, 0, 0})) << "too long to be unrolled";
  EXPECT_EQ(kinds(100, uneven(18, 20)), (std::vector<int>{2, 0, 0, 0})) << "few wrong guesses for the entries";
  EXPECT_EQ(kinds(1000, [](Index) { return 0; }), (std::vector<int>{1, 0, 0, 0}));
  EXPECT_EQ(kinds(1, [](Index) { return 5000; }), (std::vector<int>{6, 0, 0, 0})) << "a row over many chunks";
}

TEST(CsrRowGroups, TheUsualLengthIsTheMajoritys) {
  const auto grouped = group(200, offsets_of(200, [](Index row) { return row < 5 || row == 50 ? 7 : 4; }));
  ASSERT_EQ(grouped.groups.shapes[0].kind, Kind::alike);
  EXPECT_EQ(grouped.groups.shapes[0].length, 4);
}

TEST(CsrRowGroups, NoOrderWhereNoChunkIsGrouped) {
  EXPECT_TRUE(group(1000, offsets_of(1000, [](Index) { return 4; })).groups.order.empty());
  EXPECT_EQ(group(0, Array<Offset>{0}).groups.shapes.size(), 0u);
}

TEST(CsrRowGroups, OrderIsAPermutationByLength) {
  const Index rows = 3000;
  const auto offsets = offsets_of(rows, uneven(0, 20));
  const auto [chunks, groups] = group(rows, offsets);
  int seen = 0;
  for (std::size_t c = 0; c < groups.shapes.size(); ++c) {
    if (groups.shapes[c].kind != Kind::grouped) continue;
    ++seen;
    const Index begin = chunks[c].row, end = chunks[c + 1].row;
    const auto group_of = [&](Index row) {
      return std::min<Offset>(offsets[row + 1] - offsets[row], csr::longest_group + 1);
    };
    std::vector<Index> expected;
    for (Index row = begin; row < end; ++row) expected.push_back(row);
    std::ranges::sort(expected, {}, [&](Index row) { return std::pair(group_of(row), row); });
    for (Index i = 0; i < end - begin; ++i)
      ASSERT_EQ(begin + groups.order[begin + i], expected[static_cast<std::size_t>(i)]) << "chunk " << c;
    for (int length = 0; length <= csr::longest_group; ++length)
      EXPECT_EQ(groups.shapes[c].counts[length],
                std::count_if(expected.begin(), expected.end(), [&](Index row) { return group_of(row) == length; }));
  }
  EXPECT_GT(seen, 20);
}

/// A matrix of such rows; all values and all of x are small integers, so that sums are exact in any order.
template <Value V>
Csr<V> matrix_of(Index rows, Index cols, const RowLength& length) {
  Csr<V> matrix;
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.offsets = offsets_of(rows, length);
  matrix.columns = Array<Index>(static_cast<std::size_t>(matrix.offsets.back()));
  matrix.values = Array<V>(static_cast<std::size_t>(matrix.offsets.back()));
  for (Index row = 0; row < rows; ++row) {
    const Offset begin = matrix.offsets[row], count = matrix.offsets[row + 1] - begin;
    for (Offset k = 0; k < count; ++k) {
      matrix.columns[begin + k] = static_cast<Index>(k * cols / count + row % std::max<Offset>(1, cols / count));
      matrix.values[begin + k] = static_cast<V>((row + 3 * k) % 7 - 3);
    }
  }
  return matrix;
}

template <Value V>
std::vector<V> expected_product(const Csr<V>& matrix, const std::vector<V>& x) {
  std::vector<V> y(static_cast<std::size_t>(matrix.rows), V(0));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      y[static_cast<std::size_t>(row)] += matrix.values[k] * x[static_cast<std::size_t>(matrix.columns[k])];
  return y;
}

struct Rows {
  std::string name;
  RowLength length;
};

/// Every kind of chunk, and what lies between them.
std::vector<Rows> all_rows() {
  std::vector<Rows> list{
      {"none to three", uneven(0, 3)},
      {"short and uneven", uneven(1, 9)},
      {"some longer than all groups", uneven(0, 24)},
      {"long and uneven", uneven(10, 60)},
      {"a huge row among short ones", [](Index row) { return row == 1777 ? Offset{20'000} : uneven(1, 4)(row); }},
      {"all kinds in turn", [](Index row) {
         if (row % 6000 < 2500) return Offset{3};
         return row % 6000 < 4000 ? uneven(0, 12)(row) : Offset{30};
       }}};
  for (Offset length = 1; length <= csr::longest_alike + 1; ++length) {
    list.push_back({"all of " + std::to_string(length), [=](Index) { return length; }});
    list.push_back(
        {"most of " + std::to_string(length), [=](Index row) { return row % 61 == 5 ? Offset{row % 9} : length; }});
  }
  return list;
}

template <Value V>
class CsrRowKinds : public testing::Test {};
using Values = testing::Types<float, double>;
TYPED_TEST_SUITE(CsrRowKinds, Values);

TYPED_TEST(CsrRowKinds, AllMultiplyExactlyAndTheSameWithAnyThreads) {
  using V = TypeParam;
  for (const Rows& rows : all_rows()) {
    SCOPED_TRACE(rows.name);
    const Csr<V> matrix = matrix_of<V>(12'003, 20'011, rows.length);
    std::vector<V> x(static_cast<std::size_t>(matrix.cols));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<V>(i % 5) - V(1);
    const std::vector<V> product = expected_product(matrix, x);
    std::vector<V> rough_x(x.size()), first;
    for (std::size_t i = 0; i < x.size(); ++i) rough_x[i] = V(1) / static_cast<V>(1 + i % 97);
    for (const int threads : {1, 2, 3, 7}) {
      set_threads(threads);
      auto p = plan(matrix, {.format = "csr"});
      std::vector<V> y(product.size(), std::numeric_limits<V>::quiet_NaN());
      p.apply(x, y);
      ASSERT_EQ(y, product);
      p.apply(V(2), x, V(-1), y);
      ASSERT_EQ(y, product);
      p.apply(rough_x, y);
      if (first.empty()) first = y;
      ASSERT_EQ(y, first) << threads << " threads";
    }
    set_threads(0);
  }
}

TEST(CsrRowGroups, KernelsWithWideOffsets) {
  // Plans use them beyond 2^32 entries only.
  for (const Rows& rows : all_rows()) {
    SCOPED_TRACE(rows.name);
    const Csr<double> matrix = matrix_of<double>(5000, 20'011, rows.length);
    const auto [chunks, groups] = group(matrix.rows, matrix.offsets);
    Array<double> carries(chunks.size() * max_row_major_vectors);
    std::vector<Offset> carried;  // chunks that end inside a row
    for (std::size_t c = 0; c + 1 < chunks.size(); ++c)
      if (const csr::Chunk& end = chunks[c + 1];
          end.row < matrix.rows && end.entry > std::max(matrix.offsets[end.row], chunks[c].entry))
        carried.push_back(static_cast<Offset>(c));
    const csr::CpuMatrix<double, Offset> view{.rows = matrix.rows,
                                              .offsets = matrix.offsets.data(),
                                              .columns = matrix.columns.data(),
                                              .values = matrix.values.data(),
                                              .chunks = chunks.data(),
                                              .chunk_count = static_cast<Offset>(chunks.size()) - 1,
                                              .shapes = groups.shapes.data(),
                                              .order = groups.order.data(),
                                              .large_x = true,
                                              .carried = carried.data(),
                                              .carried_count = static_cast<Offset>(carried.size()),
                                              .carries = carries.data()};
    const std::vector<double> x(static_cast<std::size_t>(matrix.cols), 2.0);
    std::vector<double> y(static_cast<std::size_t>(matrix.rows), -1.0);
    const Product<double> product{.x = x.data(), .y = y.data()};
    csr::isa_baseline::multiply<double, Offset>(view, product, 1);
    EXPECT_EQ(y, expected_product(matrix, x));
  }
}

}  // namespace
}  // namespace weft
