// ehyb in files: what comes back, on which device, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/io.hpp>

#include <cmath>
#include <cstring>

#include "formats/ehyb/ehyb.hpp"
#include "structures.hpp"

namespace weft::ehyb {
namespace {

using ::testing::HasSubstr;

template <Value V>
StoredArrays stored(const Csr<V>& matrix, const std::string& name, Device device) {
  BuildOptions options;
  options.parameters = parse_format(name).parameters;
  options.store_for = device;
  return format().storing.get<V>().store(matrix, options);
}

/// The same arrays, one of them changed by change(Array<T>&).
template <class T, class F>
StoredArrays changed(const StoredArrays& arrays, const std::string& name, F&& change) {
  StoredArrays result;
  for (const auto& [known, elements] : arrays.all())
    std::visit(
        [&]<class U>(const Array<U>& array) {
          Array<U> copy = array.clone();
          if constexpr (std::same_as<T, U>)
            if (known == name) change(copy);
          result.add(known, std::move(copy));
        },
        elements);
  return result;
}

std::string sentence(const StoredArrays& arrays, Index rows, Index cols) {
  try {
    format().storing.get<double>().unpack(arrays, rows, cols);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::parse) << error.what();
    return error.what();
  }
  return "no error";
}

template <Value V>
::testing::AssertionResult same(const Csr<V>& a, const Csr<V>& b) {
  const auto equal = [](const auto& left, const auto& right) {
    return left.size() == right.size() && (left.empty() || std::memcmp(left.data(), right.data(), left.bytes()) == 0);
  };
  if (a.rows == b.rows && a.cols == b.cols && equal(a.offsets, b.offsets) && equal(a.columns, b.columns) &&
      equal(a.values, b.values))
    return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "the matrices differ";
}

/// y = A x on any device.
template <Value V>
Array<V> product(Operator<V>& op, Device device, const Array<V>& x, Index rows) {
  Array<V> y(static_cast<std::size_t>(rows), V(7));
  if (device.is_cpu()) {
    op.apply({V(1), x.data(), x.size(), V(0), y.data(), y.size(), 1}, {});
    return y;
  }
  const DeviceBuffer<V> from(device, x);
  DeviceBuffer<V> to(device, y);
  op.apply({V(1), from.data(), x.size(), V(0), to.data(), y.size(), 1}, {});
  return to.download();
}

/// Small parts, so that some entries are extra; also those of blocks that are not full, and rows of many pieces.
std::vector<std::pair<std::string, Csr<double>>> matrices() {
  std::vector<std::pair<std::string, Csr<double>>> all;
  for (const char* name : {"ehyb", "ehyb:cache=24", "ehyb:parts=9:guests=0", "ehyb:cache=6:padding=100"})
    for (const char* source : {"gen:poisson2d:13", "gen:uniform:300:5", "gen:empty-rows:200", "gen:dense:70"})
      all.emplace_back(name, generate<double>(source));
  all.emplace_back("ehyb:block=3:cache=60", generate<double>("gen:elasticity3d:3"));
  all.emplace_back("ehyb:block=2:cache=20", generate<double>("gen:poisson2d:12"));
  all.emplace_back("ehyb:cache=30:padding=100", test::random_rows<double>(700, {3, 300, 0, 5, 1, 0, 2, 7, 9, 640}));
  return all;
}

std::vector<Device> devices_to_store_for() {
  std::vector<Device> devices = available_devices();
  devices.push_back(Device::gpu());  // there or not
  return devices;
}

TEST(EhybStored, MatricesComeBackExactly) {
  for (const auto& [name, matrix] : matrices())
    for (const Device device : devices_to_store_for()) {
      SCOPED_TRACE(name + " for " + device.name());
      EXPECT_TRUE(
          same(format().storing.get<double>().unpack(stored(matrix, name, device), matrix.rows, matrix.cols), matrix));
      const Csr<float> single = convert<float>(matrix);
      EXPECT_TRUE(
          same(format().storing.get<float>().unpack(stored(single, name, device), matrix.rows, matrix.cols), single));
    }
}

TEST(EhybStored, LoadsAsItWasBuilt) {
  for (const auto& [name, matrix] : matrices())
    for (const Device device : available_devices()) {
      if (device.kind() == Device::Kind::emulator && matrix.nonzeros() > 3000) continue;
      SCOPED_TRACE(name + " on " + device.name());
      const StoredArrays arrays = stored(matrix, name, device);
      const Csr<double> unpacked = format().storing.get<double>().unpack(arrays, matrix.rows, matrix.cols);
      const Loaded<double> loaded = format().storing.get<double>().load(arrays, unpacked, {.device = device});
      EXPECT_TRUE(loaded.as_stored);
      const auto built =
          format().build.get<double>()(matrix, {.device = device, .parameters = parse_format(name).parameters});
      EXPECT_EQ(loaded.op->info().details, built->info().details);
      EXPECT_EQ(loaded.op->info().bytes, built->info().bytes);
      EXPECT_EQ(loaded.op->info().padding, built->info().padding);
      const Array<double> x = test::random_vector<double>(static_cast<std::size_t>(matrix.cols), 3);
      const auto expect_equal = [&] {
        const Array<double> y = product(*loaded.op, device, x, matrix.rows);
        const Array<double> expected = product(*built, device, x, matrix.rows);
        EXPECT_EQ(std::memcmp(y.data(), expected.data(), y.bytes()), 0);
      };
      expect_equal();
      const Array<double> values = test::random_vector<double>(matrix.values.size(), 4);
      loaded.op->update_values(values);
      built->update_values(values);
      expect_equal();
      EXPECT_TRUE(std::ranges::equal(loaded.op->ordering().rows, built->ordering().rows));
      EXPECT_TRUE(std::ranges::equal(loaded.op->partition()->part_of, built->partition()->part_of));
    }
}

TEST(EhybStored, AnotherDeviceTakesThePartsOnly) {
  const Csr<double> matrix = generate<double>("gen:poisson2d:20");
  const Array<double> x = test::random_vector<double>(400, 3);
  for (const Device target : devices_to_store_for())
    for (const Device device : available_devices()) {
      const bool cpu_to_cpu = target.is_cpu() && device.is_cpu();
      if (!cpu_to_cpu && !(target.is_cpu() || device.is_cpu())) continue;  // one GPU may serve as another
      SCOPED_TRACE("for " + target.name() + " on " + device.name());
      const StoredArrays arrays = stored(matrix, "ehyb:parts=5", target);
      const Loaded<double> loaded = format().storing.get<double>().load(arrays, matrix, {.device = device});
      EXPECT_EQ(loaded.as_stored, cpu_to_cpu);
      // The parts of the file, which are smaller than either device would have them.
      const Storage<double> file = from_arrays<double>(arrays, 400, 400);
      EXPECT_TRUE(std::ranges::equal(loaded.op->partition()->part_of, file.caches.part_of));
      const Array<double> y = product(*loaded.op, device, x, 400);
      std::vector<double> expected(400);
      reference_apply<double>(Op::none, 1, matrix, x, 0, expected);
      for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-12);
    }
}

TEST(EhybStored, ForgedArraysAreRefusedInASentence) {
  const Csr<double> matrix = test::random_rows<double>(70, std::vector<Index>(70, 20));
  const StoredArrays arrays = stored(matrix, "ehyb:cache=24:padding=100", Device::cpu());
  ASSERT_GT(arrays.get<Index>("extra_rows").size(), 3u);
  ASSERT_GT(arrays.get<Index>("guests").size(), 3u);
  ASSERT_EQ(sentence(arrays, 70, 70), "no error");
  const auto with = [&]<class T>(const std::string& name, std::size_t at, T value) {
    return sentence(changed<T>(arrays, name, [&](Array<T>& array) { array[at] = value; }), 70, 70);
  };
  const auto cut = [&]<class T>(const std::string& name, T) {
    return sentence(changed<T>(arrays, name,
                               [&](Array<T>& array) {
                                 array = Array<T>::copy_of(std::span<const T>(array).first(array.size() - 1));
                               }),
                    70, 70);
  };
  for (const std::size_t which : {0, 1, 2, 3})
    EXPECT_EQ(with("layout", which, std::int64_t(7)), "its 'layout' is none that there is");
  EXPECT_EQ(with("layout", 0, std::int64_t(3)), "its blocks do not divide the matrix");
  EXPECT_EQ(with("row_begin", 0, Index(1)), "its parts do not have all rows");
  EXPECT_THAT(with("row_begin", 1, Index(71)), HasSubstr("ends before it begins"));
  EXPECT_THAT(with("row_begin", 2, Index(-5)), HasSubstr("ends before it begins"));
  EXPECT_THAT(cut("row_begin", Index()), HasSubstr("its parts do not have all rows"));
  EXPECT_THAT(with("order", 0, Index(70)), HasSubstr("has a row that is none"));
  EXPECT_THAT(with("order", 0, arrays.get<Index>("order")[1]), HasSubstr("not its own"));
  EXPECT_EQ(cut("order", Index()), "its 'order' has 69 elements where 70 belong");
  EXPECT_THAT(with("guest_begin", 0, Offset(1)), HasSubstr("guests"));
  EXPECT_THAT(with("guest_begin", 1, Offset(1) << 40), HasSubstr("guests"));
  EXPECT_THAT(with("guest_begin", 1, Offset(-1)), HasSubstr("guests"));
  EXPECT_THAT(with("guests", 0, Index(-1)), HasSubstr("ascending columns of others"));
  EXPECT_THAT(with("guests", 1, Index(70)), HasSubstr("ascending columns of others"));
  EXPECT_THAT(with("guests", 0, arrays.get<Index>("order")[0]), HasSubstr("ascending columns of others"));
  EXPECT_EQ(with("widths", 0, Index(-1)), "its slices are wider than the matrix");
  EXPECT_EQ(with("widths", 0, Index(71)), "its slices are wider than the matrix");
  EXPECT_EQ(with("widths", 0, Index(70)), "its slices need more columns than there are");
  EXPECT_EQ(with("widths", 0, Index(0)), "its slices need fewer columns than there are");
  EXPECT_THAT(with("columns", 0, std::uint16_t(65535)), HasSubstr("part 1 has a row that is not ascending"));
  EXPECT_THAT(cut("columns", std::uint16_t()), HasSubstr("more columns than there are"));
  EXPECT_THAT(cut("values", double()), HasSubstr("'values' has"));
  EXPECT_THAT(with("extra_rows", 0, Index(69)), HasSubstr("pieces of its extra part"));
  EXPECT_THAT(with("extra_rows", 0, Index(-1)), HasSubstr("row after row"));
  EXPECT_THAT(with("extra_rows", arrays.get<Index>("extra_rows").size() - 1, Index(70)), HasSubstr("of no row"));
  EXPECT_THAT(with("extra_places", 0, arrays.get<Index>("extra_places")[1]), HasSubstr("not one a piece"));
  EXPECT_THAT(with("extra_places", 0, Index(-1)), HasSubstr("not one a piece"));
  EXPECT_THAT(with("extra_widths", 0, Index(71)), HasSubstr("wider than the matrix"));
  EXPECT_THAT(with("extra_columns", 0, Index(70)), HasSubstr("slot 1 of its extra part"));
  EXPECT_THAT(with("extra_columns", 0, Index(-1)), HasSubstr("of its extra part"));
  EXPECT_THAT(with("extra_columns", 0, Index(-2)), HasSubstr("of its extra part"));
}

// Padding is multiplied by the cache's zero, so it must be 0 itself and there.
TEST(EhybStored, PaddingMustBeZero) {
  const Csr<double> matrix = make_csr<double>(2, 2, {0, 2, 3}, {0, 1, 1}, {1, 2, 3});
  const StoredArrays arrays = stored(matrix, "ehyb:padding=100", Device::cpu());
  ASSERT_EQ(arrays.get<Index>("widths", 1)[0], 2);
  const Array<std::uint16_t>& columns = arrays.get<std::uint16_t>("columns", 16);
  EXPECT_EQ(columns[9], 2);  // column 1 of slot 1: the zero behind two elements
  const auto with_value = [&](std::size_t at) {
    return sentence(changed<double>(arrays, "values", [&](Array<double>& array) { array[at] = std::nan(""); }), 2, 2);
  };
  EXPECT_EQ(with_value(0), "no error");
  EXPECT_THAT(with_value(9), HasSubstr("zeros behind them"));
  EXPECT_THAT(with_value(7), HasSubstr("zeros behind them"));
  const auto with_column = [&](std::size_t at, std::uint16_t column) {
    return sentence(changed<std::uint16_t>(arrays, "columns", [&](Array<std::uint16_t>& array) { array[at] = column; }),
                    2, 2);
  };
  EXPECT_THAT(with_column(7, 0), HasSubstr("zeros behind them"));  // an entry of no row
  EXPECT_THAT(with_column(8, 0), HasSubstr("ascending"));          // an entry twice
  EXPECT_THAT(with_column(1, 2), HasSubstr("zeros behind them"));  // an entry that is none
}

}  // namespace
}  // namespace weft::ehyb
