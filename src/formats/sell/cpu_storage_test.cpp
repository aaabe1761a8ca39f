#include "formats/sell/cpu_storage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>
#include <weft/generate.hpp>
#include <weft/plan.hpp>
#include <weft/spmv.hpp>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "facts/runs.hpp"

namespace weft::sell {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Rows that have entries at these distances from the diagonal, each with some probability, and a few anywhere.
Csr<double> bands_with_holes(Index rows, Index cols, const std::vector<Index>& distances, double probability,
                             Index strays, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::bernoulli_distribution is_there(probability);
  std::vector<Index> columns;
  std::vector<double> values;
  std::vector<Offset> offsets{0};
  for (Index row = 0; row < rows; ++row) {
    std::map<Index, double> entries;
    for (const Index distance : distances)
      if (const Offset column = Offset(row) + distance; column >= 0 && column < cols && is_there(random))
        entries[static_cast<Index>(column)] = value(random);
    for (Index i = 0; i < strays; ++i)
      entries[static_cast<Index>(random() % static_cast<unsigned>(cols))] = value(random);
    for (const auto& [column, number] : entries) {
      columns.push_back(column);
      values.push_back(number);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return {rows, cols, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
          Array<double>(std::move(values))};
}

const std::vector<Index> pentadiagonal{-20, -1, 0, 1, 20};

std::vector<Csr<double>> awkward_matrices() {
  std::vector<Csr<double>> all;
  for (const Index rows : {0, 1, 7, 8, 9, 100, 1001})
    for (const double probability : {1.0, 0.7, 0.3}) {
      all.push_back(bands_with_holes(rows, rows + 1, pentadiagonal, probability, 0, 1));
      all.push_back(bands_with_holes(rows, rows + 90000, pentadiagonal, probability, 3, 2));
    }
  all.push_back(bands_with_holes(500, 40, {0, -460, -470, 3}, 1, 0, 3));  // more rows than columns
  return all;
}

using Entries = std::map<std::pair<Index, Index>, double>;

Entries entries_of(const Csr<double>& matrix) {
  Entries all;
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      all[{row, matrix.columns[k]}] = matrix.values[k];
  return all;
}

/// What the storage says, by its contract; padding must be 0.
Entries entries_of(const CpuStorage<double>& storage) {
  Entries all;
  const Index c = storage.shape.slice_rows;
  for (std::size_t b = 0; b + 1 < storage.bands.size(); ++b) {
    const Band& band = storage.bands[b];
    EXPECT_TRUE(band.unpadded == band.width || storage.bands[b + 1].slice == band.slice + 1);
    for (Index s = band.slice; s < storage.bands[b + 1].slice; ++s) {
      const Offset entry = band.entry + Offset(s - band.slice) * band.steps() * c;
      for (Index k = 0; k < band.steps(); ++k)
        for (Index i = 0; i < c; ++i) {
          const double value = storage.values[entry + Offset(k) * c + i];
          const Index slot = s * c + i;
          const Index row = slot >= storage.rows ? -1 : storage.order.empty() ? slot : storage.order[slot];
          Index column = -1;
          const Index runs = band.full + band.partial;
          if (k < runs) {
            const bool is_there =
                k < band.full || load_mask(storage.masks.data() + band.mask_of(s, c), c, k - band.full) >> i & 1;
            if (is_there) column = row + storage.distances[band.run + k];
          } else {
            const Offset place = Offset(k - runs) * c + i;
            const std::uint16_t* const narrow = storage.columns.data() + band.column_of(s, c);
            if (band.base < 0)
              column = reinterpret_cast<const Index*>(narrow)[place];
            else if (narrow[place] != padding_column<std::uint16_t>)
              column = band.base + narrow[place];
            if (k - runs < band.unpadded) {
              EXPECT_GE(column, 0);
            }
          }
          if (column < 0) {
            EXPECT_EQ(value, 0);
          } else {
            EXPECT_TRUE((all.emplace(std::pair{row, column}, value).second));
          }
        }
    }
  }
  return all;
}

TEST(SellOnCpu, HoldsEveryEntryOnce) {
  for (const Csr<double>& matrix : awkward_matrices())
    for (const Index slice_rows : {4, 7, 8, 16, 32})
      for (const Index window : {1, 64}) {
        const bool runs = window == 1 && may_have_runs(slice_rows);
        const auto storage =
            build_cpu_storage(matrix, {.slice_rows = slice_rows, .window = window, .group = 1, .runs = runs}, {});
        EXPECT_EQ(entries_of(storage), entries_of(matrix)) << matrix.rows << " rows, c " << slice_rows;
      }
}

TEST(SellOnCpu, AStencilStoresNoColumns) {
  const auto matrix = generate<double>("gen:poisson3d:16");
  const auto storage = build_cpu_storage(matrix, {.slice_rows = 8, .group = 1, .runs = true}, {});
  EXPECT_EQ(storage.in_runs, matrix.nonzeros());
  EXPECT_EQ(storage.columns.size(), 0u);
  // The two slices of a line of 16 nodes differ by its ends and by the faces of the cube, but share bands.
  EXPECT_LE(storage.bands.size(), 16u * 16 / 2);
}

TEST(SellOnCpu, SlicesOfABandHaveLittlePadding) {
  for (const char* name : {"gen:poisson3d:16", "gen:poisson3d:33", "gen:stencil27:21", "gen:poisson2d:50"}) {
    const auto matrix = generate<double>(name);
    const auto storage = build_cpu_storage(matrix, {.slice_rows = 8, .group = 1, .runs = true}, {});
    EXPECT_EQ(entries_of(storage), entries_of(matrix));
    Offset runs = 0, empty = 0;
    for (std::size_t b = 0; b + 1 < storage.bands.size(); ++b) {
      const Band& band = storage.bands[b];
      for (Index s = band.slice; s < storage.bands[b + 1].slice; ++s) {
        runs += band.full + band.partial;
        for (Index k = 0; k < band.partial; ++k)
          empty += load_mask(storage.masks.data() + band.mask_of(s, 8), 8, k) == 0;
      }
    }
    EXPECT_LE(empty * 8, runs) << name;
    EXPECT_LE(storage.bands.size() * 8, static_cast<std::size_t>(storage.slice_count())) << name;
  }
}

TEST(SellOnCpu, ABandOfSlicesThatStayDifferentEnds) {
  // Rows of a third of the matrix have two entries, then six: no band may give the first the places of the others.
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  for (Index row = 0; row < 3000; ++row) {
    for (Index k = 0; k < (row < 1000 ? 2 : 6); ++k) columns.push_back(row + 10 * k);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const std::size_t entries = columns.size();
  const Csr<double> matrix{3000, 3100, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                           Array<double>(entries, 1.0)};
  const auto storage = build_cpu_storage(matrix, {.slice_rows = 8, .group = 1, .runs = true}, {});
  EXPECT_EQ(storage.values.size(), entries);
  EXPECT_EQ(storage.bands.size(), 3u);
}

TEST(SellOnCpu, NeighboursThatAreAlikeAreOneBand) {
  const auto matrix = bands_with_holes(2000, 2100, {0, 1, 50}, 1, 0, 4);
  const auto storage = build_cpu_storage(matrix, {.slice_rows = 8, .group = 1, .runs = true}, {});
  EXPECT_EQ(storage.bands.size(), 2u);
  EXPECT_EQ(storage.bands[0].full, 3);
}

TEST(SellOnCpu, SortedSlicesOfOneLengthAreOneBand) {
  // Rows of 3 and 5 entries in turns, anywhere.
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  for (Index row = 0; row < 1600; ++row) {
    for (Index k = 0; k < 3 + row % 2 * 2; ++k) columns.push_back(row % 7 + 100 * k);
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  const std::size_t entries = columns.size();
  const Csr<double> matrix{1600, 1000, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                           Array<double>(entries, 1.0)};
  const auto storage = build_cpu_storage(matrix, {.slice_rows = 8, .window = 1600, .group = 1}, {});
  EXPECT_EQ(storage.bands.size(), 3u);
  EXPECT_EQ(storage.values.size(), entries);
  EXPECT_EQ(entries_of(storage), entries_of(matrix));
}

TEST(SellOnCpu, EmptySlicesAreOneBand) {
  const Csr<double> empty{4000, 10, Array<Offset>(4001, 0), {}, {}};
  EXPECT_EQ(build_cpu_storage(empty, {.slice_rows = 8, .group = 1, .runs = true}, {}).bands.size(), 2u);
}

TEST(SellOnCpu, IsTheSameForAnyNumberOfThreads) {
  const auto matrix = bands_with_holes(20000, 20000, pentadiagonal, 0.9, 1, 5);
  const int before = threads();
  std::vector<CpuStorage<double>> built;
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    built.push_back(build_cpu_storage(matrix, {.slice_rows = 8, .group = 1, .runs = true}, {}));
  }
  set_threads(before);
  for (const auto& one : built) {
    EXPECT_TRUE(std::ranges::equal(one.values, built[0].values));
    EXPECT_TRUE(std::ranges::equal(one.masks, built[0].masks));
    EXPECT_EQ(one.bands.size(), built[0].bands.size());
  }
}

TEST(SellOnCpu, SharesCoverAllSlices) {
  for (const Csr<double>& matrix : awkward_matrices()) {
    const auto storage = build_cpu_storage(matrix, {.slice_rows = 8, .group = 1, .runs = true}, {});
    Index slice = 0;
    for (std::size_t i = 0; i + 1 < storage.shares.size(); ++i) {
      const Share& share = storage.shares[i];
      EXPECT_EQ(share.slice, slice);
      EXPECT_GE(share.slice, storage.bands[share.band].slice);
      EXPECT_LT(share.slice, storage.bands[share.band + 1].slice);
      slice = storage.shares[i + 1].slice;
      EXPECT_GT(slice, share.slice);
    }
    EXPECT_EQ(slice, (matrix.rows + 7) / 8);
  }
}

TEST(SellOnCpu, RunsReadOnlyTheElementsOfXThatTheyHave) {
  const Isa before = isa();
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_gather}) {
    if (!isa_available(isa)) continue;
    set_isa(isa);
    for (Csr<double>& matrix : awkward_matrices()) {
      std::vector<bool> is_read(static_cast<std::size_t>(matrix.cols));
      for (const Index column : matrix.columns) is_read[static_cast<std::size_t>(column)] = true;
      std::vector<double> x(is_read.size()), y(static_cast<std::size_t>(matrix.rows)), expected(y.size());
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = is_read[i] ? static_cast<double>(i % 5) - 2 : NAN;
      plan(matrix, {.format = "sell:runs=1"}).apply(x, y);
      reference_apply<double>(Op::none, 1.0, matrix, x, 0.0, expected);
      for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12) << to_string(isa);
    }
  }
  set_isa(before);
}

TEST(SellOnCpu, NewValuesGoToTheirPlaces) {
  for (Csr<double>& matrix : awkward_matrices())
    for (const char* name : {"sell:runs=1", "sell:runs=0", "sell:c=32:runs=1", "sell:sigma=64"}) {
      auto planned = plan(matrix, {.format = name});
      Csr<double> other = matrix;
      other.values = matrix.values.clone();
      for (double& value : other.values) value = 3 - value;
      planned.update_values(std::span<const double>(other.values.data(), other.values.size()));
      std::vector<double> x(static_cast<std::size_t>(matrix.cols), 1.5), y(static_cast<std::size_t>(matrix.rows)),
          fresh(y.size());
      planned.apply(x, y);
      plan(other, {.format = name}).apply(x, fresh);
      EXPECT_EQ(y, fresh) << name;
    }
}

TEST(SellOnCpu, LooksForRunsWhereThereAreSome) {
  const auto details = [](const Csr<double>& matrix, const std::string& format = "sell") {
    return plan(matrix, {.format = format}).info().details;
  };
  EXPECT_THAT(details(generate<double>("gen:poisson2d:50")), HasSubstr("99 % of the entries in runs"));
  EXPECT_THAT(details(generate<double>("gen:poisson2d:50"), "sell:runs=0"), Not(HasSubstr("runs")));
  EXPECT_THAT(details(generate<double>("gen:uniform:3000:8")), Not(HasSubstr("runs")));
  // Sorted because the user wants it so.
  EXPECT_THAT(details(generate<double>("gen:poisson2d:50"), "sell:sigma=64"), Not(HasSubstr("runs")));
}

TEST(Runs, ShareOfTheEntries) {
  EXPECT_GT(facts::share_in_runs(generate<double>("gen:stencil27:20"), 8), 0.95);
  EXPECT_LT(facts::share_in_runs(generate<double>("gen:uniform:3000:8"), 8), 0.01);
  EXPECT_EQ(facts::share_in_runs(Csr<double>{0, 0, Array<Offset>{0}, {}, {}}, 8), 0);
  // Two thirds of the entries are on diagonals.
  EXPECT_NEAR(facts::share_in_runs(bands_with_holes(4000, 90000, {0, 5, 9, 100, 200, 300}, 1, 3, 6), 8), 0.667, 0.02);
}

}  // namespace
}  // namespace weft::sell
