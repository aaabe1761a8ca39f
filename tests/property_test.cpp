// Random structures: every format on every device must agree with the reference on matrices nobody thought of.
#include <gtest/gtest.h>
#include <weft/plan.hpp>

#include <vector>

#include "formats/registry.hpp"
#include "reference.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

/// A matrix drawn by `dice`: any shape, and rows that are empty, short, long or all alike, by chance.
template <Value V>
Csr<V> draw_matrix(Dice& dice, Index largest) {
  const Index rows = dice.below(largest), cols = 1 + dice.below(largest);
  const Index mood = dice.below(4), common = dice.below(cols + 1);
  std::vector<Index> lengths(static_cast<std::size_t>(rows));
  for (Index& length : lengths) {
    const Index roll = dice.below(100);
    if (mood == 0) length = common;                            // all alike
    if (mood == 1) length = roll < 60 ? 0 : dice.below(9);     // mostly empty
    if (mood == 2) length = roll < 97 ? dice.below(6) : cols;  // a few full rows
    if (mood == 3) length = dice.below(cols + 1);              // anything
  }
  return random_rows<V>(cols, lengths, dice.next());
}

template <Value V>
void multiply_and_check(Dice& dice, Device device, const std::string& format, Index largest) {
  const Csr<V> matrix = draw_matrix<V>(dice, largest);
  const Op op = dice.below(2) ? Op::none : Op::transpose;
  const V alpha = dice.below(3) ? static_cast<V>(dice.uniform()) : V(1);
  const V beta = dice.below(2) ? static_cast<V>(dice.uniform()) : V(0);
  const auto in = static_cast<std::size_t>(op == Op::none ? matrix.cols : matrix.rows);
  const auto out = static_cast<std::size_t>(op == Op::none ? matrix.rows : matrix.cols);
  const Array<V> x = random_vector<V>(in, dice.next());
  const Array<V> before = beta == V(0) ? Array<V>(out, std::numeric_limits<V>::quiet_NaN()) : random_vector<V>(out, 3);
  Array<V> y = before.clone();
  auto p = plan(matrix, {.device = device, .format = format, .transpose = true});
  if (device.is_cpu()) {
    p.apply(op, alpha, std::span<const V>(x), beta, std::span<V>(y));
  } else {
    DeviceBuffer<V> from(device, x), to(device, y);
    p.apply(op, alpha, from, beta, to);
    y = to.download();
  }
  EXPECT_TRUE(equals_reference<V>(matrix, op, alpha, x, beta, before, y))
      << format << " on " << device.name() << ", " << matrix.rows << " x " << matrix.cols << ", " << matrix.nonzeros()
      << " nonzeros";
}

TEST(RandomStructures, EveryFormatOnEveryDeviceAgreesWithTheReference) {
  for (const Device device : available_devices())
    for (const Format* format : registry()) {
      if (!format->runs_on(device.kind())) continue;
      const bool emulated = device.kind() == Device::Kind::emulator;
      for (std::uint64_t round = 0; round < (emulated ? 15 : 100); ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Dice dice(round + 1000);
        if (format->build.get<double>())
          multiply_and_check<double>(dice, device, format->info.name, emulated ? 60 : 700);
        if (format->build.get<float>()) multiply_and_check<float>(dice, device, format->info.name, emulated ? 60 : 700);
      }
    }
}

}  // namespace
}  // namespace weft::test
