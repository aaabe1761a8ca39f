// What only a real GPU can show; skipped where there is none.
#include <cuda_runtime.h>
#include <gtest/gtest.h>
#include <weft/plan.hpp>

#include <vector>

#include "formats/registry.hpp"
#include "huge_matrix.hpp"
#include "reference.hpp"
#include "simt/selftest.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

TEST(SimtSelfTest, PrimitivesAgreeWithPlainLoopsOnTheGpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  EXPECT_EQ(on_cuda::simt_selftest(), std::vector<std::string>());
}

TEST(HugeMatrix, MoreThanTwoToTheThirtyTwoEntriesOnTheGpu) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  constexpr std::int64_t needed = std::int64_t(80) << 30;
  if (describe(Device::gpu()).memory_bytes < needed || describe(Device::cpu()).memory_bytes < needed)
    GTEST_SKIP() << "needs 80 GB of memory on the GPU and beside it";
  const Csr<float> matrix = huge_matrix();
  Array<float> x(static_cast<std::size_t>(matrix.cols), 1.0f);
  x[5] = 10.0f;
  for (const Format* format : registry()) {
    if (!format->runs_on(Device::Kind::gpu)) continue;
    auto p = plan(matrix, {.device = Device::gpu(), .format = format->info.name});
    DeviceBuffer<float> from(Device::gpu(), x), to(Device::gpu(), static_cast<std::size_t>(matrix.rows));
    p.apply(from, to);
    const Array<float> y = to.download();
    for (Index row = 0; row < matrix.rows; ++row)
      ASSERT_EQ(y[row], huge_matrix_product(row, matrix.rows)) << format->info.name << " row " << row;
  }
}

TEST(CudaGraph, CapturesAndReplaysEveryFormat) {
  if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << "no GPU: " << why;
  const auto matrix = random_rows<double>(500, std::vector<Index>(700, 20));
  for (const Format* format : registry()) {
    if (!format->runs_on(Device::Kind::gpu)) continue;
    auto p = plan(matrix, {.device = Device::gpu(), .format = format->info.name});
    DeviceBuffer<double> x(Device::gpu(), random_vector<double>(500, 1)), y(Device::gpu(), Array<double>(700, 0.0));
    cudaStream_t stream = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
    p.apply(x, y, Stream(stream));
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess) << format->info.name;
    ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);

    const Array<double> fresh = random_vector<double>(500, 2);
    x.upload(fresh);
    synchronize(Device::gpu());
    ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    const Array<double> result = y.download();
    EXPECT_TRUE(equals_reference<double>(matrix, Op::none, 1.0, fresh, 0.0, result, result)) << format->info.name;
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
  }
}

}  // namespace
}  // namespace weft::test
