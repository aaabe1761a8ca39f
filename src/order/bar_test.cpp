#include "order/bar.hpp"

#include <gtest/gtest.h>
#include <weft/io.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "order/testing.hpp"

namespace weft {
namespace {

using ordering::shuffled;
using test::awkward_structures;
using test::random_rows;

/// Equation (1) as it is printed, with sets.
Offset naive_objective(const Csr<double>& matrix, const std::vector<std::vector<Index>>& slices,
                       const BarModel& model) {
  Offset total = 0;
  for (const std::vector<Index>& slice : slices) {
    std::vector<int> widths;
    std::set<std::pair<Offset, Index>> lines;
    for (const Index row : slice) {
      Index before = 0;  // columns count from 1
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
        const auto j = static_cast<std::size_t>(k - matrix.offsets[row]);
        if (widths.size() <= j) widths.push_back(0);
        const Index column = matrix.columns[k] + 1;
        widths[j] = std::max(widths[j], static_cast<int>(std::floor(std::log2(column - before))) + 1);
        before = column;
        lines.emplace(static_cast<Offset>(j),
                      matrix.columns[k] * static_cast<Index>(sizeof(double)) / model.line_bytes);
      }
    }
    const int bits = std::accumulate(widths.begin(), widths.end(), 0);
    const auto warps = static_cast<Offset>(std::ceil(static_cast<double>(slice.size()) / model.warp_rows));
    total += warps * (static_cast<Offset>(std::ceil(static_cast<double>(bits) / model.symbol_bits)) +
                      static_cast<Offset>(lines.size()));
  }
  return total;
}

std::vector<std::vector<Index>> cut(std::span<const Index> rows, int slice_rows) {
  std::vector<std::vector<Index>> slices;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % static_cast<std::size_t>(slice_rows) == 0) slices.emplace_back();
    slices.back().push_back(rows[i]);
  }
  return slices;
}

TEST(Bar, ObjectiveIsTheEquationForAnyOrder) {
  const BarModel models[] = {{}, {.slice_rows = 8, .warp_rows = 4}, {64, 32, 64, 32}, {7, 3, 5, 8}};
  for (const auto& [name, matrix] : awkward_structures<double>(false))
    for (const BarModel& model : models) {
      const std::vector<Index> rows = shuffled(matrix.rows, 1);
      const Order order{Array<Index>::copy_of(rows), {}};
      EXPECT_EQ(bar_objective(matrix, order, model), naive_objective(matrix, cut(rows, model.slice_rows), model))
          << name;
      EXPECT_EQ(bar_objective(matrix, {}, model), bar_objective(permute(matrix, {}, {}), {}, model)) << name;
      const Order both{order.rows, Array<Index>::copy_of(shuffled(matrix.cols, 2))};
      EXPECT_EQ(bar_objective(matrix, both, model), bar_objective(permute(matrix, both), {}, model)) << name;
    }
}

TEST(Bar, ASmallObjectiveByHand) {
  // Columns 0 3 | 1 | 0 20: deltas from 1 are 1 3, 2, 1 20, so widths 2 and 5. Lines of 16: first entries touch line 0,
  // second ones lines 0 and 1. One warp: ceil(7 / 4) symbols and 1 + 2 lines.
  const auto matrix =
      make_csr<double>(3, 32, Array<Offset>{0, 2, 3, 5}, Array<Index>{0, 3, 1, 0, 20}, Array<double>(5, 1.0));
  EXPECT_EQ(bar_objective(matrix, {}, {.symbol_bits = 4}), 2 + 3);
  // The first row alone: widths 1 and 2, a line each; then 2 and 0 bits and 5: two slices of a warp each.
  EXPECT_EQ(bar_objective(matrix, {}, {.slice_rows = 1, .symbol_bits = 4}), (1 + 2) + (1 + 1) + (2 + 2));
  EXPECT_EQ(bar_objective(convert<float>(matrix), {}, {.symbol_bits = 4}), 2 + 2);
}

TEST(Bar, ObjectiveRefusesWhatIsNoOrderOrNoModel) {
  const Csr<double> matrix = random_rows<double>(4, {1, 1, 1});
  EXPECT_THROW(bar_objective(matrix, {Array<Index>{0, 1, 1}, {}}), Error);
  EXPECT_THROW(bar_objective(matrix, {}, {.slice_rows = 0}), Error);
  EXPECT_THROW(bar_objective(matrix, {}, {.line_bytes = 4}), Error);
  EXPECT_THROW(order(matrix, Ordering::bar, {.bar = {.symbol_bits = 0}}), Error);
}

TEST(Bar, IsNeverWorseThanTheOrderAsItStands) {
  for (const auto& [name, matrix] : awkward_structures<double>(true))
    for (const BarModel& model : {BarModel{}, BarModel{.slice_rows = 4, .warp_rows = 2}}) {
      const Offset before = bar_objective(matrix, {}, model);
      const Order found = order(matrix, Ordering::bar, {.bar = model});
      EXPECT_LE(bar_objective(matrix, found, model), before) << name;
      EXPECT_LE(bar_objective(matrix, found, model), bar_objective(matrix, order(matrix, Ordering::length), model))
          << name;
      EXPECT_TRUE(found.columns.empty());
    }
}

TEST(Bar, RowsOutOfOrderFindTheirNeighboursAgain) {
  const Csr<double> grid = read_matrix<double>("gen:poisson3d:20");
  const Csr<double> matrix = permute(grid, shuffled(grid.rows, 4), {});
  const Offset natural = bar_objective(grid);
  ASSERT_GT(bar_objective(matrix), 5 * natural);
  EXPECT_LE(bar_objective(matrix, order(matrix, Ordering::bar)), natural * 11 / 10);
}

TEST(Bar, LongRowsDoNotSpoilTheOthers) {
  std::vector<Index> lengths(4096, 3);
  for (std::size_t i = 0; i < lengths.size(); i += 256) lengths[i] = 700;
  const Csr<double> matrix = random_rows<double>(20000, lengths, 9);
  EXPECT_LT(bar_objective(matrix, order(matrix, Ordering::bar)), bar_objective(matrix) / 2);
}

/// Algorithm 2 of the paper: every row is tried in every cluster, by the whole objective's change.
std::vector<Index> exact_greedy(const Csr<double>& matrix, const BarModel& model) {
  const Order by_length = order(matrix, Ordering::length);
  std::vector<std::vector<Index>> clusters;
  const auto size = static_cast<std::size_t>(model.slice_rows);
  for (std::size_t i = 0; i < by_length.rows.size(); i += size) clusters.push_back({by_length.rows[i]});
  const auto cost_of = [&](const std::vector<Index>& cluster) {
    // One warp, whatever rows are in it yet: the equation's h / w is the same for all clusters.
    return naive_objective(matrix, {cluster}, {1 << 20, 1 << 20, model.symbol_bits, model.line_bytes});
  };
  std::vector<Offset> costs;
  for (const auto& cluster : clusters) costs.push_back(cost_of(cluster));
  for (std::size_t i = 0; i < by_length.rows.size(); ++i) {
    if (i % size == 0) continue;
    std::size_t best = clusters.size();
    Offset least = 0;
    for (std::size_t t = 0; t < clusters.size(); ++t) {
      const std::size_t most = std::min(size, by_length.rows.size() - t * size);
      if (clusters[t].size() >= most) continue;
      clusters[t].push_back(by_length.rows[i]);
      const Offset rise = cost_of(clusters[t]) - costs[t];
      clusters[t].pop_back();
      if (best == clusters.size() || rise < least) {
        best = t;
        least = rise;
      }
    }
    clusters[best].push_back(by_length.rows[i]);
    costs[best] += least;
  }
  std::vector<Index> rows;
  for (const auto& cluster : clusters) rows.insert(rows.end(), cluster.begin(), cluster.end());
  return rows;
}

struct Sample {
  std::string name;
  Csr<double> matrix;
};

/// Twenty matrices of some hundred rows: grids as they are and shuffled, meshes, networks, random and uneven ones.
std::vector<Sample> samples() {
  std::vector<Sample> all;
  const auto add = [&](const std::string& source, bool rows_shuffled = false, bool all_shuffled = false) {
    Csr<double> matrix = read_matrix<double>(source);
    const std::vector<Index> mixed = shuffled(matrix.rows, 11);
    if (rows_shuffled) matrix = permute(matrix, mixed, {});
    if (all_shuffled) matrix = permute(matrix, mixed, mixed);
    all.push_back({source.substr(4) + (rows_shuffled ? ", rows shuffled" : all_shuffled ? ", shuffled" : ""), matrix});
  };
  for (const char* source : {"gen:poisson2d:24", "gen:poisson3d:9", "gen:stencil27:8", "gen:elasticity3d:5"}) {
    add(source);
    add(source, true);
    add(source, false, true);
  }
  add("gen:rmat:9");
  add("gen:rmat:9", true);
  add("gen:circuit:700");
  add("gen:circuit:700", true);
  all.push_back({"random, 5 a row", random_rows<double>(600, std::vector<Index>(700, 5), 12)});
  all.push_back({"random, 5 a row, few columns", random_rows<double>(64, std::vector<Index>(700, 5), 13)});
  std::vector<Index> uneven(700);
  for (std::size_t i = 0; i < uneven.size(); ++i) uneven[i] = static_cast<Index>(i * 7919 % 31);
  all.push_back({"random, 0 to 30 a row", random_rows<double>(2000, uneven, 14)});
  std::vector<Index> heavy(700, 3);
  for (std::size_t i = 0; i < heavy.size(); i += 50) heavy[i] = 200;
  all.push_back({"random, a few long rows", random_rows<double>(2000, heavy, 15)});
  return all;
}

// Slices of 4 rows, so that the exact greedy has some 180 clusters to choose from and ours, at 64, has to cut.
TEST(Bar, IsCloseToTheExactGreedyOrBetter) {
  const BarModel model{.slice_rows = 4, .warp_rows = 4};
  const std::vector<Sample> all = samples();
  ASSERT_EQ(all.size(), 20u);
  double product = 1;
  std::printf("| matrix | rows | as it stands | exact greedy | bar | bar / greedy |\n|---|--:|--:|--:|--:|--:|\n");
  for (const Sample& sample : all) {
    const Offset before = bar_objective(sample.matrix, {}, model);
    const std::vector<Index> greedy_rows = exact_greedy(sample.matrix, model);
    const Offset greedy = bar_objective(sample.matrix, {Array<Index>::copy_of(greedy_rows), {}}, model);
    const Offset ours = bar_objective(sample.matrix, order(sample.matrix, Ordering::bar, {.bar = model}), model);
    const double ratio = static_cast<double>(ours) / static_cast<double>(greedy);
    std::printf("| %s | %d | %lld | %lld | %lld | %.3f |\n", sample.name.c_str(), sample.matrix.rows,
                static_cast<long long>(before), static_cast<long long>(greedy), static_cast<long long>(ours), ratio);
    EXPECT_LE(ours, before) << sample.name;
    EXPECT_LE(ratio, 1.08) << sample.name;
    product *= ratio;
  }
  std::printf("geometric mean %.3f\n", std::pow(product, 0.05));
  EXPECT_LE(std::pow(product, 0.05), 0.98);
}

// Symbols of one bit make widths weigh as much as lines.
TEST(Bar, IsCloseToTheExactGreedyWhereWidthsWeighMuch) {
  const BarModel model{.slice_rows = 16, .warp_rows = 16, .symbol_bits = 1};
  double product = 1;
  for (const Sample& sample : samples()) {
    const std::vector<Index> greedy_rows = exact_greedy(sample.matrix, model);
    const Offset greedy = bar_objective(sample.matrix, {Array<Index>::copy_of(greedy_rows), {}}, model);
    const Offset ours = bar_objective(sample.matrix, order(sample.matrix, Ordering::bar, {.bar = model}), model);
    const double ratio = static_cast<double>(ours) / static_cast<double>(greedy);
    EXPECT_LE(ratio, 1.08) << sample.name;
    product *= ratio;
  }
  EXPECT_LE(std::pow(product, 0.05), 0.95);
}

}  // namespace
}  // namespace weft
