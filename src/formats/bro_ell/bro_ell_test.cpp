#include "formats/bro_ell/bro_ell.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/testing.hpp"
#include "structures.hpp"

namespace weft::bro_ell {
namespace {

using test::Dice;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// The matrix A of section 2 of the paper.
Csr<double> papers_matrix() {
  return make_csr<double>(4, 5, {0, 2, 7, 10, 12}, {0, 2, 0, 1, 2, 3, 4, 1, 2, 4, 3, 4},
                          {3, 2, 2, 6, 5, 4, 1, 1, 9, 7, 8, 3});
}

TEST(BitPacking, ANumberNeedsItsBits) {
  EXPECT_EQ(bits_for(0), 0);
  EXPECT_EQ(bits_for(1), 1);
  EXPECT_EQ(bits_for(4), 3);
  EXPECT_EQ(bits_for(0x7fffffff), 31);
  EXPECT_EQ(bits_for(0xffffffff), 32);
}

template <class Symbol>
void expect_numbers_return(int symbol_bits, std::uint64_t seed) {
  Dice dice(seed);
  constexpr Offset rows = 3;
  std::vector<int> widths;
  std::vector<std::vector<std::uint32_t>> numbers(rows);
  Offset bits = 0;
  for (int k = 0; k < 200; ++k) {
    widths.push_back(dice.below(1 + std::min(32, symbol_bits)));
    bits += widths.back();
    for (auto& row : numbers)
      row.push_back(widths.back() == 0 ? 0 : static_cast<std::uint32_t>(dice.next() >> (64 - widths.back())));
  }
  std::vector<Symbol> symbols(static_cast<std::size_t>(symbols_for(bits, symbol_bits) * rows) + 1, Symbol(0x5a));
  for (Offset r = 0; r < rows; ++r) {
    BitWriter<Symbol> writer(symbols.data() + r, rows, symbol_bits);
    for (std::size_t k = 0; k < widths.size(); ++k) writer.put(numbers[r][k], widths[k]);
    writer.finish();
  }
  EXPECT_EQ(symbols.back(), Symbol(0x5a)) << "written too far";
  for (Offset r = 0; r < rows; ++r) {
    BitReader<Symbol> reader(symbols.data() + r, rows, symbol_bits);
    for (std::size_t k = 0; k < widths.size(); ++k)
      ASSERT_EQ(reader.take(widths[k]), numbers[r][k]) << symbol_bits << " bits, number " << k;
  }
}

TEST(BitPacking, NumbersOfAnyWidthReturnFromSymbolsOfAnyLength) {
  for (std::uint64_t seed = 1; seed < 30; ++seed) {
    for (const int bits : {1, 3, 4, 7, 8}) expect_numbers_return<std::uint8_t>(bits, seed);
    for (const int bits : {9, 31, 32}) expect_numbers_return<std::uint32_t>(bits, seed);
    for (const int bits : {33, 63, 64}) expect_numbers_return<std::uint64_t>(bits, seed);
  }
}

// Figure 1: h = 2, sym_len = 4, 32 bits in all.
TEST(BroEll, ThePapersFigureOneBitForBit) {
  const Csr<double> matrix = papers_matrix();
  std::uint8_t widths[5] = {};
  std::vector<std::uint8_t> symbols(4);

  const SliceRows first{matrix.offsets.data(), matrix.columns.data(), 2};
  measure_slice(first, 5, widths);
  EXPECT_THAT(widths, ElementsAre(1, 2, 1, 1, 1));  // and b_p = 2
  pack_slice(first, 5, widths, 4, 2, symbols.data());
  EXPECT_THAT(symbols, ElementsAre(0b1100, 0b1011, 0b0000, 0b1100));

  const SliceRows second{matrix.offsets.data() + 2, matrix.columns.data(), 2};
  measure_slice(second, 3, widths);
  EXPECT_THAT(std::vector(widths, widths + 3), ElementsAre(3, 1, 2));  // and b_p = 2
  pack_slice(second, 3, widths, 4, 2, symbols.data());
  EXPECT_THAT(symbols, ElementsAre(0b0101, 0b1001, 0b1000, 0b0000));
}

TEST(BroEll, ThePapersMatrixInStorage) {
  const Storage<double> storage = encode(papers_matrix(), {.slice_rows = 2}, {});
  ASSERT_EQ(storage.slices.size(), 2u);
  EXPECT_EQ(storage.slices[0], (Slice{.value = 0, .word = 0, .width = 0, .columns = 5, .symbols = 1}));
  EXPECT_EQ(storage.slices[1], (Slice{.value = 10, .word = 2, .width = 8, .columns = 3, .symbols = 1}));
  EXPECT_THAT(storage.bit_alloc, ElementsAre(1, 2, 1, 1, 1, 0, 0, 0, 3, 1, 2, 0));
  EXPECT_THAT(storage.words, ElementsAre(0b110000u << 26, 0b101111u << 26, 0b010110u << 26, 0b100100u << 26));
  EXPECT_THAT(storage.values, ElementsAre(3, 2, 2, 6, 0, 5, 0, 4, 0, 1, 1, 8, 9, 3, 7, 0));
  // C: 16 bytes of symbols, 8 of widths, 8 of num_col. O: the paper's 80 bytes.
  const Savings savings = savings_of(storage);
  EXPECT_EQ(savings.compressed_bytes, 32);
  EXPECT_EQ(savings.ellpack_bytes, 80);
  EXPECT_DOUBLE_EQ(savings.eta(), 0.6);
}

template <Value V>
void expect_same_matrix(const Csr<V>& a, const Csr<V>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_TRUE(std::ranges::equal(a.offsets, b.offsets));
  EXPECT_TRUE(std::ranges::equal(a.columns, b.columns));
  EXPECT_TRUE(std::ranges::equal(a.values, b.values));
}

/// Structures that are hard on the encoder; the widest columns there are.
std::vector<Csr<double>> adversarial() {
  constexpr Index last = std::numeric_limits<Index>::max() - 1;  // of that many columns
  std::vector<Csr<double>> all;
  all.push_back(papers_matrix());
  all.push_back(make_csr<double>(0, 0, {0}, {}, {}));
  all.push_back(make_csr<double>(3, 0, {0, 0, 0, 0}, {}, {}));
  all.push_back(make_csr<double>(1, 1, {0, 1}, {0}, {7}));
  all.push_back(make_csr<double>(1, last + 1, {0, 2}, {0, last}, {1, 2}));     // a delta of 2^31 - 2
  all.push_back(make_csr<double>(2, last + 1, {0, 1, 2}, {last, 0}, {1, 2}));  // 31 bits and 1
  all.push_back(make_csr<double>(2, last + 1, {0, 3, 6}, {0, 1, last, 9, last - 1, last}, {1, 2, 3, 4, 5, 6}));
  // 31 bits again and again begin at every bit of a symbol.
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  for (Index row = 0; row < 70; ++row) {
    if (row % 5 != 0) {
      columns.push_back(row);
      for (Index k = 0; k < row % 7; ++k) columns.push_back(columns.back() + (1 << (k * 4)));
      columns.push_back(last - row % 2);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  std::vector<double> values(columns.size());
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k % 9);
  all.push_back(make_csr<double>(70, last + 1, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                                 Array<double>(std::move(values))));
  for (const Index rows : {1, 31, 32, 33, 255, 256, 257, 600}) {
    Dice dice(static_cast<std::uint64_t>(rows));
    std::vector<Index> lengths(static_cast<std::size_t>(rows));
    for (Index& length : lengths) length = dice.below(4) == 0 ? 0 : dice.below(40);
    all.push_back(test::random_rows<double>(rows % 2 ? 50 : 1 << 20, lengths, 5));
  }
  return all;
}

const Shape shapes[] = {{},
                        {.slice_rows = 32},
                        {.slice_rows = 1024, .symbol_bits = 64},
                        {.slice_rows = 64, .symbol_bits = 64},
                        {.slice_rows = 32, .symbol_bits = 32, .max_columns = 3},
                        {.slice_rows = 256, .symbol_bits = 32, .max_columns = 0},
                        {.slice_rows = 64, .min_bits = 13}};

TEST(BroEll, WhatIsEncodedComesBack) {
  for (const Csr<double>& matrix : adversarial())
    for (const Shape& shape : shapes) {
      const Storage<double> storage = encode(matrix, shape, {});
      EXPECT_EQ(savings_of(matrix, shape).compressed_bytes, savings_of(storage).compressed_bytes);
      EXPECT_EQ(savings_of(matrix, shape).ellpack_bytes, savings_of(storage).ellpack_bytes);
      if (shape.max_columns > 40) {
        expect_same_matrix(decode(storage), matrix);
      } else {
        const Csr<double> kept = decode(storage);
        ASSERT_EQ(kept.nonzeros(), storage.kept);
        for (Index row = 0; row < matrix.rows; ++row) {
          const Offset begin = matrix.offsets[row];
          const Offset length = std::min<Offset>(shape.max_columns, matrix.offsets[row + 1] - begin);
          ASSERT_EQ(kept.offsets[row + 1] - kept.offsets[row], length);
          for (Offset k = 0; k < length; ++k) ASSERT_EQ(kept.columns[kept.offsets[row] + k], matrix.columns[begin + k]);
        }
      }
      for (const Slice& slice : storage.slices)
        for (Index k = 0; k < slice.columns; ++k) ASSERT_GE(storage.bit_alloc[slice.width + k], 1);
    }
}

TEST(BroEll, StoredZerosAreEntries) {
  const Csr<double> matrix = make_csr<double>(2, 3, {0, 2, 3}, {0, 2, 1}, {0, -0.0, 0});
  expect_same_matrix(decode(encode(matrix, {}, {})), matrix);
}

TEST(BroEll, AMatrixThatWouldBeMostlyPaddingIsRefused) {
  std::vector<Index> lengths(512, 1);
  lengths[7] = 20000;
  const Csr<double> matrix = test::random_rows<double>(30000, lengths, 3);
  try {
    encode(matrix, {}, {});
    ADD_FAILURE() << "41 MB were allowed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("bro-ell needs 41 MB, 250 times the entries"));
    EXPECT_THAT(error.what(), HasSubstr("allow bro-ell:padding=250, or use bro-hyb"));
  }
}

TEST(BroEll, InfoTellsTheSavings) {
  const Csr<double> matrix = generate<double>("gen:poisson2d:64");
  const PlanInfo info = plan(matrix, {.format = "bro-ell"}).info();
  const double eta = savings_of(encode(matrix, {}, {})).eta();
  EXPECT_GT(eta, 0.3);
  char text[64];
  std::snprintf(text, sizeof text, "h = 256, 32-bit symbols, eta = %.1f %%", 100 * eta);
  EXPECT_EQ(info.details, text);
  EXPECT_THAT(plan(matrix, {.format = "bro-ell:h=32:sym=64"}).info().details, HasSubstr("h = 32, 64-bit symbols"));
}

TEST(BroEll, NewValuesReplaceTheOldOnes) {
  const Csr<double> matrix = papers_matrix();
  auto p = plan(matrix, {.format = "bro-ell:h=32"});
  std::vector<double> x{1, 10, 100, 1000, 10000}, y(4);
  p.apply(x, y);
  EXPECT_THAT(y, ElementsAre(203, 14562, 70910, 38000));
  p.update_values(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  p.apply(x, y);
  EXPECT_THAT(y, ElementsAre(101, 11111, 10110, 11000));
}

TEST(BroEll, APartMultipliesTheFirstEntriesOfEachRow) {
  const Csr<double> matrix = papers_matrix();
  for (const Device device : available_devices()) {
    const auto part = build_part<double>(matrix, 3, {.device = device, .parameters = {{"h", 32}}});
    const Array<double> x{1, 10, 100, 1000, 10000}, y{1, 2, 3, 4};
    EXPECT_THAT(test::apply(*part, device, 1.0, x, 1.0, y), ElementsAre(204, 564, 70913, 38004)) << device.name();
    part->update_values(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    EXPECT_THAT(test::apply(*part, device, 1.0, x, 0.0, y), ElementsAre(101, 111, 10110, 11000)) << device.name();
    EXPECT_EQ(part->info().padding, 3 * 32 - 10);
    EXPECT_THAT(part->info().details, HasSubstr("h = 32"));
  }
}

// Only build_part and build_shape set these.
TEST(BroEll, NoParameterSetsTheWidthOrTheBits) {
  const Csr<double> matrix = papers_matrix();
  for (const Device device : available_devices()) {
    const OperatorInfo plain = format().build.get<double>()(matrix, {.device = device})->info();
    for (const char* name : {"width", "k", "least-bits"}) {
      const OperatorInfo info =
          format().build.get<double>()(matrix, {.device = device, .parameters = {{name, 2}}})->info();
      EXPECT_EQ(info.details, plain.details) << name;
      EXPECT_EQ(info.padding, plain.padding) << name;
    }
    const OperatorInfo wide = build_shape<double>(matrix, {.min_bits = 13}, {.device = device})->info();
    EXPECT_GT(wide.bytes, plain.bytes) << device.name();
  }
}

TEST(BroEll, AMatrixOnADeviceStaysThere) {
  std::vector<Index> lengths(1000);
  for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] = static_cast<Index>(20 + row * 7 % 30);
  const Csr<double> matrix = test::random_rows<double>(3000, lengths, 3);
  for (const Device device : test::devices_with_kernels())
    for (const char* way : {"bro-ell", "bro-ell:h=32:sym=64"}) {
      test::expect_same_from_device<Offset>(way, device, matrix);
      test::expect_same_from_device<std::int32_t>(way, device, matrix);
    }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BroEllOnDevices);
class BroEllOnDevices : public ::testing::TestWithParam<test::Place> {};
INSTANTIATE_TEST_SUITE_P(Places, BroEllOnDevices, ::testing::ValuesIn(test::places()),
                         [](const auto& instance) { return test::name_of(instance.param); });

template <Value V>
Storage<V> encode_there(const Csr<V>& matrix, const Shape& shape, Device device) {
  return WEFT_ON_DEVICE(device, bro_ell::encode<V>)(matrix, shape, {.device = device});
}

TEST_P(BroEllOnDevices, TheEncoderMakesTheSameArraysAsTheCpus) {
  const test::PlaceScope scope(GetParam());
  for (const Csr<double>& matrix : adversarial())
    for (const Shape& shape : shapes) {
      const Storage<double> here = encode(matrix, shape, {});
      const Storage<double> there = encode_there(matrix, shape, GetParam().device);
      EXPECT_EQ(there.kept, here.kept);
      ASSERT_TRUE(std::ranges::equal(there.slices, here.slices));
      ASSERT_TRUE(std::ranges::equal(there.bit_alloc, here.bit_alloc));
      ASSERT_TRUE(std::ranges::equal(there.words, here.words));
      ASSERT_TRUE(std::ranges::equal(there.values, here.values));
    }
}

TEST_P(BroEllOnDevices, TooMuchPaddingIsRefusedThereToo) {
  std::vector<Index> lengths(512, 1);
  lengths[7] = 20000;
  const Csr<double> matrix = test::random_rows<double>(30000, lengths, 3);
  EXPECT_THROW(encode_there(matrix, {}, GetParam().device), Error);
}

}  // namespace

// Many widths that begin at many bits of a symbol, on every device; long rows have kernels of their own.
TEST(BroEll, ManyWidthsAndLengthsMultiplyExactly) {
  std::vector<test::Place> all = test::places();
  all.push_back({Device::cpu()});
  for (const test::Place& place : all) {
    const test::PlaceScope scope(place);
    for (const std::string way : {"bro-ell:h=32", "bro-ell:h=64:sym=64", "bro-ell"})
      for (Index seed = 0; seed < 12; ++seed) {
        Dice dice(static_cast<std::uint64_t>(seed) + 1);
        std::vector<Index> lengths(100);
        for (Index& length : lengths) length = dice.below(seed % 4 == 3 ? 130 : seed % 3 == 0 ? 40 : 12);
        const Csr<float> matrix = test::random_rows<float>(seed % 2 ? 300 : 200000, lengths, 7);
        Csr<float> whole = matrix;
        whole.values = Array<float>(matrix.values.size());
        for (std::size_t k = 0; k < whole.values.size(); ++k) whole.values[k] = static_cast<float>(1 + k % 5);
        for (const float beta : {0.0F, 3.0F})
          EXPECT_TRUE(test::multiplies_exactly<float>(*test::build_variant<float>(way, place.device, whole),
                                                      place.device, whole, beta))
              << way << " on " << test::name_of(place) << ", seed " << seed;
      }
  }
}

// Padding must not even read the last column of its own row: 0 times infinity would make that row NaN.
TEST(BroEll, PaddingLeavesAnInfinityWhatItIs) {
  std::vector<test::Place> all = test::places();
  all.push_back({Device::cpu()});
  std::vector<Index> lengths(300);
  for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] = static_cast<Index>(row * 7 % 60);
  Csr<double> matrix = test::random_rows<double>(500, lengths, 3);
  for (double& value : matrix.values) value = 1;
  const Array<double> x(500, std::numeric_limits<double>::infinity()), before(300, 0.0);
  for (const test::Place& place : all) {
    const test::PlaceScope scope(place);
    for (const std::string way : {"bro-ell", "bro-ell:h=32:sym=64"}) {
      const auto built = test::build_variant<double>(way, place.device, matrix);
      const Array<double> y = test::apply<double>(*built, place.device, 1, x, 0, before);
      for (std::size_t row = 0; row < lengths.size(); ++row)
        ASSERT_EQ(y[row], lengths[row] == 0 ? 0 : std::numeric_limits<double>::infinity())
            << way << " on " << test::name_of(place) << ", row " << row;
    }
  }
}

}  // namespace weft::bro_ell
