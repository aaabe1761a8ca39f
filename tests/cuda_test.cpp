// What only a real GPU can show; skipped where there is none.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <weft/plan.hpp>
#include <weft/spmv.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "format_names.hpp"
#include "formats/csr/selftest.hpp"
#include "formats/registry.hpp"
#include "huge_matrix.hpp"
#include "reference.hpp"
#include "refusals.hpp"
#include "simt/selftest.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

TEST(SimtSelfTest, PrimitivesAgreeWithPlainLoopsOnTheGpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  EXPECT_EQ(on_cuda::simt_selftest(), std::vector<std::string>());
}

TEST(CsrSelfTest, TilesSharesAndCarriesAgreeWithPlainLoopsOnTheGpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  EXPECT_EQ(on_cuda::csr_selftest(), std::vector<std::string>());
}

/// ehyb lays such a matrix out on the host, since its rows have too much in common with all parts: for minutes.
std::vector<std::string> formats_for_huge_matrices() {
  std::vector<std::string> names;
  for (const Format* format : registry())
    if (format->runs_on(Device::Kind::gpu) && format->info.name != "ehyb") names.push_back(format->info.name);
  return names;
}

// On a CPU only csr is tested so (csr_test.cpp): it multiplies the few pages that the caller's arrays repeat, while
// every other format makes an array of its own, 26 GB and more.
class HugeMatrix : public ::testing::TestWithParam<std::string> {};

TEST_P(HugeMatrix, MoreThanTwoToTheThirtyTwoEntriesOnTheGpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  constexpr std::int64_t needed = std::int64_t(80) << 30;
  if (describe(Device::gpu()).memory_bytes < needed || describe(Device::cpu()).memory_bytes < needed)
    GTEST_SKIP() << "needs 80 GB of memory on the GPU and beside it";
  const Csr<float> matrix = huge_matrix();
  Array<float> x(static_cast<std::size_t>(matrix.cols), 1.0f);
  x[5] = 10.0f;
  auto p = plan(matrix, {.device = Device::gpu(), .format = GetParam()});
  DeviceBuffer<float> from(Device::gpu(), x), to(Device::gpu(), static_cast<std::size_t>(matrix.rows));
  p.apply(from, to);
  const Array<float> y = to.download();
  for (Index row = 0; row < matrix.rows; ++row) ASSERT_EQ(y[row], huge_matrix_product(row, matrix.rows)) << row;
}

INSTANTIATE_TEST_SUITE_P(Formats, HugeMatrix, ::testing::ValuesIn(formats_for_huge_matrices()), [](const auto& one) {
  std::string name = one.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// Captures what `multiply(stream)` queues and replays it with other numbers in x.
template <class F>
void expect_replayed(const Csr<double>& matrix, DeviceBuffer<double>& x, DeviceBuffer<double>& y, F&& multiply) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  multiply(Stream(stream));
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);

  for (const std::uint64_t seed : {2, 3}) {
    const Array<double> fresh = random_vector<double>(x.size(), seed);
    x.upload(fresh);
    synchronize(Device::gpu());
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    const Array<double> result = y.download();
    EXPECT_TRUE(equals_reference<double>(matrix, Op::none, 1.0, fresh, 0.0, result, result));
  }
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}

void expect_captured(const Csr<double>& matrix, const std::string& format) {
  auto p = plan_unless_refused(matrix, {.device = Device::gpu(), .format = format});
  if (!p) return;
  DeviceBuffer<double> x(Device::gpu(), random_vector<double>(static_cast<std::size_t>(matrix.cols), 1));
  DeviceBuffer<double> y(Device::gpu(), Array<double>(static_cast<std::size_t>(matrix.rows), 0.0));
  expect_replayed(matrix, x, y, [&](Stream stream) { p->apply(x, y, stream); });
}

TEST(CudaGraph, CapturesAndReplaysEveryFormatAndVariant) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  // With empty rows and rows that many warps share some variants launch more kernels.
  std::vector<Index> uneven(700, 20);
  for (std::size_t i = 0; i < uneven.size(); i += 5) uneven[i] = i % 3 ? 0 : 4000;
  const auto even_rows = random_rows<double>(500, std::vector<Index>(700, 20));
  const auto uneven_rows = random_rows<double>(5000, uneven);
  for (const Format* format : registry())
    for (const std::string& name : names_on(Device::Kind::gpu, *format, true)) {
      SCOPED_TRACE(name);
      expect_captured(even_rows, name);
      expect_captured(uneven_rows, name);
    }
}

TEST(CudaGraph, CapturesAndReplaysAProductWithoutAPlan) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  std::vector<Index> lengths(700, 20);
  for (std::size_t i = 0; i < lengths.size(); i += 5) lengths[i] = i % 3 ? 0 : 4000;
  const auto matrix = random_rows<double>(5000, lengths);
  const Device gpu = Device::gpu();
  const DeviceBuffer<Offset> offsets(gpu, matrix.offsets);
  const DeviceBuffer<Index> columns(gpu, matrix.columns);
  const DeviceBuffer<double> values(gpu, matrix.values);
  const DeviceCsr<double> arrays{matrix.rows, matrix.cols, offsets, columns, values};
  for (const SpmvAlgorithm algorithm : {SpmvAlgorithm::merge, SpmvAlgorithm::speculative}) {
    DeviceBuffer<std::byte> workspace(gpu, spmv_workspace_bytes(arrays, algorithm));
    DeviceBuffer<double> x(gpu, random_vector<double>(5000, 1)), y(gpu, Array<double>(700, 0.0));
    expect_replayed(matrix, x, y, [&](Stream stream) { spmv(1.0, arrays, x, 0.0, y, workspace, algorithm, stream); });
  }
}

}  // namespace
}  // namespace weft::test
