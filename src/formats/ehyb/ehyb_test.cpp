#include "formats/ehyb/ehyb.hpp"

#include <gmock/gmock.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "formats/bro_sell/testing.hpp"
#include "formats/ehyb/testing.hpp"
#include "formats/testing.hpp"
#include "order/partition/coordinates.hpp"
#include "structures.hpp"

namespace weft::ehyb {
namespace {

using ::testing::HasSubstr;
using ::weft::bro_sell::test::awkward;
using ::weft::bro_sell::test::blocky;
using ::weft::bro_sell::test::matrix_of;

void expect_holds(const Storage<double>& storage, const Csr<double>& matrix) {
  std::map<std::pair<Index, Index>, double> entries;
  ASSERT_NO_FATAL_FAILURE(test::decode(storage, entries));
  ASSERT_EQ(static_cast<Offset>(entries.size()), matrix.nonzeros());
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      const auto found = entries.find({row, matrix.columns[i]});
      ASSERT_NE(found, entries.end()) << "row " << row << " column " << matrix.columns[i];
      ASSERT_EQ(found->second, matrix.values[i]);
    }
}

using Parameters = std::map<std::string, std::int64_t>;

BuildOptions options_of(const Parameters& parameters, Device device = Device::cpu()) {
  BuildOptions options{.device = device, .parameters = parameters};
  options.parameters["padding"] = 1000000;
  return options;
}

const Parameters choices[] = {{},
                              {{"guests", 0}},
                              {{"parts", 7}},
                              {{"parts", 5}, {"guests", 0}},
                              {{"cache", 40}},
                              {{"cache", 13}, {"parts", 20}},
                              {{"block", 1}, {"cache", 25}},
                              {{"block", 3}, {"cache", 64}},
                              {{"cache", 1}, {"guests", 0}}};

std::string words(const Parameters& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) text += ":" + name + "=" + std::to_string(value);
  return text;
}

Storage<double> built_for(const Csr<double>& matrix, const Limits& limits, const BuildOptions& options) {
  return build_storage(matrix, choose_block<double>(matrix, options), limits, options);
}

Limits gpu_like() { return {.multiprocessors = 3, .cache_bytes = 60000, .slice_rows = 32, .pack = 4, .value_pack = 2}; }

TEST(Ehyb, EveryEntryIsStoredOnce) {
  for (const auto& [name, matrix] : awkward())
    for (const Parameters& parameters : choices)
      for (const Limits& limits : {cpu_limits<double>(), gpu_like()}) {
        if (matrix.cols > 2000000 && parameters.contains("parts")) continue;
        SCOPED_TRACE(name + words(parameters));
        ASSERT_NO_FATAL_FAILURE(expect_holds(built_for(matrix, limits, options_of(parameters)), matrix));
      }
}

/// A random graph: `links` entries a row, some to neighbours and some to anywhere.
Csr<double> random_graph(Index nodes, Index links, int block, unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](Index limit) { return static_cast<Index>(random() % static_cast<unsigned>(limit)); };
  std::vector<std::set<Index>> rows(static_cast<std::size_t>(nodes * block));
  for (Index node = 0; node < nodes; ++node)
    for (Index k = below(links + 1); k > 0; --k) {
      const Index to = below(3) ? std::clamp(node + below(9) - 4, 0, nodes - 1) : below(nodes);
      const bool whole = below(20) > 0;
      for (int e = 0; e < block * block; ++e)
        if (whole || below(2)) rows[static_cast<std::size_t>(node * block + e / block)].insert(to * block + e % block);
    }
  return matrix_of(nodes * block, nodes * block, rows);
}

TEST(Ehyb, EveryEntryOfRandomGraphsIsStoredOnceForAnyPartsAndCaches) {
  std::mt19937 random(7);
  const auto below = [&](Index limit) { return static_cast<Index>(random() % static_cast<unsigned>(limit)); };
  for (unsigned round = 0; round < 60; ++round) {
    const int block = 1 + below(4);
    const Index nodes = 1 + below(150);
    const Csr<double> matrix = random_graph(nodes, 1 + below(12), block, round);
    Parameters parameters{{"guests", below(2)}, {"cache", 1 + below(120)}, {"block", below(2) ? block : 1}};
    if (below(2)) parameters["parts"] = 1 + below(40);
    BuildOptions options = options_of(parameters);
    if (below(3) == 0) {  // parts that nobody found, some of them empty, some too large
      Partition given{1 + below(9), Array<Index>(static_cast<std::size_t>(matrix.rows))};
      for (Index& part : given.part_of) part = below(given.parts);
      options.partition = std::make_shared<const Partition>(std::move(given));
    }
    SCOPED_TRACE("round " + std::to_string(round) + words(parameters));
    const Limits limits = below(2) ? gpu_like() : cpu_limits<double>();
    ASSERT_NO_FATAL_FAILURE(expect_holds(built_for(matrix, limits, options), matrix));
  }
}

TEST(Ehyb, ThePapersEquationsGiveTheNumberOfParts) {
  // K P parts with the smallest K for which dimension * tau / (K P) fits: guests = 0 is the paper's own case.
  const BuildOptions paper = options_of({{"guests", 0}});
  const Limits limits{.multiprocessors = 80, .cache_bytes = 96 * 1024, .slice_rows = 32, .pack = 4, .value_pack = 2};
  for (const Index dimension : {85623, 1270432, 1489752, 4147110}) {
    const Shape shape = choose_shape(dimension, 1, 8, limits, paper);
    EXPECT_EQ(shape.parts % 80, 0);
    EXPECT_LE((dimension + shape.parts - 1) / shape.parts, shape.room);
    if (shape.parts > 80) {
      EXPECT_GT(dimension, Offset(shape.parts - 80) * shape.room) << "fewer parts would do";
    }
  }
  EXPECT_EQ(choose_shape(1489752, 1, 4, limits, paper).room, 96 * 256 - 1);  // a place is for the zero of padding
  EXPECT_EQ(choose_shape(100, 1, 8, limits, paper).parts, 1);                // too small to be cut
  EXPECT_EQ(choose_shape(0, 1, 8, limits, paper).parts, 1);
  // 16 bits number what a cache holds, however large it is.
  const Limits large{.multiprocessors = 1, .cache_bytes = 1 << 24, .slice_rows = 32, .pack = 4, .value_pack = 2};
  EXPECT_EQ(choose_shape(1 << 20, 1, 8, large, paper).room, 65535);
  EXPECT_GE(choose_shape(1 << 20, 1, 8, large, paper).parts, 17);
}

TEST(Ehyb, NoCacheIsLargerThanTheDeviceHas) {
  const BuildOptions greedy = options_of({{"cache", 1 << 18}});
  Limits limits = gpu_like();
  EXPECT_EQ(choose_shape(100000, 1, 8, limits, greedy).room, 65535);  // 16 bits
  limits.max_cache_bytes = 60000;
  EXPECT_EQ(choose_shape(100000, 1, 8, limits, greedy).room, 7499);
}

TEST(Ehyb, GuestsAreTheColumnsWantedMost) {
  // Two parts of two rows; the first wants column 2 twice and column 3 once, with room for one of them.
  const Csr<double> matrix = matrix_of(4, 4, {{0, 2}, {1, 2, 3}, {2}, {3}});
  BuildOptions options = options_of({{"cache", 4}, {"block", 1}});
  options.partition = std::make_shared<const Partition>(Partition{2, {0, 0, 1, 1}});
  const Storage<double> storage = built_for(matrix, cpu_limits<double>(), options);
  EXPECT_THAT(storage.caches.cached, ::testing::ElementsAre(0, 1, 2, 2, 3));
  EXPECT_EQ(storage.extra.pieces, 1);
  EXPECT_EQ(std::ranges::count(storage.extra.columns, 3), 1);
}

TEST(Ehyb, NumbersGiveTheSameShapeOnADeviceOfAnotherSize) {
  Limits small = gpu_like(), large = gpu_like();
  small.multiprocessors = 1;
  large.multiprocessors = 132;
  large.cache_bytes *= 3;
  for (const Index nodes : {0, 5, 3000, 500000})
    for (const int block : {1, 3}) {
      const Shape shape = choose_shape(nodes, block, 8, small, options_of({}));
      EXPECT_EQ(choose_shape(nodes, block, 8, large, options_of(numbers_of(shape))), shape) << nodes;
      const Shape other = choose_shape(nodes, block, 8, large, options_of({{"guests", 0}}));
      EXPECT_EQ(choose_shape(nodes, block, 8, small, options_of(numbers_of(other))), other) << nodes;
    }
}

TEST(Ehyb, BlocksThatAreNotFullAreExtra) {
  Csr<double> matrix = blocky(3, 100, 100, 8, 0, 1);
  EXPECT_EQ(built_for(matrix, cpu_limits<double>(), options_of({})).extra.pieces, 0);
  matrix = blocky(3, 100, 100, 8, 1, 1);
  const Storage<double> some = built_for(matrix, cpu_limits<double>(), options_of({{"block", 3}}));
  EXPECT_EQ(some.shape.block, 3);
  EXPECT_GT(some.extra.pieces, 0);
  EXPECT_EQ(built_for(blocky(3, 100, 100, 8, 20, 1), cpu_limits<double>(), options_of({})).shape.block, 1);
}

TEST(Ehyb, TheOperatorSaysHowItStores) {
  const auto details = [](const std::string& format, const std::string& matrix) {
    return plan(generate<double>(matrix), {.format = format}).info().details;
  };
  EXPECT_THAT(details("ehyb:parts=4", "gen:elasticity3d:6"), HasSubstr("4 parts"));
  EXPECT_THAT(details("ehyb:parts=4", "gen:elasticity3d:6"), HasSubstr("100.0 % of entries cached, 3 x 3 blocks"));
}

Storage<double> built_on(const MatrixSource<double>& source, const BuildOptions& options) {
  return WEFT_ON_DEVICE(options.device, ehyb::build_storage<double>)(source, options);
}

template <class T>
bool same(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

void expect_same(const Storage<double>& built, const Storage<double>& expected) {
  EXPECT_EQ(built.shape, expected.shape);
  EXPECT_TRUE(same(built.caches.part_of, expected.caches.part_of));
  EXPECT_TRUE(same(built.caches.row_begin, expected.caches.row_begin));
  EXPECT_TRUE(same(built.caches.cache_begin, expected.caches.cache_begin));
  EXPECT_TRUE(same(built.caches.cached, expected.caches.cached));
  EXPECT_TRUE(same(built.order, expected.order));
  EXPECT_TRUE(same(built.slice_begin, expected.slice_begin));
  EXPECT_TRUE(same(built.slices, expected.slices));
  EXPECT_TRUE(same(built.columns, expected.columns));
  EXPECT_TRUE(same(built.values, expected.values));
  EXPECT_EQ(built.max_cached, expected.max_cached);
  EXPECT_EQ(built.extra.pieces, expected.extra.pieces);
  EXPECT_TRUE(same(built.extra.columns, expected.extra.columns));
  EXPECT_TRUE(same(built.extra.values, expected.extra.values));
  EXPECT_TRUE(same(built.extra.places, expected.extra.places));
  EXPECT_TRUE(same(built.extra.ranges, expected.extra.ranges));
}

class EhybOnDevices : public ::testing::TestWithParam<weft::test::Place> {};
INSTANTIATE_TEST_SUITE_P(Places, EhybOnDevices, ::testing::ValuesIn(weft::test::places()),
                         [](const auto& place) { return weft::test::name_of(place.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EhybOnDevices);

TEST_P(EhybOnDevices, SetUpIsThatOfTheCpuBitByBit) {
  const weft::test::PlaceScope scope(GetParam());
  for (const auto& [name, matrix] : awkward())
    for (const Parameters& parameters : choices) {
      if (matrix.cols > 2000000 && parameters.contains("parts")) continue;
      SCOPED_TRACE(name + words(parameters));
      BuildOptions options = options_of(parameters, GetParam().device);
      const Storage<double> expected = built_for(matrix, limits_of<double>(GetParam().device), options);
      // Finding the parts takes the emulator long: once for each matrix.
      if (!parameters.empty()) options.partition = partition_of_rows(expected.caches, expected.shape.block);
      ASSERT_NO_FATAL_FAILURE(expect_same(built_on(matrix, options), expected));
    }
  const Csr<double> mesh = generate<double>("gen:elasticity3d:7");
  const BuildOptions options = options_of({{"parts", 5}}, GetParam().device);
  expect_same(built_on(mesh, options), built_for(mesh, limits_of<double>(GetParam().device), options));
}

/// Three nodes with blocks to nearly all others, of which one in 50 lacks an entry, and diagonal blocks.
Csr<double> with_hubs(Index nodes, int block) {
  std::vector<std::set<Index>> rows(static_cast<std::size_t>(nodes * block));
  for (Index node = 0; node < nodes; ++node) {
    const bool hub = node % (nodes / 3) == 1;
    for (Index other = hub ? 0 : node; other < (hub ? nodes : node + 1); ++other)
      for (int r = 0; r < block && (other % 7 != 3 || other == node); ++r)
        for (int c = 0; c < block; ++c)
          if (block == 1 || (other + r * c) % 50 != 4)
            rows[static_cast<std::size_t>(node * block + r)].insert(other * block + c);
  }
  return matrix_of(nodes * block, nodes * block, rows);
}

TEST_P(EhybOnDevices, RowsOfThousandsOfBlocksAreThoseOfTheCpu) {
  const weft::test::PlaceScope scope(GetParam());
  for (const int block : {1, 3}) {
    const Csr<double> matrix = with_hubs(1400, block);
    for (const int cache : {4000, 300}) {
      SCOPED_TRACE("block " + std::to_string(block) + ", cache " + std::to_string(cache));
      BuildOptions options = options_of({{"parts", 7}, {"block", block}, {"cache", cache}}, GetParam().device);
      const Storage<double> expected = built_for(matrix, limits_of<double>(GetParam().device), options);
      options.partition = partition_of_rows(expected.caches, block);
      ASSERT_NO_FATAL_FAILURE(expect_same(built_on(matrix, options), expected));
    }
  }
}

/// A point per row, or per node of so many.
std::shared_ptr<const Coordinates> random_points(Index rows, int rows_per_point, int dimensions, unsigned seed) {
  weft::test::Dice dice(seed);
  Array<double> numbers(static_cast<std::size_t>(rows / rows_per_point * dimensions));
  for (double& number : numbers) number = dice.uniform();
  return std::make_shared<const Coordinates>(Coordinates{dimensions, std::move(numbers)});
}

TEST_P(EhybOnDevices, PartsByCoordinatesAreThoseOfTheCpu) {
  const weft::test::PlaceScope scope(GetParam());
  const Csr<double> mesh = generate<double>("gen:elasticity3d:4"), grid = generate<double>("gen:poisson2d:16");
  const Csr<double> wide = generate<double>("gen:lp:60:90");
  const auto expect = [&](const Csr<double>& matrix, int rows_per_point, int block) {
    BuildOptions options = options_of({{"parts", 6}, {"block", block}}, GetParam().device);
    options.coordinates = random_points(matrix.rows, rows_per_point, 2, 5);
    const Storage<double> expected = built_for(matrix, limits_of<double>(GetParam().device), options);
    EXPECT_GE(expected.caches.parts(), 6);
    ASSERT_NO_FATAL_FAILURE(expect_same(built_on(matrix, options), expected));
    const Array<Index> parts = ordering::coordinate_parts(
        ordering::Pattern(matrix), block, *options.coordinates,
        {.parts = expected.caches.parts(), .capacity = expected.shape.max_nodes, .even_entries = true},
        ordering::Pulse());
    EXPECT_TRUE(std::ranges::equal(expected.caches.part_of, parts));
  };
  expect(mesh, 3, 3);
  expect(mesh, 3, 1);
  expect(mesh, 1, 3);
  expect(grid, 1, 1);
  expect(wide, 1, 1);
}

TEST(Ehyb, MultipliesWithPartsByCoordinatesInAnyOrder) {
  const Csr<double> matrix = generate<double>("gen:circuit:700");
  const auto given = random_points(matrix.rows, 1, 3, 2);
  std::vector<double> x(static_cast<std::size_t>(matrix.rows)), expected(x.size()), y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 11) - 5;
  for (const Ordering order : {Ordering::none, Ordering::length, Ordering::rcm}) {
    const Plan<double> planned =
        plan(matrix, {.format = "ehyb:parts=5", .order = order, .coordinates = given, .transpose = true});
    for (const Op op : {Op::none, Op::transpose}) {
      reference_apply<double>(op, 1.0, matrix, x, 0.0, expected);
      planned.apply(op, 1.0, x, 0.0, y);
      for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-9);
    }
  }
}

/// Against the reference, before and after new values; small whole numbers, so that sums are exact.
void expect_product(Device device, const Csr<double>& matrix, const std::string& format, int vectors,
                    std::shared_ptr<const Partition> given = nullptr) {
  SCOPED_TRACE(format + ", " + std::to_string(vectors) + " vectors");
  Csr<double> own = matrix;
  own.values = matrix.values.clone();
  Plan<double> planned = plan(own, {.device = device, .format = format, .partition = std::move(given)});
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

void expect_products(Device device) {
  for (auto& [name, matrix] : awkward()) {
    if (matrix.cols > 2000000) continue;  // x would be large
    SCOPED_TRACE(name);
    for (const Parameters& parameters : choices)
      ASSERT_NO_FATAL_FAILURE(expect_product(device, matrix, "ehyb:padding=1000000" + words(parameters), 1));
    ASSERT_NO_FATAL_FAILURE(expect_product(device, matrix, "ehyb:padding=1000000:cache=50", 5));
  }
}

TEST(Ehyb, RunsAreColumnsWhosePlacesFollowEachOther) {
  Array<std::uint16_t> columns(4 * 70, 0);
  const auto set = [&](Index k, std::array<std::uint16_t, 4> places) {
    std::ranges::copy(places, columns.begin() + 4 * k);
  };
  set(0, {1, 2, 3, 4});
  set(1, {5, 6, 7, 9});
  set(31, {65532, 65533, 65534, 65535});
  set(32, {65535, 0, 1, 2});
  set(33, {4, 3, 2, 1});
  set(69, {9, 10, 11, 12});
  EXPECT_THAT(find_runs(columns, 4), ::testing::ElementsAre(0x80000001u, 0u, 0x20u, 0u));
  EXPECT_THAT(find_runs({}, 4), ::testing::ElementsAre(0u));
}

template <Value V>
void expect_products_with_every_instruction_set(const std::string& format) {
  const Isa before = isa();
  for (auto& [name, matrix] : awkward()) {
    if (matrix.cols > 2000000) continue;  // x would be large
    Array<V> values(matrix.values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<V>(matrix.values[i]);
    const Csr<V> own{matrix.rows, matrix.cols, matrix.offsets, matrix.columns, std::move(values)};
    std::vector<V> x(static_cast<std::size_t>(own.cols)), y(static_cast<std::size_t>(own.rows), V(3)), expected(y);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<V>(i % 5) - V(2);
    reference_apply<V>(Op::none, V(2), own, x, V(-1), expected);
    const Plan<V> planned = plan(own, {.format = format});
    for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
      if (!isa_available(isa)) continue;
      set_isa(isa);
      std::vector<V> result = y;
      planned.apply(Op::none, V(2), x, V(-1), result);
      EXPECT_EQ(result, expected) << name << ", " << format << ", " << to_string(isa);  // small whole numbers
    }
  }
  set_isa(before);
}

TEST(Ehyb, EveryInstructionSetMultiplies) {
  for (const char* choice : {"", ":parts=5", ":block=1", ":block=3:cache=64"}) {
    expect_products_with_every_instruction_set<double>("ehyb:padding=1000000" + std::string(choice));
    expect_products_with_every_instruction_set<float>("ehyb:padding=1000000" + std::string(choice));
  }
}

TEST(Ehyb, EveryShapeMultiplies) { expect_products(Device::cpu()); }

TEST_P(EhybOnDevices, EveryShapeMultiplies) {
  const weft::test::PlaceScope scope(GetParam());
  expect_products(GetParam().device);
}

/// Some blocks are not full and some columns not cached, so that there is an extra part.
Csr<double> with_extra_part() { return random_graph(200, 12, 3, 5); }

TEST(Ehyb, NewValuesAreThoseOfAnewSetUp) {
  const Csr<double> matrix = with_extra_part();
  for (const Parameters& parameters : choices) {
    const BuildOptions options = options_of(parameters);
    Storage<double> storage = built_for(matrix, cpu_limits<double>(), options);
    Csr<double> other = matrix;
    other.values = Array<double>(matrix.values.size());
    for (std::size_t i = 0; i < other.values.size(); ++i) other.values[i] = static_cast<double>(i + 1);
    place_values<double>(other.offsets, other.columns, other.values, storage);
    SCOPED_TRACE(words(parameters));
    ASSERT_NO_FATAL_FAILURE(expect_holds(storage, other));
  }
}

TEST_P(EhybOnDevices, NewValuesSendNoMoreThanIsNeededToPlaceThem) {
  const weft::test::PlaceScope scope(GetParam());
  const Device device = GetParam().device;
  const Csr<double> mesh = generate<double>("gen:elasticity3d:6");
  const Csr<double> graph = with_extra_part();
  for (const Csr<double>* matrix : {&mesh, &graph}) {
    const auto built = format().build.get<double>()(*matrix, {.device = device});
    const std::size_t per_row = matrix->offsets.bytes(), values = matrix->values.bytes();
    // Of the extra part's entries, where they are in the csr; at worst half of the entries are extra.
    const std::size_t positions = matrix == &graph ? matrix->values.size() / 2 * sizeof(Offset) : 0;
    simt::reset_peak();
    const simt::MemoryUse before = simt::memory_use();
    built->update_values(matrix->values);
    const simt::MemoryUse after = simt::memory_use();
    EXPECT_LE(after.uploaded - before.uploaded, per_row + values + positions);
    EXPECT_EQ(after.downloaded, before.downloaded);
    const std::size_t marks = matrix->values.size() / 8 + 64;
    EXPECT_LE(after.peak - before.allocated, per_row + values + positions + marks);
    EXPECT_EQ(after.allocated, before.allocated);
  }
}

TEST_P(EhybOnDevices, ArraysOnTheDeviceGiveTheSameStorage) {
  const weft::test::PlaceScope scope(GetParam());
  const Device device = GetParam().device;
  for (const Csr<double>& matrix : {generate<double>("gen:elasticity3d:6"), with_extra_part()}) {
    const weft::test::CallersCsr<double, std::int32_t> callers(device, matrix);
    const BuildOptions options = options_of({{"parts", 3}}, device);
    expect_same(built_on(callers.view(), options), built_on(matrix, options));
  }
}

/// The edges that a partition can have.
void expect_edges(Device device) {
  std::vector<std::set<Index>> rows(300);
  for (Index r = 0; r < 300; ++r)
    for (Index k = 0; k < 5; ++k) rows[static_cast<std::size_t>(r)].insert(r / 50 * 50 + (r + 7 * k) % 50);
  const Csr<double> apart = matrix_of(300, 300, rows);  // six graphs that know nothing of each other
  Partition six{6, Array<Index>(300)};
  for (Index r = 0; r < 300; ++r) six.part_of[r] = r / 50;
  SCOPED_TRACE("no entry leaves its part");
  ASSERT_NO_FATAL_FAILURE(expect_product(device, apart, "ehyb:guests=0", 1, std::make_shared<const Partition>(six)));
  Partition mixed{6, Array<Index>(300)};
  for (Index r = 0; r < 300; ++r) mixed.part_of[r] = r % 6;
  for (const char* const format : {"ehyb:guests=0", "ehyb", "ehyb:cache=60"})
    ASSERT_NO_FATAL_FAILURE(expect_product(device, apart, format, 1, std::make_shared<const Partition>(mixed)));
  ASSERT_NO_FATAL_FAILURE(expect_product(device, apart, "ehyb:parts=300:guests=0", 1));  // a part a row

  // Rows of the first part have no entry in their own columns, so all of them are extra; no diagonal.
  for (Index r = 0; r < 300; ++r) {
    rows[static_cast<std::size_t>(r)].clear();
    if (r % 10 != 9) rows[static_cast<std::size_t>(r)] = {(r + 150) % 300, (r + 160) % 300};
  }
  const Csr<double> across = matrix_of(300, 300, rows);
  Partition halves{2, Array<Index>(300)};
  for (Index r = 0; r < 300; ++r) halves.part_of[r] = r / 150;
  SCOPED_TRACE("parts with extra rows only");
  ASSERT_NO_FATAL_FAILURE(
      expect_product(device, across, "ehyb:guests=0", 3, std::make_shared<const Partition>(halves)));
  ASSERT_NO_FATAL_FAILURE(expect_product(device, across, "ehyb", 3, std::make_shared<const Partition>(halves)));

  SCOPED_TRACE("a row longer than the cache");
  for (Index r = 0; r < 300; ++r) rows[static_cast<std::size_t>(r)] = {r};
  for (Index c = 0; c < 300; ++c) rows[17].insert(c);
  const Csr<double> arrow = matrix_of(300, 300, rows);
  for (const char* const format : {"ehyb:cache=20", "ehyb:cache=2", "ehyb:guests=0:cache=100", "ehyb"})
    ASSERT_NO_FATAL_FAILURE(expect_product(device, arrow, std::string(format) + ":padding=1000", 1));

  SCOPED_TRACE("fewer rows than a warp");
  for (Index n = 1; n < 5; ++n)
    ASSERT_NO_FATAL_FAILURE(expect_product(device, random_graph(n, 3, 1, static_cast<unsigned>(n)), "ehyb", 1));
}

TEST(Ehyb, TheEdgesOfPartsMultiply) { expect_edges(Device::cpu()); }

TEST_P(EhybOnDevices, TheEdgesOfPartsMultiply) {
  const weft::test::PlaceScope scope(GetParam());
  expect_edges(GetParam().device);
}

/// x is infinite where no entry is: padding and what is cached for nothing must not meet it.
void expect_padding_meets_no_x(Device device) {
  Csr<double> matrix = random_graph(400, 6, 1, 3);
  std::vector<bool> used(400);
  for (const Index column : matrix.columns) used[static_cast<std::size_t>(column)] = true;
  std::vector<double> x(400, 1.0);
  for (std::size_t c = 0; c < x.size(); ++c)
    if (!used[c]) x[c] = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(std::ranges::any_of(x, [](double element) { return std::isinf(element); }));
  for (const char* const format : {"ehyb", "ehyb:parts=9", "ehyb:guests=0:parts=9", "ehyb:cache=30"}) {
    Plan<double> planned = plan(matrix, {.device = device, .format = format});
    for (const double element : weft::test::product(planned, device, x, 400, 1))
      EXPECT_TRUE(std::isfinite(element)) << format;
  }
}

TEST(Ehyb, PaddingMeetsNoX) { expect_padding_meets_no_x(Device::cpu()); }

TEST_P(EhybOnDevices, ACacheLargerThanTheDeviceHasMultiplies) {
  const weft::test::PlaceScope scope(GetParam());
  expect_product(GetParam().device, generate<double>("gen:poisson2d:260"), "ehyb:cache=200000", 1);
}

TEST_P(EhybOnDevices, PaddingMeetsNoX) {
  const weft::test::PlaceScope scope(GetParam());
  expect_padding_meets_no_x(GetParam().device);
}

}  // namespace
}  // namespace weft::ehyb
