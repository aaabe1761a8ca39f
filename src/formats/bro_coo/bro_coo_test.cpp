#include "formats/bro_coo/bro_coo.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/plan.hpp>

#include <limits>
#include <random>

#include "formats/testing.hpp"

namespace weft::bro_coo {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::weft::test::all_walked;
using ::weft::test::integer_matrix;
using ::weft::test::Place;
using ::weft::test::RowWriter;

template <class T>
std::vector<T> list(const Array<T>& array) {
  return {array.begin(), array.end()};
}

Csr<double> random_matrix(Index rows, Index most, double empty, unsigned seed) {
  std::mt19937 random(seed);
  RowWriter writer;
  for (Index row = 0; row < rows; ++row)
    writer.row(std::bernoulli_distribution(empty)(random) ? 0 : std::uniform_int_distribution<Index>(1, most)(random));
  return integer_matrix<double>(writer.offsets());
}

template <class V>
void expect_same(const Csr<V>& a, const Csr<V>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_EQ(list(a.offsets), list(b.offsets));
  EXPECT_EQ(list(a.columns), list(b.columns));
  EXPECT_EQ(list(a.values), list(b.values));
}

template <class V>
void expect_same(const Storage<V>& a, const Storage<V>& b) {
  EXPECT_EQ(a.has_empty_rows, b.has_empty_rows);
  EXPECT_EQ(list(a.bounds), list(b.bounds));
  EXPECT_EQ(list(a.widths), list(b.widths));
  EXPECT_EQ(list(a.words), list(b.words));
  EXPECT_EQ(list(a.symbols), list(b.symbols));
  EXPECT_EQ(list(a.columns), list(b.columns));
  EXPECT_EQ(list(a.values), list(b.values));
}

struct Case {
  const char* name;
  Csr<double> matrix;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const char* name, const RowWriter& rows) {
    all.push_back({name, integer_matrix<double>(rows.offsets())});
  };
  add("no rows", RowWriter());
  add("no entries", RowWriter().empty(5));
  add("one entry", RowWriter().empty(3).row(1).empty(4));
  add("one huge row", RowWriter().empty(1).row(20000).empty(2));  // with steps=1, carries of carries
  add("first and last row only", RowWriter().row(3).empty(70000).row(2));
  add("rows of one entry", RowWriter().rows_up_to(20000, 1));
  add("rows of two entries", RowWriter().rows_up_to(2049, 2));
  add("a long row between short ones", RowWriter().rows_up_to(500, 3).row(3000).rows_up_to(4500, 7));
  add("gaps of many sizes", [] {
    RowWriter rows;
    for (int i = 0; i < 400; ++i) rows.row(1 + i % 3).empty(i % 17 == 0 ? 1 << (i % 13) : 0);
    return rows;
  }());
  for (unsigned seed = 0; seed < 6; ++seed)
    all.push_back({"random", random_matrix(Index(200 + 300 * seed), 9, 0.2 * (seed % 3), seed)});
  return all;
}

std::vector<Shape> shapes_for(Offset entries) {
  std::vector<Shape> all;
  for (const int steps : {1, 4, 16, 32, 256})
    for (const int bits : {32, 64}) all.push_back({entries, steps, bits});
  return all;
}

std::string text(const char* name, const Shape& shape) {
  return std::string(name) + ", steps " + std::to_string(shape.steps) + ", symbols " +
         std::to_string(shape.symbol_bits);
}

// Seventy entries in intervals of 64: the last has six entries, one a lane.
TEST(BroCoo, ArraysOfASmallMatrix) {
  const Csr<double> matrix = integer_matrix<double>(RowWriter().row(3).empty(2).row(62).row(5).offsets());
  const Storage<double> storage = encode(matrix, {.entries = 70, .steps = 2, .symbol_bits = 32});
  EXPECT_TRUE(storage.has_empty_rows);
  EXPECT_THAT(list(storage.bounds), ElementsAre(0, 3, 3, 4));
  EXPECT_THAT(list(storage.widths), ElementsAre(2, 1));
  EXPECT_THAT(list(storage.words), ElementsAre(0, 32, 64));
  // Entry 3, the second of lane 1, lies 3 rows behind the one before.
  std::vector<std::uint32_t> symbols(64, 0);
  symbols[1] = 3u << 28;
  symbols[32 + 1] = 1u << 31;  // entry 65 begins row 4
  EXPECT_THAT(list(storage.symbols), ElementsAreArray(symbols));
  EXPECT_EQ(storage.values.size(), 96u);
  EXPECT_EQ(storage.values[32 + 1], matrix.values[3]);  // step 1, lane 1
  EXPECT_EQ(storage.columns[64 + 5], matrix.columns[69]);
  EXPECT_EQ(storage.columns[64 + 6], 0);
  EXPECT_EQ(storage.values[64 + 6], 0);
}

TEST(BroCoo, SymbolsOf64BitsHoldTheHigherHalfFirst) {
  // One interval of 32 * 64 entries, one row an entry: every bit but the first is 1.
  const Csr<double> matrix = integer_matrix<double>(RowWriter().rows_up_to(2048, 1).offsets());
  const Storage<double> storage = encode(matrix, {.entries = 2048, .steps = 64, .symbol_bits = 64});
  ASSERT_EQ(storage.symbols.size(), 64u);
  EXPECT_EQ(storage.symbols[0], 0xffffffffu);
  EXPECT_EQ(storage.symbols[1], 0x7fffffffu);
}

TEST(BroCoo, DecodesWhatWasEncoded) {
  for (const Case& c : cases())
    for (const Shape& shape : shapes_for(c.matrix.nonzeros())) {
      SCOPED_TRACE(text(c.name, shape));
      expect_same(decode(encode(c.matrix, shape)), c.matrix);
    }
}

TEST(BroCoo, TheLargestDelta) {
  // 2^31 - 1 rows cannot be held here as a Csr; the stream can.
  constexpr Index rows = std::numeric_limits<Index>::max();
  for (const int bits : {32, 64}) {
    std::vector<std::uint32_t> words(static_cast<std::size_t>(3 * lanes * bits / 32), 0);
    const auto write = [&]<class Symbol>(Symbol* to) {
      BitWriter<Symbol> writer(to + 7, lanes, bits);
      writer.put(0, max_width);
      writer.put(rows - 1, max_width);
      writer.put(1, max_width);
      writer.finish();
    };
    if (bits == 64)
      write(reinterpret_cast<std::uint64_t*>(words.data()));
    else
      write(words.data());
    DeltaReader reader(words.data(), 7, bits / 32, max_width);
    EXPECT_EQ(reader.take(), 0u);
    EXPECT_EQ(reader.take(), static_cast<std::uint32_t>(rows - 1));
    EXPECT_EQ(reader.take(), 1u);
  }
}

TEST(BroCoo, SaysHowMuchSmallerRowNumbersAre) {
  // 32 bits for 32 entries, and 13 bytes an interval of 1024.
  const Csr<double> matrix = integer_matrix<double>(RowWriter().rows_up_to(1 << 16, 8).offsets());
  const Storage<double> storage = encode(matrix, {.entries = 1 << 16, .steps = 32, .symbol_bits = 32});
  EXPECT_NEAR(space_savings(storage.shape, storage.symbols.bytes()), 1 - (128.0 + 13) / 4096, 1e-12);
  EXPECT_THAT(plan(matrix, {.format = "bro-coo"}).info().details, HasSubstr("row numbers 96.6 % smaller"));
}

/// What a file may claim.
TEST(BroCoo, RefusesStorageThatIsNoMatrix) {
  const Csr<double> matrix = integer_matrix<double>(RowWriter().rows_up_to(30, 3).row(70).empty(1).row(9).offsets());
  const auto refuses = [&](const char* words, auto&& change) {
    Storage<double> storage = encode(matrix, {.entries = matrix.nonzeros(), .steps = 2, .symbol_bits = 32});
    change(storage);
    try {
      decode(storage);
      ADD_FAILURE() << "accepted: " << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse);
      EXPECT_THAT(error.what(), HasSubstr(words));
    }
  };
  using S = Storage<double>;
  refuses("interval 1 lead out", [](S& s) { s.bounds[0] = -1; });
  refuses("interval 1 lead out", [](S& s) { s.bounds[0] = s.rows; });
  refuses("interval 1 lead out", [](S& s) { s.symbols[0] |= 1u << 31; });  // the first entry's delta
  refuses("interval 2 lead out", [](S& s) { s.widths[1] = 32; });
  refuses("interval 2 lead out", [](S& s) { s.symbols[s.words[1] + 20] = ~0u; });
  refuses("interval 1 lead out", [](S& s) { s.symbols[5] |= 1; });                      // behind the last delta
  refuses("interval 2 lead out", [](S& s) { s.symbols[s.words[1] + 31] = 1u << 31; });  // of padding
  refuses("interval 1 lead out", [](S& s) { s.bounds[1] += 1; });
  refuses("interval 1 go on behind", [](S& s) {
    s.bounds[2] -= 1;
    s.bounds[3] -= 1;
  });
  refuses("behind the last entry", [](S& s) { s.columns[s.columns.size() - 1] = 1; });
  refuses("columns of row 1 are not", [](S& s) { s.columns[0] = -1; });
  refuses("columns of row 1 are not", [](S& s) { s.columns[0] = s.cols; });
  refuses("columns of row 1 are not", [](S& s) { s.columns[32] = s.columns[0]; });
}

class BroCooOnEveryDevice : public ::testing::TestWithParam<Device> {};

// Rows begin and end at every entry around lanes' and intervals' borders.
TEST_P(BroCooOnEveryDevice, RowsAnywhereAroundBorders) {
  for (const test::Walked walked : all_walked)
    for (const Offset border : {Offset(4), Offset(128), Offset(256)})
      for (Offset entry = border - 2; entry <= border + 2; ++entry)
        for (const Offset length : {1, 3, 200}) {
          RowWriter rows;
          if (walked == test::Walked::border) rows.rows_up_to(entry - 1, 5);
          test::walk_to(rows, walked, entry);
          rows.row(length).row(2);
          const auto matrix = integer_matrix<double>(rows.offsets());
          const auto built = test::build_variant<double>("bro-coo:steps=4", GetParam(), matrix);
          for (const double beta : {0.0, 1.0, 3.0})
            ASSERT_TRUE(test::multiplies_exactly(*built, GetParam(), matrix, beta))
                << test::name_of(walked) << " at " << entry << ", then " << length;
        }
}

TEST_P(BroCooOnEveryDevice, MultipliesAwkwardMatrices) {
  for (const Case& c : cases())
    for (const char* name : {"bro-coo", "bro-coo:steps=1", "bro-coo:sym=64", "bro-coo:steps=256"}) {
      if (c.matrix.rows == 0) continue;
      const auto built = test::build_variant<double>(name, GetParam(), c.matrix);
      for (const double beta : {0.0, 1.0, 3.0})
        ASSERT_TRUE(test::multiplies_exactly(*built, GetParam(), c.matrix, beta)) << c.name << ", " << name;
    }
}

TEST_P(BroCooOnEveryDevice, PaddingNeverMeetsX) {
  // Column 0, which padding has, is infinite in x; no entry is in it.
  const Csr<double> matrix = make_csr<double>(2, 3, {0, 1, 3}, {1, 1, 2}, {1, 2, 3});
  const auto built = test::build_variant<double>("bro-coo", GetParam(), matrix);
  Array<double> x(3, 1.0);
  x[0] = std::numeric_limits<double>::infinity();
  EXPECT_THAT(list(test::apply(*built, GetParam(), 1.0, x, 0.0, Array<double>(2, 7.0))), ElementsAre(1, 5));
}

INSTANTIATE_TEST_SUITE_P(All, BroCooOnEveryDevice, ::testing::ValuesIn(available_devices()),
                         [](const auto& test) { return test.param.name(); });

// Few entries per lane make carries of carries.
TEST(BroCoo, AMatrixOnADeviceStaysThere) {
  for (const Device device : test::devices_with_kernels())
    for (const char* way : {"bro-coo", "bro-coo:steps=1", "bro-coo:sym=64"})
      for (const int empty : {0, 50}) {
        const auto matrix =
            integer_matrix<double>(RowWriter().rows_up_to(9000, 5).empty(empty).row(12000).row(2).offsets());
        test::expect_same_from_device<Offset>(way, device, matrix);
        test::expect_same_from_device<std::int32_t>(way, device, matrix);
      }
}

class BroCooEncoder : public ::testing::TestWithParam<Place> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BroCooEncoder);

TEST_P(BroCooEncoder, EqualsTheCpusBitByBit) {
  const test::PlaceScope scope(GetParam());
  for (const Case& c : cases())
    for (const Shape& shape : shapes_for(c.matrix.nonzeros())) {
      SCOPED_TRACE(text(c.name, shape));
      const Device device = GetParam().device;
      expect_same(WEFT_ON_DEVICE(device, bro_coo::encode<double>)(c.matrix, shape, device), encode(c.matrix, shape));
    }
}

INSTANTIATE_TEST_SUITE_P(All, BroCooEncoder, ::testing::ValuesIn(test::places()),
                         [](const auto& test) { return test::name_of(test.param); });

}  // namespace
}  // namespace weft::bro_coo
