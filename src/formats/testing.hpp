#pragma once
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "facts/source_facts.hpp"
#include "formats/csr/testing.hpp"
#include "plan/device_table.hpp"
#include "simt/memory_use.hpp"
#include "sparse/callers_csr.hpp"

/// For tests of formats that are made from arrays on a device.
namespace weft::test {

/// A matrix on the host as formats see it that predict, for a GPU like the emulator's or for a CPU.
template <Value V>
class TestOutlook final : public Outlook {
 public:
  TestOutlook(const Csr<V>& matrix, Device where)
      : Outlook(where, sizeof(V), device_table(Device::emulator()), 10000), source_(matrix) {}
  const RowLengths& rows() const override { return row_lengths(source_); }
  const AccessFacts& access() const override { return access_for(device, source_); }
  const BlockFacts& blocks() const override { return ::weft::blocks(source_); }
  BallFacts balls(int block, Index nodes) const override { return ::weft::balls(source_, block, nodes); }
  KnownParts known_parts() const override { return KnownParts::none; }

 private:
  MatrixSource<V> source_;
};

/// What a format of one variant expects of itself on a matrix.
template <Value V>
Prediction prediction_of(const Format& format, const Csr<V>& matrix, Device device) {
  return format.predict(TestOutlook<V>(matrix, device)).front();
}

template <Value V>
bool same_bits(const Array<V>& a, const Array<V>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

/// An operator from a caller's arrays on the device must be the one from the same matrix on the host, before and after
/// new values, and be made without fetching columns or values.
template <OffsetType O, Value V>
void expect_same_from_device(const std::string& name, Device device, const Csr<V>& matrix) {
  const FormatChoice choice = find_format(name, device, value_type<V>);
  const auto build = [&](const MatrixSource<V>& source) {
    return choice.format->build.template get<V>()(
        source, {.device = device, .variant = choice.variant, .parameters = choice.parameters});
  };
  const auto from_host = build(MatrixSource<V>(matrix));
  const CallersCsr<V, O> callers(device, matrix);
  const std::size_t downloaded = simt::memory_use().downloaded;
  const auto from_device = build(MatrixSource<V>(callers.view()));
  EXPECT_LT(simt::memory_use().downloaded - downloaded, matrix.columns.bytes()) << name;
  EXPECT_EQ(from_device->info().details, from_host->info().details);
  EXPECT_EQ(from_device->info().padding, from_host->info().padding);

  Array<V> x(static_cast<std::size_t>(matrix.cols)), y(static_cast<std::size_t>(matrix.rows));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = V(1) / static_cast<V>(1 + i % 97);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = static_cast<V>(i % 7);
  const auto expect_same_product = [&] {
    EXPECT_TRUE(same_bits(apply(*from_device, device, V(2), x, V(3), y), apply(*from_host, device, V(2), x, V(3), y)))
        << name;
  };
  expect_same_product();
  Array<V> values(matrix.values.size());
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = V(1) / static_cast<V>(3 + k % 89);
  from_host->update_values(std::span<const V>(values));
  const DeviceBuffer<V> values_there(device, values);
  const std::size_t uploaded = simt::memory_use().uploaded;
  from_device->update_values(DeviceSpan<const V>(values_there));
  EXPECT_LT(simt::memory_use().uploaded - uploaded, matrix.columns.bytes()) << name;
  expect_same_product();
}

/// A plan from a caller's arrays on a device gives the bits of one from the host, before and after new values. For
/// formats that fetch the matrix.
inline void expect_same_plan_from_device(const std::string& format, Device device, const Csr<double>& matrix) {
  const std::vector<double> x(static_cast<std::size_t>(matrix.cols), 0.1);
  const auto rows = static_cast<std::size_t>(matrix.rows);
  Array<double> values(matrix.values.size());
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = 1.0 / static_cast<double>(3 + k);
  const CallersCsr<double, std::int32_t> callers(device, matrix);
  auto from_host = plan(matrix, {.device = device, .format = format});
  auto from_device = plan(callers.view(), {.format = format});
  EXPECT_EQ(from_device.info().details, from_host.info().details) << format;
  EXPECT_EQ(product(from_device, device, x, rows, 1), product(from_host, device, x, rows, 1)) << format;
  from_host.update_values(values);
  from_device.update_values(DeviceBuffer<double>(device, values));
  EXPECT_EQ(product(from_device, device, x, rows, 1), product(from_host, device, x, rows, 1)) << format;
}

}  // namespace weft::test
