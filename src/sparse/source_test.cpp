#include <weft/source.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/formats.hpp>
#include <weft/plan.hpp>

#include "simt/memory_use.hpp"
#include "sparse/callers_csr.hpp"
#include "sparse/source_state.hpp"
#include "sparse/testing.hpp"

namespace weft {
namespace {

using test::CallersCsr;
using test::devices_with_kernels;
using ::weft::testing::expect_error;
using ::weft::testing::same_bits;

Csr<double> random_matrix(Index rows, Index cols, std::size_t entries) {
  return to_csr(testing::coo_of(rows, cols, testing::random_entries<double>(rows, cols, entries, 7, 1.5)));
}

Array<double> ordinary_x(Index size) {
  Array<double> x(static_cast<std::size_t>(size));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1 + static_cast<double>(i % 13) / 16;
  return x;
}

/// A x by a plan, with a poisoned y.
Array<double> product(const Plan<double>& plan) {
  const Vector<double> x(plan.device(), ordinary_x(plan.cols()));
  Vector<double> y(plan.device(), Array<double>(static_cast<std::size_t>(plan.rows()), NAN));
  plan.apply(x, y);
  return y.download();
}

TEST(Source, ViewsOfHostArraysAreNotCopied) {
  const Csr<double> matrix = random_matrix(50, 40, 300);
  const std::vector<std::int32_t> offsets(matrix.offsets.begin(), matrix.offsets.end());
  const MatrixSource<double> source(csr_view(50, 40, offsets, matrix.columns, matrix.values));
  EXPECT_EQ(source.nonzeros(), matrix.nonzeros());
  EXPECT_EQ(source.host().columns.data(), matrix.columns.data());
  EXPECT_EQ(source.host().values.data(), matrix.values.data());
  EXPECT_TRUE(same_bits(source.host(), matrix));
  EXPECT_EQ(static_cast<const void*>(source.state().host_offsets32().data()), offsets.data());
  const MatrixSource<double> wide(csr_view(50, 40, matrix.offsets, matrix.columns, matrix.values));
  EXPECT_EQ(wide.host().offsets.data(), matrix.offsets.data());
}

TEST(Source, PlansFromViewsMultiply) {
  const Csr<double> matrix = random_matrix(200, 150, 2000);
  const std::vector<std::int32_t> offsets(matrix.offsets.begin(), matrix.offsets.end());
  for (const FormatInfo& format : formats()) {
    const Array<double> expected = product(plan(matrix, {.format = format.name}));
    const Array<double> y =
        product(plan(csr_view(200, 150, offsets, matrix.columns, matrix.values), {.format = format.name}));
    EXPECT_TRUE(same_bits(y, expected)) << format.name;
  }
}

TEST(Source, ViewsAreChecked) {
  const std::vector<std::int32_t> offsets{0, 2, 3}, too_few{0, 2}, falling{0, 2, 1};
  const std::vector<Index> columns{0, 1, 1}, unsorted{1, 0, 1}, outside{0, 5, 1};
  const std::vector<double> values{1, 2, 3};
  const auto refuse = [&](const std::vector<std::int32_t>& o, const std::vector<Index>& c, const char* word) {
    expect_error(ErrorCode::invalid_matrix, {"csr_view", word}, [&] { csr_view(2, 2, o, c, values); });
  };
  EXPECT_NO_THROW(csr_view(2, 2, offsets, columns, values));
  refuse(too_few, columns, "row offsets");
  refuse(falling, columns, "row");
  refuse(offsets, unsorted, "make_csr");
  refuse(offsets, outside, "column");
}

TEST(Source, AHalfIsCompletedWhenAFormatNeedsIt) {
  Csr<double> lower = to_csr(testing::coo_of<double>(3, 3, {{0, 0, 2}, {1, 0, -1}, {1, 1, 2}, {2, 1, -1}}));
  const MatrixSource<double> source(HalfCsr<double>{lower, Symmetry::symmetric});
  EXPECT_EQ(source.nonzeros(), 6);
  EXPECT_EQ(source.symmetry(), Symmetry::symmetric);
  EXPECT_NE(source.state().half(), nullptr);
  EXPECT_EQ(source.host().nonzeros(), 6);
  const Array<double> y = product(plan(source, {.format = "csr"}));
  EXPECT_EQ(y[0], 2 * 1 - 1 * (1 + 1.0 / 16));
}

TEST(Source, CsrFromADeviceCopiesNothing) {
  const Csr<double> matrix = random_matrix(3000, 2000, 40000);
  for (const Device device : devices_with_kernels()) {
    const CallersCsr<double, std::int32_t> arrays(device, matrix);
    const Array<double> expected = product(plan(matrix, {.device = device, .format = "csr"}));
    const simt::MemoryUse before = simt::memory_use();
    const Plan<double> p = plan(arrays.view(), {.format = "csr"});
    const simt::MemoryUse after = simt::memory_use();
    EXPECT_EQ(p.device(), device);
    // No column and no value: what is downloaded are facts, what is allocated and uploaded is workspace.
    const std::size_t much = matrix.columns.bytes() / 4;
    EXPECT_LT(after.uploaded - before.uploaded, much);
    EXPECT_LT(after.downloaded - before.downloaded, much);
    EXPECT_LT(after.allocated - before.allocated, much);
    EXPECT_TRUE(same_bits(product(p), expected));
    EXPECT_GT(p.info().setup.total(), 0);
  }
}

TEST(Source, FormatsBuiltOnADeviceLeaveTheMatrixThere) {
  const Csr<double> matrix = random_matrix(3000, 2500, 60000);
  for (const Device device : devices_with_kernels())
    for (const std::string format : {"csr", "sell", "bro-sell", "bce", "coo", "ell"}) {
      const std::string name = format == "ell" ? "ell:padding=1000000" : format;
      const Array<double> expected = product(plan(matrix, {.device = device, .format = name}));
      const CallersCsr<double, Offset> wide(device, matrix);
      const CallersCsr<double, std::int32_t> narrow(device, matrix);
      const simt::MemoryUse before = simt::memory_use();
      const Plan<double> from_wide = plan(wide.view(), {.format = name});
      const Plan<double> from_narrow = plan(narrow.view(), {.format = name});
      const simt::MemoryUse after = simt::memory_use();
      EXPECT_LT(after.downloaded - before.downloaded, matrix.columns.bytes() / 2) << format;
      EXPECT_LT(after.uploaded - before.uploaded, matrix.columns.bytes() / 2) << format;
      EXPECT_TRUE(same_bits(product(from_wide), expected)) << format;
      EXPECT_TRUE(same_bits(product(from_narrow), expected)) << format;
    }
}

TEST(Source, EveryFormatIsPlannedFromADevice) {
  const Csr<double> matrix = random_matrix(400, 400, 6000);
  for (const Device device : devices_with_kernels()) {
    const CallersCsr<double, std::int32_t> arrays(device, matrix);
    for (const FormatInfo& format : formats()) {
      const std::string name = format.name == "ell" ? "ell:padding=1000000" : format.name;
      const Array<double> expected = product(plan(matrix, {.device = device, .format = name}));
      EXPECT_TRUE(same_bits(product(plan(arrays.view(), {.format = name})), expected)) << name;
    }
    // And multiplied elsewhere, where that is requested.
    EXPECT_EQ(plan(arrays.view(), {.device = Device::cpu(), .format = "csr"}).device(), Device::cpu());
  }
}

TEST(Source, NewValuesMayBeOnTheDevice) {
  const Csr<double> matrix = random_matrix(300, 300, 5000);
  Csr<double> doubled = matrix;
  doubled.values = matrix.values.clone();
  for (double& value : doubled.values) value *= 2;
  for (const Device device : devices_with_kernels()) {
    const CallersCsr<double, std::int32_t> arrays(device, matrix);
    const DeviceBuffer<double> fresh(device, doubled.values);
    for (const FormatInfo& format : formats()) {
      const std::string name = format.name == "ell" ? "ell:padding=1000000" : format.name;
      const Array<double> expected = product(plan(doubled, {.device = device, .format = name}));
      Plan<double> p = plan(arrays.view(), {.format = name, .transpose = format.name == "csr"});
      p.update_values(fresh);
      EXPECT_TRUE(same_bits(product(p), expected)) << name;
      // The caller's own array is left alone.
      EXPECT_TRUE(same_bits(arrays.values.download(), matrix.values)) << name;
    }
  }
}

TEST(Source, SeveralPlansShareOneUpload) {
  const Csr<double> matrix = random_matrix(2000, 2000, 30000);
  for (const Device device : devices_with_kernels()) {
    const MatrixSource<double> source(matrix);
    const Plan<double> first = plan(source, {.device = device, .format = "csr"});
    const std::size_t before = simt::memory_use().uploaded;
    const Plan<double> second = plan(source, {.device = device, .format = "sell"});
    EXPECT_LT(simt::memory_use().uploaded - before, matrix.columns.bytes() / 2) << device.name();
    EXPECT_EQ(source.state().times.upload, second.info().setup.upload);
  }
}

TEST(Source, ArraysOnADeviceAreChecked) {
  for (const Device device : devices_with_kernels()) {
    const DeviceBuffer<std::int32_t> offsets(device, Array<std::int32_t>{0, 2, 3});
    const DeviceBuffer<std::int32_t> falling(device, Array<std::int32_t>{0, 4, 3});
    const DeviceBuffer<std::int32_t> late(device, Array<std::int32_t>{1, 2, 3});
    const DeviceBuffer<Index> columns(device, Array<Index>{0, 1, 0});
    const DeviceBuffer<Index> unsorted(device, Array<Index>{1, 0, 1});
    const DeviceBuffer<Index> twice(device, Array<Index>{1, 1, 1});
    const DeviceBuffer<Index> outside(device, Array<Index>{0, 2, 1});
    const DeviceBuffer<double> values(device, Array<double>{1, 2, 3});
    using Matrix = DeviceCsr<double, std::int32_t>;
    const auto refuse = [&](const Matrix& matrix, ErrorCode code, const char* word) {
      expect_error(code, {word}, [&] { plan(matrix, {.format = "csr"}); });
    };
    EXPECT_NO_THROW(plan(Matrix{2, 2, offsets, columns, values}, {.format = "csr"}));
    refuse({2, 2, falling, columns, values}, ErrorCode::invalid_matrix, "offsets");
    refuse({2, 2, late, columns, values}, ErrorCode::invalid_matrix, "offsets");
    refuse({2, 2, offsets, unsorted, values}, ErrorCode::invalid_matrix, "ascend");
    refuse({2, 2, offsets, twice, values}, ErrorCode::invalid_matrix, "ascend");
    refuse({2, 2, offsets, outside, values}, ErrorCode::invalid_matrix, "not in 0..1");
    refuse({3, 2, offsets, columns, values}, ErrorCode::invalid_argument, "offsets");
    refuse({2, -1, offsets, columns, values}, ErrorCode::invalid_argument, "fewer than 0");
    refuse({2, 2, offsets, DeviceSpan<const Index>(columns).subspan(0, 2), values}, ErrorCode::invalid_argument,
           "columns");
  }
}

TEST(Source, EmptyMatricesOnADevice) {
  for (const Device device : devices_with_kernels()) {
    const Csr<double> empty_rows = to_csr(testing::coo_of<double>(5, 3, {}));
    const CallersCsr<double, std::int32_t> arrays(device, empty_rows);
    for (const FormatInfo& format : formats()) {
      const Array<double> y = product(plan(arrays.view(), {.format = format.name}));
      for (const double value : y) EXPECT_EQ(value, 0) << format.name;
    }
  }
}

}  // namespace
}  // namespace weft
