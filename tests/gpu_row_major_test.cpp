// Row-major vectors on a GPU and on the emulator: kernels differ by the number of vectors and by how rows are aligned.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstring>

#include "each_structure.hpp"
#include "format_names.hpp"
#include "formats/registry.hpp"
#include "reference.hpp"
#ifdef WEFT_HAS_EMULATOR
#include "simt/emulator_device.hpp"
#endif

namespace weft::test {
namespace {

struct Case {
  std::string format;  // with its variant
  Device device;
  ValueType type = ValueType::f64;
};

std::vector<Case> cases_on_gpus() {
  std::vector<Case> cases;
  for (const Device device : available_devices()) {
    if (device.is_cpu()) continue;
    for (const Format* format : registry())
      for (const std::string& name : names_on(device.kind(), *format))
        for (const ValueType type : {ValueType::f32, ValueType::f64})
          if (format->has_type(type)) cases.push_back({name, device, type});
  }
  return cases;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.format + "_" + info.param.device.name() + "_" + std::string(to_string(info.param.type));
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.format << " on " << c.device.name(); }

/// Where vectors are in a buffer, whose first element is aligned.
struct Place {
  std::size_t first = 0;
  std::size_t gap = 0;  ///< between rows, or vectors
  Layout layout = Layout::row_major;
};

/// `count` vectors of `length` in a buffer on a device; what is around them must stay as it is.
template <Value V>
class Placed {
 public:
  Placed(Device device, Index length, int count, const Place& place)
      : device_(device), length_(static_cast<std::size_t>(length)), count_(count), place_(place) {
    const std::size_t across = place.layout == Layout::row_major ? static_cast<std::size_t>(count) : length_;
    const std::size_t along = place.layout == Layout::row_major ? length_ : static_cast<std::size_t>(count);
    stride_ = across + place.gap;
    host_ = Array<V>(place.first + along * stride_ + 3, around);
    inside_.resize(host_.size());
    for (int j = 0; j < count; ++j)
      for (std::size_t i = 0; i < length_; ++i) inside_[index(i, j)] = true;
  }

  std::size_t stride() const { return stride_; }
  V& at(std::size_t i, int j) { return host_[index(i, j)]; }
  /// The first element, on the device.
  V* send() {
    there_ = DeviceBuffer<V>(device_, host_);
    return there_.data() + place_.first;
  }
  void fetch() { host_ = there_.download(); }
  bool has_only_vectors_changed() const {
    for (std::size_t k = 0; k < host_.size(); ++k)
      if (!inside_[k] && host_[k] != around) return false;
    return true;
  }
  Array<V> vector(int j) {
    Array<V> elements(length_);
    for (std::size_t i = 0; i < length_; ++i) elements[i] = at(i, j);
    return elements;
  }

 private:
  static constexpr V around = V(12345.5);
  std::size_t index(std::size_t i, int j) const {
    const auto vector = static_cast<std::size_t>(j);
    return place_.first + (place_.layout == Layout::row_major ? i * stride_ + vector : i + vector * stride_);
  }

  Device device_;
  std::size_t length_;
  int count_;
  Place place_;
  std::size_t stride_ = 0;
  Array<V> host_;
  std::vector<bool> inside_;
  DeviceBuffer<V> there_;
};

template <Value V>
Array<V> x_of(const Csr<V>& matrix, int vector) {
  return random_vector<V>(static_cast<std::size_t>(matrix.cols), 100 + static_cast<std::uint64_t>(vector));
}
template <Value V>
Array<V> y_before(const Csr<V>& matrix, int vector) {
  return random_vector<V>(static_cast<std::size_t>(matrix.rows), 200 + static_cast<std::uint64_t>(vector));
}

/// y = alpha A x + beta y for vectors in such places.
template <Value V>
std::vector<Array<V>> multiply(Operator<V>& format, Device device, const Csr<V>& matrix, V alpha, V beta, int count,
                               const Place& of_x, const Place& of_y) {
  Placed<V> x(device, matrix.cols, count, of_x), y(device, matrix.rows, count, of_y);
  for (int j = 0; j < count; ++j) {
    const Array<V> elements = x_of(matrix, j), before = y_before(matrix, j);
    for (std::size_t i = 0; i < elements.size(); ++i) x.at(i, j) = elements[i];
    for (std::size_t i = 0; i < before.size(); ++i)
      y.at(i, j) = beta == V(0) ? std::numeric_limits<V>::quiet_NaN() : before[i];
  }
  Product<V> product{.alpha = alpha, .beta = beta, .count = count, .layout = of_x.layout};
  product.x = x.send();
  product.x_stride = x.stride();
  product.y = y.send();
  product.y_stride = y.stride();
  format.apply(product, {});
  synchronize(device);
  y.fetch();
  EXPECT_TRUE(y.has_only_vectors_changed());
  std::vector<Array<V>> results;
  for (int j = 0; j < count; ++j) results.push_back(y.vector(j));
  return results;
}

template <Value V>
void expect_product(const Csr<V>& matrix, V alpha, V beta, const std::vector<Array<V>>& y) {
  for (std::size_t j = 0; j < y.size(); ++j) {
    const auto vector = static_cast<int>(j);
    EXPECT_TRUE(
        equals_reference<V>(matrix, Op::none, alpha, x_of(matrix, vector), beta, y_before(matrix, vector), y[j]))
        << "vector " << j << " of " << y.size();
  }
}

template <Value V>
bool same_bits(const std::vector<Array<V>>& a, const std::vector<Array<V>>& b) {
  for (std::size_t j = 0; j < a.size(); ++j)
    if (a[j].size() > 0 && std::memcmp(a[j].data(), b[j].data(), a[j].bytes()) != 0) return false;
  return true;
}

template <Value V>
std::unique_ptr<Operator<V>> build(const Csr<V>& matrix, const std::string& name, Device device) {
  const FormatChoice choice = find_format(name, device, value_type<V>);
  return choice.format->build.get<V>()(matrix,
                                       {.device = device, .variant = choice.variant, .parameters = choice.parameters});
}

class GpuRowMajor : public ::testing::TestWithParam<Case> {
 protected:
  template <class F>
  void for_type(F&& body) {
    if (GetParam().type == ValueType::f32)
      body(float{});
    else
      body(double{});
  }

  /// csr has one kernel for all row-major products, other formats add in the same order in both layouts.
  bool is_csr() const { return GetParam().format.starts_with("csr"); }
};

constexpr Place tight{}, unaligned{.first = 1}, gaps{.first = 16, .gap = 4}, odd_gaps{.gap = 3},
    columns{.gap = 2, .layout = Layout::column_major}, column_of_x{.first = 5, .gap = 7},
    column_of_y{.first = 2, .gap = 2};

template <Value V>
bool is_small(const Csr<V>& matrix) {
  return matrix.nonzeros() > 0 && matrix.nonzeros() <= 1500;
}

TEST_P(GpuRowMajor, WhereRowsAreChangesNoBits) {
  const auto& [name, device, type] = GetParam();
  for_type([&]<Value V>(V) {
    for_each_structure<V>(false, [&](const Csr<V>& matrix) {
      if (!is_small(matrix)) return;
      const auto format = build(matrix, name, device);
      for (const int count : {2, 3, 4, 8}) {
        SCOPED_TRACE(std::to_string(count) + " vectors");
        const V beta = count == 3 ? V(0) : V(-1);
        const auto product = [&](const Place& x, const Place& y) {
          return multiply(*format, device, matrix, V(1.5), beta, count, x, y);
        };
        const auto expected = product(tight, tight);
        expect_product(matrix, V(1.5), beta, expected);
        EXPECT_TRUE(same_bits(expected, product(gaps, gaps))) << "gaps";
        EXPECT_TRUE(same_bits(expected, product(unaligned, tight))) << "x unaligned";
        EXPECT_TRUE(same_bits(expected, product(tight, odd_gaps))) << "y with odd gaps";
        EXPECT_TRUE(is_csr() || same_bits(expected, product(columns, columns))) << "column-major";
      }
    });
  });
}

TEST_P(GpuRowMajor, AColumnOfAnArrayIsAVector) {
  const auto& [name, device, type] = GetParam();
  for_type([&]<Value V>(V) {
    for_each_structure<V>(false, [&](const Csr<V>& matrix) {
      if (!is_small(matrix)) return;
      const auto format = build(matrix, name, device);
      for (const V alpha : {V(0), V(-2)}) {
        const auto product = [&](const Place& x, const Place& y) {
          return multiply(*format, device, matrix, alpha, V(3), 1, x, y);
        };
        const auto expected = product(columns, columns), strided = product(column_of_x, column_of_y);
        expect_product(matrix, alpha, V(3), strided);
        EXPECT_TRUE(is_csr() || same_bits(expected, strided)) << "with gaps";
        EXPECT_TRUE(same_bits(expected, product(tight, tight))) << "without gaps";
      }
    });
  });
}

INSTANTIATE_TEST_SUITE_P(Formats, GpuRowMajor, ::testing::ValuesIn(cases_on_gpus()), case_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GpuRowMajor);

#ifdef WEFT_HAS_EMULATOR
template <Value V>
void check_long_rows() {
  const std::vector<Index> lengths[] = {{1, 700, 0, 0, 3, 2000, 0}, {128, 126, 0, 127}, {0, 0, 127, 127, 1, 0, 256}};
  for (const auto& of_rows : lengths) {
    SCOPED_TRACE(of_rows.size());
    const Csr<V> matrix = random_rows<V>(2100, of_rows, 5);
    const auto format = build(matrix, "csr:merge", Device::emulator());
    for (const int count : {3, 8})
      for (const V beta : {V(0), V(2)})
        expect_product(matrix, V(-1), beta,
                       multiply(*format, Device::emulator(), matrix, V(-1), beta, count, tight, tight));
  }
}

TEST(CsrRowMajor, RowsGoOnOverManySharesInEveryLaneOrder) {
  using simt::emulator::LaneOrder;
  for (const LaneOrder& order : {LaneOrder{LaneOrder::Kind::forward}, LaneOrder{LaneOrder::Kind::reverse},
                                 LaneOrder{LaneOrder::Kind::random, 42}}) {
    simt::emulator::set_lane_order(order);
    check_long_rows<float>();
    check_long_rows<double>();
  }
  simt::emulator::set_lane_order({});
}
#endif

}  // namespace
}  // namespace weft::test
