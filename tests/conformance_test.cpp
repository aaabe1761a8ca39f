// Every format x variant x device x instruction set or lane order x value type, driven by the registry: a new format is
// covered without an edit here.
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstring>
#include <ostream>

#include "each_structure.hpp"
#include "format_names.hpp"
#include "formats/registry.hpp"
#include "reference.hpp"
#include "refusals.hpp"
#ifdef WEFT_HAS_EMULATOR
#include "simt/emulator_device.hpp"
#endif

namespace weft::test {
namespace {

struct Case {
  std::string format;  // with its variant
  Device device;
  Isa isa = Isa::baseline;  // on the CPU
  int lane_order = 0;       // on the emulator: 0 forward, 1 reverse, 2 random
  ValueType type = ValueType::f64;
};

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  static const char* const orders[] = {"forward", "reverse", "random"};
  std::string name = c.format + "_" + c.device.name() + "_" + std::string(to_string(c.type));
  if (c.device.is_cpu()) name += "_" + std::string(to_string(c.isa));
  if (c.device.kind() == Device::Kind::emulator) name += std::string("_") + orders[c.lane_order];
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.format << " on " << c.device.name(); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Device device : available_devices())
    for (const Format* format : registry())
      for (const std::string& name : names_on(device.kind(), *format))
        for (const ValueType type : {ValueType::f32, ValueType::f64}) {
          if (!format->has_type(type)) continue;
          if (device.is_cpu()) {
            for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_gather})
              if (isa_available(isa) && (format->gathers || isa != Isa::avx512_gather))
                cases.push_back({name, device, isa, 0, type});
          } else if (device.kind() == Device::Kind::emulator) {
            // A number given to a format rarely changes what its threads do among themselves: one order will do.
            const int first = name.find('=') == std::string::npos ? 0 : 2;
            for (int order = first; order < 3; ++order) cases.push_back({name, device, Isa::baseline, order, type});
          } else {
            cases.push_back({name, device, Isa::baseline, 0, type});
          }
        }
  return cases;
}

/// Puts a vector on the case's device with a gap before it and after it, so that the view is unaligned and a write
/// beside it is noticed.
template <Value V>
class PlacedVectors {
 public:
  PlacedVectors(Device device, Index length, int count, std::size_t stride, Layout layout = Layout::column_major)
      : device_(device),
        length_(static_cast<std::size_t>(length)),
        count_(count),
        stride_(stride),
        layout_(layout),
        host_(margin + extent() + margin, sentinel) {}

  V& at(int vector, std::size_t i) {
    const auto j = static_cast<std::size_t>(vector);
    return host_[margin + (row_major() ? i * stride_ + j : i + j * stride_)];
  }
  void fill(int vector, std::span<const V> elements) {
    for (std::size_t i = 0; i < length_; ++i) at(vector, i) = elements[i];
  }
  Array<V> get(int vector) {
    Array<V> result(length_);
    for (std::size_t i = 0; i < length_; ++i) result[i] = at(vector, i);
    return result;
  }
  void upload() {
    if (!device_.is_cpu()) on_device_ = DeviceBuffer<V>(device_, host_);
  }
  void download() {
    if (!device_.is_cpu()) host_ = on_device_.download();
  }
  /// Elements before, between and after the vectors, or the rows.
  bool margins_untouched() const {
    const std::size_t used = row_major() ? static_cast<std::size_t>(count_) : length_;
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const bool inside = i >= margin && i < host_.size() - margin && (i - margin) % stride_or_one() < used;
      if (!inside && host_[i] != sentinel) return false;
    }
    return true;
  }
  Vectors<V> host_vectors() { return {std::span<V>(host_.data() + margin, extent()), count_, stride_, layout_}; }
  DeviceVectors<V> device_vectors() {
    return {DeviceSpan<V>(on_device_.data() + margin, extent(), device_), count_, stride_, layout_};
  }

 private:
  static constexpr std::size_t margin = 3;
  static constexpr V sentinel = V(12345.678);
  bool row_major() const { return layout_ == Layout::row_major; }
  /// From the first element to the last.
  std::size_t extent() const {
    const auto count = static_cast<std::size_t>(count_);
    if (row_major()) return length_ == 0 ? 0 : (length_ - 1) * stride_ + count;
    return (count - 1) * stride_ + length_;
  }
  std::size_t stride_or_one() const { return stride_ ? stride_ : 1; }
  Device device_;
  std::size_t length_;
  int count_;
  std::size_t stride_;
  Layout layout_;
  Array<V> host_;
  DeviceBuffer<V> on_device_;
};

template <Value V>
void multiply(Plan<V>& plan, Op op, V alpha, PlacedVectors<V>& x, V beta, PlacedVectors<V>& y) {
  x.upload();
  y.upload();
  if (plan.device().is_cpu()) {
    plan.apply(op, alpha, Vectors<const V>(x.host_vectors()), beta, y.host_vectors());
  } else {
    plan.apply(op, alpha, DeviceVectors<const V>(x.device_vectors()), beta, y.device_vectors());
    synchronize(plan.device());
  }
  y.download();
}

class Conformance : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Case& c = GetParam();
    isa_before_ = isa();
    if (c.device.is_cpu()) set_isa(c.isa);
#ifdef WEFT_HAS_EMULATOR
    using simt::emulator::LaneOrder;
    static const LaneOrder orders[] = {
        {LaneOrder::Kind::forward}, {LaneOrder::Kind::reverse}, {LaneOrder::Kind::random, 42}};
    if (c.device.kind() == Device::Kind::emulator) simt::emulator::set_lane_order(orders[c.lane_order]);
#endif
  }
  void TearDown() override {
    set_threads(0);
    set_isa(isa_before_);
#ifdef WEFT_HAS_EMULATOR
    simt::emulator::set_lane_order({});
#endif
  }

  template <class F>
  void for_type(F&& body) {
    if (GetParam().type == ValueType::f32)
      body(float{});
    else
      body(double{});
  }

  bool emulated() const { return GetParam().device.kind() == Device::Kind::emulator; }

  PlanOptions options(bool transpose) const {
    return {.device = GetParam().device, .format = GetParam().format, .transpose = transpose};
  }

  template <Value V>
  Plan<V> make_plan(const Csr<V>& matrix, bool transpose) {
    return plan(matrix, options(transpose));
  }

  /// One product checked against the reference, with what must not be read poisoned.
  template <Value V>
  void check(Plan<V>& plan, const Csr<V>& matrix, Op op, V alpha, V beta, int count, const std::string& what,
             Layout layout = Layout::column_major) {
    const Index in = op == Op::none ? matrix.cols : matrix.rows, out = op == Op::none ? matrix.rows : matrix.cols;
    const V poison = std::numeric_limits<V>::quiet_NaN();
    const auto beside = [&](Index length) {
      return static_cast<std::size_t>(layout == Layout::row_major ? count : length);
    };
    PlacedVectors<V> x(plan.device(), in, count, beside(in) + 2, layout);
    PlacedVectors<V> y(plan.device(), out, count, beside(out) + 1, layout);
    std::vector<Array<V>> x_given, y_given;
    for (int j = 0; j < count; ++j) {
      x_given.push_back(alpha == V(0) ? Array<V>(static_cast<std::size_t>(in), poison)
                                      : random_vector<V>(static_cast<std::size_t>(in), 100 + j));
      y_given.push_back(beta == V(0) ? Array<V>(static_cast<std::size_t>(out), poison)
                                     : random_vector<V>(static_cast<std::size_t>(out), 200 + j));
      x.fill(j, x_given.back());
      y.fill(j, y_given.back());
    }
    multiply(plan, op, alpha, x, beta, y);
    EXPECT_TRUE(y.margins_untouched()) << what;
    for (int j = 0; j < count; ++j)
      EXPECT_TRUE(equals_reference<V>(matrix, op, alpha, x_given[j], beta, y_given[j], y.get(j)))
          << what << (what.empty() ? "" : ", ") << "vector " << j << " of " << count;
  }

  template <Value V>
  Array<V> row_major_product(Plan<V>& plan, const Csr<V>& matrix, int count) {
    const auto stride = static_cast<std::size_t>(count);
    PlacedVectors<V> x(plan.device(), matrix.cols, count, stride, Layout::row_major);
    PlacedVectors<V> y(plan.device(), matrix.rows, count, stride, Layout::row_major);
    for (int j = 0; j < count; ++j) x.fill(j, random_vector<V>(static_cast<std::size_t>(matrix.cols), 7 + j));
    multiply(plan, Op::none, V(1), x, V(0), y);
    return Array<V>::copy_of(y.host_vectors().data);
  }

  template <Value V>
  Array<V> product(Plan<V>& plan, const Csr<V>& matrix) {
    PlacedVectors<V> x(plan.device(), matrix.cols, 1, static_cast<std::size_t>(matrix.cols));
    PlacedVectors<V> y(plan.device(), matrix.rows, 1, static_cast<std::size_t>(matrix.rows));
    x.fill(0, random_vector<V>(static_cast<std::size_t>(matrix.cols), 7));
    multiply(plan, Op::none, V(1), x, V(0), y);
    return y.get(0);
  }

 private:
  Isa isa_before_ = Isa::baseline;
};

template <Value V>
bool same_bits(const Array<V>& a, const Array<V>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

TEST_P(Conformance, EveryStructureOpAlphaAndBeta) {
  for_type([&]<Value V>(V) {
    for_each_structure<V>(!emulated(), [&](const Csr<V>& matrix) {
      auto plan = plan_unless_refused(matrix, options(true));
      if (!plan) return;
      for (const Op op : {Op::none, Op::transpose})
        for (const V alpha : {V(1), V(0), V(-2.5)})
          for (const V beta : {V(0), V(1), V(0.75)}) {
            // The emulator is slow, and other lane orders need no other scalars: these pairs take every branch.
            if (emulated() && GetParam().lane_order > 0 && ((alpha == V(1)) != (beta == V(0)) || alpha == V(0)))
              continue;
            check(*plan, matrix, op, alpha, beta, 1,
                  std::string(op == Op::transpose ? "transposed, " : "") + "alpha " + std::to_string(alpha) +
                      ", beta " + std::to_string(beta));
          }
    });
  });
}

TEST_P(Conformance, OneToNineVectorsInOneCall) {
  for_type([&]<Value V>(V) {
    for_each_structure<V>(false, [&](const Csr<V>& matrix) {
      if (emulated() && matrix.nonzeros() > 1500) return;
      auto plan = make_plan(matrix, true);
      for (int count = 1; count <= 9; ++count)
        if (!emulated() || count == 2 || count == 3 || count == 8 || count == 9)
          check(plan, matrix, count % 2 ? Op::none : Op::transpose, V(1.5), count % 3 ? V(0) : V(-1), count, "");
    });
  });
}

// Rows have gaps, whose numbers would show in a sum.
TEST_P(Conformance, RowMajorVectorsInOneCall) {
  for_type([&]<Value V>(V) {
    for_each_structure<V>(false, [&](const Csr<V>& matrix) {
      if (emulated() && matrix.nonzeros() > 1500) return;
      auto plan = make_plan(matrix, true);
      for (int count = 1; count <= 17; ++count)
        if (!emulated() || count == 1 || count == 3 || count == 8 || count == 9)
          check(plan, matrix, count % 2 ? Op::none : Op::transpose, V(1.5), count % 3 ? V(0) : V(-1), count, "",
                Layout::row_major);
    });
  });
}

TEST_P(Conformance, RowMajorVectorsOfEveryStructureOpAlphaAndBeta) {
  for_type([&]<Value V>(V) {
    for_each_structure<V>(!emulated(), [&](const Csr<V>& matrix) {
      if (emulated() && (matrix.nonzeros() > 1500 || GetParam().lane_order > 0)) return;
      auto plan = plan_unless_refused(matrix, options(true));
      if (!plan) return;
      int count = 2;
      for (const Op op : {Op::none, Op::transpose})
        for (const V alpha : {V(1), V(0), V(-2.5)})
          for (const V beta : {V(0), V(1), V(0.75)}) {
            check(*plan, matrix, op, alpha, beta, count,
                  std::string(op == Op::transpose ? "transposed, " : "") + "alpha " + std::to_string(alpha) +
                      ", beta " + std::to_string(beta),
                  Layout::row_major);
            count = count % 8 + 3;
          }
    });
  });
}

TEST_P(Conformance, RepeatedRowMajorProductsHaveTheSameBits) {
  for_type([&]<Value V>(V) {
    for_each_structure<V>(!emulated(), [&](const Csr<V>& matrix) {
      if (emulated() && matrix.nonzeros() > 1500) return;
      auto plan = plan_unless_refused(matrix, options(false));
      if (!plan) return;
      for (const int count : {3, 8}) {
        const Array<V> first = row_major_product(*plan, matrix, count);
        for (int repeat = 0; repeat < 3; ++repeat) {
          if (plan->device().is_cpu()) set_threads(1 + repeat);
          EXPECT_TRUE(same_bits(first, row_major_product(*plan, matrix, count))) << count << " vectors";
        }
      }
    });
  });
}

TEST_P(Conformance, NewValuesTakeThePlaceOfTheOld) {
  for_type([&]<Value V>(V) {
    for_each_structure<V>(false, [&](const Csr<V>& matrix) {
      auto plan = make_plan(matrix, true);
      Csr<V> other = matrix;
      for (std::uint64_t seed = 50; seed < (emulated() ? 51 : 52); ++seed) {
        other.values = random_vector<V>(matrix.values.size(), seed);
        plan.update_values(other.values);
        check(plan, other, Op::none, V(1), V(0), 1, "");
        check(plan, other, Op::transpose, V(1), V(0), 1, "transposed");
      }
    });
  });
}

TEST_P(Conformance, RepeatedProductsHaveTheSameBits) {
  for_type([&]<Value V>(V) {
    for_each_structure<V>(!emulated(), [&](const Csr<V>& matrix) {
      auto plan = plan_unless_refused(matrix, options(false));
      if (!plan) return;
      const Array<V> first = product(*plan, matrix);
      const int repeats = emulated() ? 1 : plan->device().is_cpu() ? 5 : 20;
      for (int repeat = 0; repeat < repeats; ++repeat) {
        if (plan->device().is_cpu()) set_threads(1 + repeat);
        EXPECT_TRUE(same_bits(first, product(*plan, matrix)));
      }
    });
  });
}

TEST_P(Conformance, NanAndInfinityReachOnlyTheirRows) {
  for_type([&]<Value V>(V) {
    Csr<V> matrix = random_rows<V>(60, std::vector<Index>(90, 6), 21);
    matrix.values[6 * 10] = std::numeric_limits<V>::quiet_NaN();
    matrix.values[6 * 33 + 2] = std::numeric_limits<V>::infinity();
    auto plan = make_plan(matrix, true);
    check(plan, matrix, Op::none, V(1), V(0), 1, "NaN and infinity");
    check(plan, matrix, Op::transpose, V(2), V(1), 1, "NaN and infinity transposed");
  });
}

TEST_P(Conformance, NanAndInfinityReachOnlyTheirRowsOfRowMajorVectors) {
  for_type([&]<Value V>(V) {
    Csr<V> matrix = random_rows<V>(60, std::vector<Index>(90, 6), 21);
    matrix.values[6 * 10] = std::numeric_limits<V>::quiet_NaN();
    matrix.values[6 * 33 + 2] = std::numeric_limits<V>::infinity();
    auto plan = make_plan(matrix, true);
    check(plan, matrix, Op::none, V(1), V(0), 5, "NaN and infinity", Layout::row_major);
    check(plan, matrix, Op::transpose, V(2), V(1), 4, "NaN and infinity transposed", Layout::row_major);
  });
}

TEST_P(Conformance, WrongLengthsAndMissingTransposeAreRefused) {
  for_type([&]<Value V>(V) {
    const Csr<V> matrix = random_rows<V>(8, {3, 2, 1}, 22);
    auto plan = make_plan(matrix, false);
    PlacedVectors<V> x(plan.device(), 7, 1, 7), y(plan.device(), 3, 1, 3);
    EXPECT_THROW(multiply(plan, Op::none, V(1), x, V(0), y), Error);
    PlacedVectors<V> x8(plan.device(), 8, 1, 8), y4(plan.device(), 4, 1, 4);
    EXPECT_THROW(multiply(plan, Op::none, V(1), x8, V(0), y4), Error);
    EXPECT_THROW(multiply(plan, Op::transpose, V(1), y, V(0), x8), Error);
    EXPECT_THROW(plan.update_values(std::vector<V>(5)), Error);
  });
}

TEST_P(Conformance, SaysWhatItHolds) {
  for_type([&]<Value V>(V) {
    const Csr<V> matrix = random_rows<V>(100, std::vector<Index>(200, 9), 23);
    const PlanInfo info = make_plan(matrix, false).info();
    const FormatName asked = parse_format(GetParam().format);
    // Not another variant than asked for, unless it may choose one.
    const std::string expected = full_name(*asked.format, asked.variant == "auto" ? "" : asked.variant);
    EXPECT_TRUE(info.format.starts_with(expected)) << info.format;
    EXPECT_GE(info.bytes, matrix.values.bytes());
    EXPECT_EQ(info.device, GetParam().device);
    EXPECT_FALSE(info.details.empty());
  });
}

INSTANTIATE_TEST_SUITE_P(Formats, Conformance, ::testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace weft::test
