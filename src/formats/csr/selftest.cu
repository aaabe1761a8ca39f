#include "formats/csr/selftest.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include "formats/csr/carries.cuh"
#include "formats/csr/merge.cuh"
#include "formats/csr/row_major.cuh"
#include "formats/csr/speculative.cuh"
#include "simt/selftest_tools.hpp"

namespace weft::WEFT_SIMT_NAMESPACE {
namespace {

using selftest::Report;
using selftest::TestArray;

constexpr int threads = ::weft::simt::block_threads;

template <class T>
TestArray<T> test_array(const std::vector<T>& elements) {
  TestArray<T> array(elements.size());
  std::copy(elements.begin(), elements.end(), array.begin());
  return array;
}

/// The rows in which tiles of `tile` entries begin, and the last of them ends.
template <class O>
std::vector<Index> find_tiles(const std::vector<O>& offsets, int tile) {
  const Offset entries = static_cast<Offset>(offsets.back()), tiles = (entries + tile - 1) / tile;
  TestArray<O> given = test_array(offsets);
  TestArray<Index> rows(static_cast<std::size_t>(tiles) + 1);
  simt::launch(WEFT_KERNEL(csr::csr_find_tiles<O>), simt::blocks_for(tiles + 1, threads), threads, 0, {},
               static_cast<Index>(offsets.size()) - 1, entries, given.sent(), tile, tiles, rows.sent());
  rows.fetch();
  return {rows.begin(), rows.end()};
}

template <class O>
void check_tiles(Report& report, const std::string& type) {
  // Liu and Vinter, Figure 3. The paper leaves the second, third and fourth row to us.
  const std::vector<O> figure_3{0, 3, 8, 12, 19, 27, 29, 29, 34, 37, 37, 44, 48};
  report.expect(find_tiles<O>(figure_3, 24) == std::vector<Index>{0, 4, 12}, "tiles of Figure 3, " + type);
  // Two rows begin at 29, and two at 37: the last of them.
  report.expect(find_tiles<O>(figure_3, 29) == std::vector<Index>{0, 7, 12}, "an empty row before a tile, " + type);
  report.expect(find_tiles<O>(figure_3, 37) == std::vector<Index>{0, 10, 12}, "another empty row, " + type);
  report.expect(find_tiles<O>(figure_3, 48) == std::vector<Index>{0, 12}, "one tile, " + type);
  report.expect(find_tiles<O>(figure_3, 64) == std::vector<Index>{0, 12}, "part of a tile, " + type);
  // Empty rows before all entries belong to the first tile, those behind them to the last.
  const std::vector<O> empty_ends{0, 0, 0, 4, 4, 8, 8, 8};
  report.expect(find_tiles<O>(empty_ends, 4) == std::vector<Index>{0, 4, 7}, "empty rows first and last, " + type);
}

/// How many rows end within each number of shares of `steps` steps.
template <class O>
std::vector<Index> find_shares(const std::vector<O>& offsets, int steps) {
  const auto rows = static_cast<Index>(offsets.size()) - 1;
  const Offset entries = static_cast<Offset>(offsets.back()), shares = (rows + entries + steps - 1) / steps;
  TestArray<O> given = test_array(offsets);
  TestArray<Index> ended(static_cast<std::size_t>(shares) + 1);
  simt::launch(WEFT_KERNEL(csr::csr_merge_search<O>), simt::blocks_for(shares + 1, threads), threads, 0, {}, rows,
               entries, given.sent(), steps, shares, ended.sent(), static_cast<unsigned*>(nullptr));
  ended.fetch();
  return {ended.begin(), ended.end()};
}

template <class O>
void check_shares(Report& report, const std::string& type) {
  const std::vector<O> offsets{0, 0, 3, 3, 10, 11, 11, 11, 11};
  for (int steps = 1; steps <= 20; ++steps) {
    // Along the path: an entry as long as the row at hand has one, then the row's end.
    std::vector<Index> expected;
    Index row = 0;
    O entry = 0;
    for (int step = 0; row < 8; ++step) {
      if (step % steps == 0) expected.push_back(row);
      if (entry < offsets[row + 1])
        ++entry;
      else
        ++row;
    }
    expected.push_back(8);
    report.expect(find_shares<O>(offsets, steps) == expected, "shares of " + std::to_string(steps) + " steps, " + type);
  }
}

/// `lane` places without a carry, then runs of all lengths, each of a row of its own, with `gap` places between them.
template <class V>
void check_carries(Report& report, int lane, std::size_t gap, int vectors, Layout layout, const std::string& type) {
  const int lengths[] = {1, 2, 31, 32, 33, 100, 1000};
  std::vector<Index> run_rows(static_cast<std::size_t>(lane), -1);
  Index rows = 0;
  for (int run = 0; run < 14; ++run) {
    // Twice, and in another order in each call, so that each length starts at many lanes and follows many others.
    const int length = lengths[(run * (1 + lane % 6) + lane) % 7];
    run_rows.insert(run_rows.end(), static_cast<std::size_t>(length), rows);
    run_rows.insert(run_rows.end(), gap, -1);
    rows += 1 + run % 3;
  }
  const bool by_rows = layout == Layout::row_major;
  const auto several = static_cast<std::size_t>(vectors), length = static_cast<std::size_t>(rows);
  const std::size_t count = run_rows.size(), stride = (by_rows ? several : length) + 1;
  const std::size_t elements = stride * (by_rows ? length : several);
  TestArray<Index> carry_rows = test_array(run_rows);
  TestArray<V> values(count * several), y(elements);
  std::vector<V> expected(elements);
  for (std::size_t i = 0; i < expected.size(); ++i) y[i] = expected[i] = static_cast<V>(i % 13);
  // Small integers: sums are exact in any order. Where there is no carry its value is not to be used.
  for (std::size_t c = 0; c < count * several; ++c) {
    const Index row = run_rows[c % count];
    values[c] = row < 0 ? std::numeric_limits<V>::quiet_NaN() : static_cast<V>(1 + c * 5 % 9);
    const std::size_t vector = c / count, i = static_cast<std::size_t>(row);
    if (row >= 0) expected[by_rows ? i * stride + vector : vector * stride + i] += V(2) * values[c];
  }
  Product<V> product;
  product.alpha = 2;
  product.beta = 3;  // which has been seen to
  product.y = y.sent();
  product.y_stride = stride;
  product.count = vectors;
  product.layout = layout;
  csr::add_carries<V>({carry_rows.sent(), values.sent(), static_cast<Offset>(count)}, product, {});
  y.fetch();
  report.expect(std::equal(expected.begin(), expected.end(), y.begin()),
                "carries of " + type + " after " + std::to_string(lane) + " places without, " + std::to_string(gap) +
                    " between them, " + std::to_string(vectors) + (by_rows ? " row-major vectors" : " vectors"));
}

template <class V>
void check_all_carries(Report& report, const std::string& type) {
  for (int lane = 0; lane < 32; ++lane)
    for (const std::size_t gap : {0, 1, 3})
      if (gap < 3 || lane % 4 == 0) check_carries<V>(report, lane, gap, 1, Layout::column_major, type);
  for (const Layout layout : {Layout::column_major, Layout::row_major}) check_carries<V>(report, 5, 1, 3, layout, type);
}

/// A product with row-major vectors whose shares have `steps` steps: rows of all lengths, some longer than many shares.
template <class V>
void check_row_major(Report& report, int steps, int vectors, std::size_t stride, const std::string& type) {
  const std::size_t lengths[] = {0, 1, 0, 7, 64, 3, 255, 0, 0, 2, 1000, 31, 1, 256, 5, 0, 33, 1, 129, 0};
  std::vector<std::uint32_t> ends{0};
  for (int round = 0; round < 3; ++round)
    for (const std::size_t length : lengths) ends.push_back(ends.back() + static_cast<std::uint32_t>(length + round));
  const std::size_t rows = ends.size() - 1, entries = ends.back(), columns = 97;
  const auto several = static_cast<std::size_t>(vectors);
  TestArray<std::uint32_t> offsets = test_array(ends);
  TestArray<Index> places(entries);
  TestArray<V> values(entries), x(columns * stride), y(rows * stride);
  std::vector<V> expected(rows * stride, V(-5));  // gaps keep what they have; all that is read is less than 2^24
  for (std::size_t k = 0; k < entries; ++k) {
    places[k] = static_cast<Index>(k * 31 % columns);
    values[k] = static_cast<V>(1 + k % 7);
  }
  for (std::size_t i = 0; i < columns * stride; ++i)
    x[i] = i % stride < several ? static_cast<V>(i % 11) : std::numeric_limits<V>::quiet_NaN();
  for (std::size_t i = 0; i < rows * stride; ++i) y[i] = i % stride < several ? V(3) : V(-5);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t j = 0; j < several; ++j) {
      V sum = 0;
      for (std::size_t k = ends[row]; k < ends[row + 1]; ++k)
        sum += values[k] * x[static_cast<std::size_t>(places[k]) * stride + j];
      expected[row * stride + j] = V(2) * sum - V(3);
    }

  const csr::View<V, std::uint32_t> matrix{static_cast<Index>(rows), static_cast<Offset>(entries), offsets.sent(),
                                           places.sent(), values.sent()};
  csr::Carver counted;
  csr::RowMajorSpace<V>(matrix, counted, steps);
  TestArray<unsigned char> memory(counted.bytes());
  csr::Carver carver(reinterpret_cast<std::byte*>(memory.sent()));
  const csr::RowMajorSpace<V> space(matrix, carver, steps);
  Product<V> product;
  product.alpha = 2;
  product.beta = -1;
  product.x = x.sent();
  product.y = y.sent();
  product.x_stride = product.y_stride = stride;
  product.count = vectors;
  product.layout = Layout::row_major;
  csr::row_major_search(matrix, space, {});
  csr::row_major_multiply(matrix, space, product, {});
  y.fetch();
  report.expect(std::equal(expected.begin(), expected.end(), y.begin()),
                "shares of " + std::to_string(steps) + " steps, " + std::to_string(vectors) +
                    " row-major vectors, stride " + std::to_string(stride) + ", " + type);
}

template <class V>
void check_row_major_shares(Report& report, const std::string& type) {
  for (const int steps : {64, 128, 256})
    for (const auto& [vectors, stride] : {std::pair{2, 2}, {2, 3}, {3, 3}, {4, 4}, {8, 8}, {8, 9}})
      check_row_major<V>(report, steps, vectors, static_cast<std::size_t>(stride), type);
}

}  // namespace

std::vector<std::string> csr_selftest() {
  Report report;
  check_tiles<std::uint32_t>(report, "32-bit offsets");
  check_tiles<Offset>(report, "64-bit offsets");
  check_shares<std::uint32_t>(report, "32-bit offsets");
  check_shares<Offset>(report, "64-bit offsets");
  check_all_carries<float>(report, "f32");
  check_all_carries<double>(report, "f64");
  check_row_major_shares<float>(report, "f32");
  check_row_major_shares<double>(report, "f64");
  return report.failed;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
