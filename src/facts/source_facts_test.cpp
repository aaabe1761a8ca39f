#include "facts/source_facts.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

#include "facts/blocks.hpp"
#include "simt/memory_use.hpp"
#include "sparse/callers_csr.hpp"
#include "sparse/testing.hpp"

namespace weft {
namespace {

using test::CallersCsr;
using test::devices_with_kernels;
using testing::coo_of;
using testing::Entry;
using testing::random_entries;
using testing::Threads;

template <class V>
Csr<V> csr_of(Index rows, Index cols, const std::vector<Entry<V>>& entries) {
  return to_csr(coo_of(rows, cols, entries));
}

/// Blocks of size b at random places of n x n blocks; of each, entries are left out with probability `missing`.
Csr<double> blocky(Index n, int b, double missing, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(0, 1);
  std::uniform_int_distribution<Index> place(0, n - 1);
  std::vector<Entry<double>> entries;
  std::set<std::pair<Index, Index>> used;
  for (Index block_row = 0; block_row < n; ++block_row)
    for (int k = 0; k < 4; ++k) {
      const Index block_column = place(random);
      if (!used.insert({block_row, block_column}).second) continue;
      for (int i = 0; i < b; ++i)
        for (int j = 0; j < b; ++j)
          if (unit(random) >= missing) entries.push_back({block_row * b + i, block_column * b + j, unit(random)});
    }
  return csr_of(n * b, n * b, entries);
}

/// A random pattern with its mirror; the value of a mirror is `sign` times the value.
std::vector<Entry<double>> mirrored(Index n, double sign, unsigned seed) {
  std::vector<Entry<double>> entries;
  std::set<std::pair<Index, Index>> used;
  for (const auto& [row, column, value] : random_entries<double>(n, n, static_cast<std::size_t>(8 * n), seed)) {
    if (row == column || !used.insert(std::minmax(row, column)).second) continue;
    entries.push_back({row, column, value});
    entries.push_back({column, row, sign * value});
  }
  return entries;
}

Csr<double> one_huge_row(Index n) {
  std::vector<Entry<double>> entries = random_entries<double>(n, n, static_cast<std::size_t>(3 * n), 11);
  for (Index column = 0; column < n; ++column) entries.push_back({n / 2, column, 0.5});
  return csr_of(n, n, entries);
}

/// Rows of every length around the one from which on lengths are listed.
Csr<double> long_rows() {
  std::vector<Entry<double>> entries;
  for (Index row = 0; row < 8; ++row)
    for (Index column = 0; column < 1021 + row / 2 * 2; ++column) entries.push_back({row, column, 1.0});
  return csr_of(10, 2000, entries);
}

struct Case {
  const char* name;
  Csr<double> matrix;
};

std::vector<Case> cases() {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<Case> all;
  all.push_back({"random", csr_of(700, 700, random_entries<double>(700, 700, 5000, 1))});
  all.push_back({"crowded", csr_of(720, 720, random_entries<double>(720, 720, 9000, 2, 4))});
  all.push_back({"tall", csr_of(900, 60, random_entries<double>(900, 60, 4000, 3))});
  all.push_back({"wide", csr_of(60, 900, random_entries<double>(60, 900, 4000, 4))});
  all.push_back({"empty", csr_of<double>(12, 12, {})});
  all.push_back({"no rows", csr_of<double>(0, 12, {})});
  all.push_back({"no columns", csr_of<double>(12, 0, {})});
  all.push_back({"nothing", csr_of<double>(0, 0, {})});
  all.push_back({"one entry", csr_of<double>(6, 6, {{3, 4, 1.0}})});
  all.push_back({"one huge row", one_huge_row(6000)});
  all.push_back({"long rows", long_rows()});
  for (int b = 1; b <= 6; ++b)
    for (const double missing : {0.0, 0.06, 0.1, 0.14}) all.push_back({"blocks", blocky(120, b, missing, 5)});

  all.push_back({"symmetric", csr_of(600, 600, mirrored(600, 1, 6))});
  all.push_back({"skew", csr_of(600, 600, mirrored(600, -1, 7))});
  const auto changed = [&](const char* name, double sign, const Entry<double>& more) {
    std::vector<Entry<double>> entries = mirrored(600, sign, 8);
    std::erase_if(entries, [&](const auto& entry) { return entry.row == more.row && entry.column == more.column; });
    entries.push_back(more);
    all.push_back({name, csr_of(600, 600, entries)});
  };
  const Entry<double> some = mirrored(600, 1, 8)[40];
  changed("one value differs", 1, {some.row, some.column, 99.0});
  changed("one value is not a number", 1, {some.row, some.column, nan});
  changed("one skew value differs", -1, {some.row, some.column, 99.0});
  changed("symmetric with a diagonal entry", 1, {5, 5, 1.0});
  changed("symmetric with a diagonal that is not a number", 1, {5, 5, nan});
  changed("skew with a diagonal entry", -1, {5, 5, 1.0});
  changed("skew with a zero on the diagonal", -1, {5, 5, 0.0});
  all.push_back({"entry without mirror, right", csr_of<double>(4, 4, {{0, 1, 1.0}, {1, 0, 1.0}, {0, 3, 1.0}})});
  all.push_back({"entry without mirror, left", csr_of<double>(4, 4, {{0, 1, 1.0}, {1, 0, 1.0}, {3, 0, 1.0}})});
  return all;
}

void expect_same(const SymmetryFacts& a, const SymmetryFacts& b) {
  EXPECT_EQ(a.pattern_symmetric, b.pattern_symmetric);
  EXPECT_EQ(a.values_symmetric, b.values_symmetric);
  EXPECT_EQ(a.values_skew, b.values_skew);
}

/// What is already tested of the host matrix elsewhere: the facts of Structure, and columns counted the naive way.
template <class V>
void expect_facts_of(const Csr<V>& matrix, const MatrixSource<V>& source) {
  const Structure facts = analyze(matrix);
  EXPECT_EQ(row_lengths(source), analyze_rows(matrix));
  EXPECT_EQ(blocks(source).size, facts.block_size);
  EXPECT_EQ(blocks(source).fill, facts.block_fill);
  expect_same(symmetry(source), {facts.pattern_symmetric, facts.values_symmetric, facts.values_skew});
  std::vector<Index> counts(static_cast<std::size_t>(matrix.cols));
  for (const Index column : matrix.columns) ++counts[static_cast<std::size_t>(column)];
  const Array<Index>& use = column_use(source);
  EXPECT_EQ(std::vector<Index>(use.begin(), use.end()), counts);
}

TEST(SourceFacts, OfAHostMatrixAreThoseOfStructure) {
  for (const Case& c : cases())
    for (const int threads : {1, 4}) {
      SCOPED_TRACE(c.name);
      const Threads scope(threads);
      expect_facts_of(c.matrix, MatrixSource<double>(c.matrix));
    }
}

TEST(SourceFacts, TheCasesReachBothSidesOfEveryDecision) {
  std::set<int> sizes;
  int symmetric = 0, skew = 0, pattern_only = 0;
  for (const Case& c : cases()) {
    const MatrixSource<double> source(c.matrix);
    if (c.matrix.nonzeros() == 0) continue;
    sizes.insert(blocks(source).size);
    const SymmetryFacts& facts = symmetry(source);
    symmetric += facts.values_symmetric;
    skew += facts.values_skew;
    pattern_only += facts.pattern_symmetric && !facts.values_symmetric && !facts.values_skew;
  }
  EXPECT_EQ(sizes, (std::set<int>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(symmetric, 2);
  EXPECT_EQ(skew, 2);
  EXPECT_EQ(pattern_only, 5);
}

TEST(SourceFacts, AMarkOfSymmetryIsVerified) {
  Csr<double> matrix = csr_of<double>(2, 2, {{0, 1, 1.0}, {1, 0, 2.0}});
  matrix.symmetry = Symmetry::symmetric;
  expect_same(symmetry(MatrixSource<double>(matrix)), {true, false, false});
}

TEST(SourceFacts, AreFoundOnceAndTimed) {
  const MatrixSource<double> source(one_huge_row(3000));
  const RowLengths* lengths = &row_lengths(source);
  const SymmetryFacts* facts = &symmetry(source);
  const Array<Index>* use = &column_use(source);
  const double seconds = source.state().times.facts;
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(&row_lengths(source), lengths);
  EXPECT_EQ(&symmetry(source), facts);
  EXPECT_EQ(&column_use(source), use);
  EXPECT_EQ(source.state().times.facts, seconds);
}

class DeviceFacts : public ::testing::TestWithParam<Device> {};

TEST_P(DeviceFacts, AreThoseOfTheHost) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const CallersCsr<double> matrix(GetParam(), c.matrix);
    expect_facts_of(c.matrix, MatrixSource<double>(matrix.view()));
  }
}

TEST_P(DeviceFacts, AreThoseOfTheHostInF32WithNarrowOffsets) {
  for (const double sign : {1.0, -1.0}) {
    std::vector<Entry<float>> entries;
    for (const auto& [row, column, value] : mirrored(300, sign, 9))
      entries.push_back({row, column, static_cast<float>(value)});
    const Csr<float> host = csr_of(300, 300, entries);
    const CallersCsr<float, std::int32_t> matrix(GetParam(), host);
    expect_facts_of(host, MatrixSource<float>(matrix.view()));
  }
}

TEST_P(DeviceFacts, NeedNoDownloadOfColumnsOrValues) {
  const Csr<double> host = blocky(2000, 3, 0.02, 10);
  const CallersCsr<double> matrix(GetParam(), host);
  const MatrixSource<double> source(matrix.view());
  const std::size_t before = simt::memory_use().downloaded;
  row_lengths(source);
  blocks(source);
  symmetry(source);
  EXPECT_LT(simt::memory_use().downloaded - before, 8192u);
  column_use(source);
  EXPECT_LT(simt::memory_use().downloaded - before, 8192u + static_cast<std::size_t>(host.cols) * sizeof(Index));
  EXPECT_GT(host.columns.bytes(), 100'000u);  // or this shows nothing
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DeviceFacts);
INSTANTIATE_TEST_SUITE_P(All, DeviceFacts, ::testing::ValuesIn(devices_with_kernels()),
                         [](const auto& tested) { return tested.param.name(); });

}  // namespace
}  // namespace weft
