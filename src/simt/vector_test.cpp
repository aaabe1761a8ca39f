#include <gtest/gtest.h>
#include <weft/vector.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/value_types.hpp"
#include "simt/emulator_device.hpp"
#include "sparse/testing.hpp"

namespace weft {
namespace {

using simt::emulator::LaneOrder;
using simt::emulator::LaneOrderScope;
using testing::expect_error;
using testing::Threads;

constexpr std::size_t sizes[] = {0, 1, 31, 257, 100003};

template <class V>
std::vector<V> random_vector(std::size_t size, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> unit(-1, 1);
  std::vector<V> result(size);
  for (V& element : result) element = static_cast<V>(unit(random));
  return result;
}

/// A vector on a device that begins one element after the start of its memory, where no wide load is aligned.
template <class V>
class Unaligned {
 public:
  Unaligned(Device device, const std::vector<V>& elements) : all_(device, elements.size() + 1) {
    std::vector<V> shifted(elements.size() + 1, V(77));
    std::copy(elements.begin(), elements.end(), shifted.begin() + 1);
    all_.upload(shifted);
  }
  VectorView<V> view() { return {all_.data() + 1, all_.size() - 1, all_.device()}; }
  std::vector<V> elements() const {
    const Array<V> all = all_.download();
    EXPECT_EQ(all[0], V(77)) << "written before the beginning";
    return {all.begin() + 1, all.end()};
  }

 private:
  Vector<V> all_;
};

template <class V>
class VectorOperations : public ::testing::Test {
 public:
  /// Calls body(device, size) for each device and each size.
  template <class F>
  static void everywhere(F&& body) {
    for (const Device device : available_devices())
      for (const std::size_t size : sizes) {
        SCOPED_TRACE(device.name() + ", " + std::to_string(size) + " elements");
        body(device, size);
      }
  }
  /// Two roundings of numbers up to 2; GPUs make one of them.
  static void expect_near(const std::vector<V>& result, const std::vector<long double>& expected) {
    ASSERT_EQ(result.size(), expected.size());
    for (std::size_t i = 0; i < result.size(); ++i)
      ASSERT_NEAR(static_cast<double>(result[i] - expected[i]), 0, 4 * std::numeric_limits<V>::epsilon()) << i;
  }
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(VectorOperations, Reals);

TYPED_TEST(VectorOperations, FillSetsEveryElement) {
  this->everywhere([](Device device, std::size_t size) {
    Unaligned<TypeParam> x(device, random_vector<TypeParam>(size, 1));
    fill<TypeParam>(x.view(), TypeParam(0.3));
    EXPECT_EQ(x.elements(), std::vector<TypeParam>(size, TypeParam(0.3)));
  });
}

TYPED_TEST(VectorOperations, CopyGoesFromEveryDeviceToEveryDevice) {
  this->everywhere([](Device from, std::size_t size) {
    for (const Device to : available_devices()) {
      const std::vector<TypeParam> elements = random_vector<TypeParam>(size, 2);
      Unaligned<TypeParam> x(from, elements), y(to, std::vector<TypeParam>(size));
      copy<TypeParam>(x.view(), y.view());
      EXPECT_EQ(y.elements(), elements) << "to " << to.name();
      copy<TypeParam>(y.view(), y.view());
      EXPECT_EQ(y.elements(), elements) << "to itself on " << to.name();
    }
  });
}

TYPED_TEST(VectorOperations, AxpyXpbyAndScaleAgreeWithLongDouble) {
  using V = TypeParam;
  this->everywhere([&](Device device, std::size_t size) {
    const std::vector<V> x = random_vector<V>(size, 3), y = random_vector<V>(size, 4);
    const V factor = V(0.7);
    std::vector<long double> axpy_expected, xpby_expected, scale_expected;
    for (std::size_t i = 0; i < size; ++i) {
      const long double xi = x[i], yi = y[i];
      axpy_expected.push_back(factor * xi + yi);
      xpby_expected.push_back(xi + factor * yi);
      scale_expected.push_back(factor * xi);
    }
    Unaligned<V> left(device, x), right(device, y);
    axpy<V>(factor, left.view(), right.view());
    this->expect_near(right.elements(), axpy_expected);
    EXPECT_EQ(left.elements(), x);
    right = Unaligned<V>(device, y);
    xpby<V>(left.view(), factor, right.view());
    this->expect_near(right.elements(), xpby_expected);
    EXPECT_EQ(left.elements(), x);
    scale<V>(factor, left.view());
    this->expect_near(left.elements(), scale_expected);
  });
}

TYPED_TEST(VectorOperations, AVectorMayBeAddedToItself) {
  using V = TypeParam;
  this->everywhere([&](Device device, std::size_t size) {
    std::vector<V> x = random_vector<V>(size, 5);
    Unaligned<V> vector(device, x);
    axpy<V>(V(2), vector.view(), vector.view());
    xpby<V>(vector.view(), V(3), vector.view());
    std::vector<long double> expected;
    for (const V element : x) expected.push_back(12.0L * element);
    const std::vector<V> result = vector.elements();
    for (std::size_t i = 0; i < size; ++i)
      ASSERT_NEAR(static_cast<double>(result[i] - expected[i]), 0, 24 * std::numeric_limits<V>::epsilon());
  });
}

TYPED_TEST(VectorOperations, DotAndNormAgreeWithLongDouble) {
  using V = TypeParam;
  this->everywhere([](Device device, std::size_t size) {
    const std::vector<V> x = random_vector<V>(size, 6), y = random_vector<V>(size, 7);
    long double products = 0, squares = 0, magnitude = 0;
    for (std::size_t i = 0; i < size; ++i) {
      products += static_cast<long double>(x[i]) * y[i];
      magnitude += std::abs(static_cast<long double>(x[i]) * y[i]);
      squares += static_cast<long double>(x[i]) * x[i];
    }
    Unaligned<V> left(device, x), right(device, y);
    // In f64 also for f32: far closer than a sum in f32 would be.
    const double error = 1e-14;
    EXPECT_NEAR(dot<V>(left.view(), right.view()), static_cast<double>(products),
                error * static_cast<double>(magnitude));
    const double length = static_cast<double>(std::sqrt(squares));
    EXPECT_NEAR(norm<V>(left.view()), length, error * length);
  });
}

// On a GPU, a block then adds up more than one tile.
TYPED_TEST(VectorOperations, DotOfAMillionElementsLosesNone) {
  using V = TypeParam;
  const std::vector<V> ones(1'100'003, V(1));
  for (const Device device : available_devices()) {
    Unaligned<V> x(device, ones);
    EXPECT_EQ(dot<V>(x.view(), x.view()), 1'100'003.0) << device.name();
  }
}

TYPED_TEST(VectorOperations, SumsHaveTheSameBitsForEveryNumberOfThreadsAndLaneOrder) {
  using V = TypeParam;
  this->everywhere([](Device device, std::size_t size) {
    Unaligned<V> x(device, random_vector<V>(size, 8)), y(device, random_vector<V>(size, 9));
    const double product = dot<V>(x.view(), y.view()), length = norm<V>(x.view());
    for (const int threads : {1, 2, 3, 4}) {
      const Threads scope(threads);
      EXPECT_EQ(dot<V>(x.view(), y.view()), product) << threads << " threads";
      EXPECT_EQ(norm<V>(x.view()), length) << threads << " threads";
    }
    if (device.kind() != Device::Kind::emulator) return;
    for (const LaneOrder order : {LaneOrder{LaneOrder::Kind::reverse}, LaneOrder{LaneOrder::Kind::random, 5}}) {
      const LaneOrderScope scope(order);
      EXPECT_EQ(dot<V>(x.view(), y.view()), product);
      EXPECT_EQ(norm<V>(x.view()), length);
    }
  });
}

TYPED_TEST(VectorOperations, NotANumberAndInfinityPassThrough) {
  using V = TypeParam;
  const V infinity = std::numeric_limits<V>::infinity(), nan = std::numeric_limits<V>::quiet_NaN();
  for (const Device device : available_devices()) {
    SCOPED_TRACE(device.name());
    const std::vector<V> special{V(1), infinity, nan, V(2)};
    Vector<V> x(device, std::span<const V>(special)), y(device, 4);
    fill<V>(y, V(0));
    axpy<V>(V(0), x, y);  // 0 times infinity is not a number
    Array<V> result = y.download();
    EXPECT_EQ(result[0], V(0));
    EXPECT_TRUE(std::isnan(result[1]) && std::isnan(result[2]));
    copy<V>(x, y);
    scale<V>(V(-1), y);
    result = y.download();
    EXPECT_EQ(result[1], -infinity);
    EXPECT_TRUE(std::isnan(result[2]));
    EXPECT_TRUE(std::isnan(dot<V>(x, x)));
    EXPECT_TRUE(std::isnan(norm<V>(x)));
    EXPECT_EQ(norm<V>(VectorView<const V>(x.data(), 2, device)), std::numeric_limits<double>::infinity());
  }
}

TYPED_TEST(VectorOperations, XpbyDoesNotReadYWhenBetaIs0) {
  using V = TypeParam;
  for (const Device device : available_devices()) {
    const std::vector<V> x = random_vector<V>(300, 10);
    Vector<V> left(device, std::span<const V>(x)), right(device, 300);
    fill<V>(right, std::numeric_limits<V>::quiet_NaN());
    xpby<V>(left, V(0), right);
    const Array<V> result = right.download();
    EXPECT_EQ(std::vector<V>(result.begin(), result.end()), x) << device.name();
  }
}

TYPED_TEST(VectorOperations, LargeAndSmallF32SquaresNeitherOverflowNorVanish) {
  for (const Device device : available_devices()) {
    const std::vector<float> x{3e30f, 4e30f}, tiny{3e-30f, 4e-30f};
    EXPECT_NEAR(norm<float>(Vector<float>(device, std::span<const float>(x))), 5e30, 1e24) << device.name();
    EXPECT_NEAR(norm<float>(Vector<float>(device, std::span<const float>(tiny))), 5e-30, 1e-36) << device.name();
  }
}

TYPED_TEST(VectorOperations, DifferentLengthsAreRefused) {
  using V = TypeParam;
  for (const Device device : available_devices()) {
    Vector<V> x(device, 3), y(device, 4);
    const auto refused = [](const char* name, auto&& action) {
      expect_error(ErrorCode::invalid_argument, {name, "3", "4"}, action);
    };
    refused("copy", [&] { copy<V>(x, y); });
    refused("axpy", [&] { axpy<V>(V(1), x, y); });
    refused("xpby", [&] { xpby<V>(x, V(1), y); });
    refused("dot", [&] { dot<V>(x, y); });
  }
}

TYPED_TEST(VectorOperations, VectorsOnDifferentDevicesAreRefused) {
  using V = TypeParam;
  Vector<V> x(Device::cpu(), 3), y(Device::emulator(), 3);
  const auto refused = [](const char* name, auto&& action) {
    expect_error(ErrorCode::invalid_argument, {name, "cpu", "emulator"}, action);
  };
  refused("axpy", [&] { axpy<V>(V(1), x, y); });
  refused("xpby", [&] { xpby<V>(x, V(1), y); });
  refused("xpby", [&] { xpby<V>(x, V(0), y); });
  refused("dot", [&] { dot<V>(x, y); });
}

}  // namespace
}  // namespace weft
