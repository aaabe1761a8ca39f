#define WEFT_SIMT_EMULATED
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "simt/warp.cuh"

namespace weft::on_emulator {
namespace {

using simt::emulator::LaneOrder;
using simt::emulator::LaneOrderScope;
using testing::HasSubstr;
using testing::ThrowsMessage;

__global__ void visit(int* visits, dim3 expected_block, dim3 expected_grid) {
  const bool right = blockDim.x == expected_block.x && blockDim.y == expected_block.y &&
                     blockDim.z == expected_block.z && gridDim.x == expected_grid.x && gridDim.y == expected_grid.y &&
                     gridDim.z == expected_grid.z;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (right) ++visits[block * (blockDim.x * blockDim.y * blockDim.z) + thread];
}

TEST(Launch, RunsEveryThreadOfEveryBlockOnce) {
  for (const auto kind : {LaneOrder::Kind::forward, LaneOrder::Kind::reverse, LaneOrder::Kind::random})
    for (const dim3 grid : {dim3(1), dim3(7), dim3(100), dim3(3, 4, 5)})
      for (const dim3 block : {dim3(1), dim3(33), dim3(1024), dim3(8, 4, 2)})
        for (const std::uint64_t seed : {0, 99}) {
          const LaneOrderScope order({kind, seed});
          std::vector<int> visits(grid.x * grid.y * grid.z * block.x * block.y * block.z, 0);
          simt::launch(WEFT_KERNEL(visit), grid, block, 0, {}, visits.data(), block, grid);
          EXPECT_THAT(visits, testing::Each(1));
        }
}

TEST(Launch, OfNoBlocksDoesNothing) {
  simt::launch(WEFT_KERNEL(visit), 0, 32, 0, {}, nullptr, dim3(), dim3());
  simt::launch(WEFT_KERNEL(visit), dim3(4, 0), 32, 0, {}, nullptr, dim3(), dim3());
}

TEST(Launch, RefusesWhatNoGpuWouldTake) {
  const auto launch = [](dim3 grid, dim3 block, std::size_t shared_bytes) {
    simt::launch(WEFT_KERNEL(visit), grid, block, shared_bytes, {}, nullptr, dim3(), dim3());
  };
  EXPECT_THAT([&] { launch(1, 0, 0); }, ThrowsMessage<Error>(HasSubstr("kernel visit: a block of 0 x 1 x 1")));
  EXPECT_THAT([&] { launch(1, 1025, 0); }, ThrowsMessage<Error>(HasSubstr("kernel visit: a block of 1025")));
  EXPECT_THAT([&] { launch(1, dim3(64, 32), 0); }, ThrowsMessage<Error>(HasSubstr("64 x 32 x 1 threads")));
  EXPECT_THAT([&] { launch(1, dim3(1, 1, 65), 0); },
              ThrowsMessage<Error>(HasSubstr("1 x 1 x 65 threads is not within 1024 x 1024 x 64")));
  EXPECT_THAT([&] { launch(0x80000000u, 1, 0); }, ThrowsMessage<Error>(HasSubstr("kernel visit: a grid")));
  EXPECT_THAT([&] { launch(dim3(1, 65536), 1, 0); }, ThrowsMessage<Error>(HasSubstr("kernel visit: a grid")));
  EXPECT_THAT([&] { launch(1, 1, 227 * 1024 + 1); }, ThrowsMessage<Error>(HasSubstr("227 KiB")));
}

TEST(Launch, BlocksForCoversAllItems) {
  EXPECT_EQ(simt::blocks_for(0, 256), 0u);
  EXPECT_EQ(simt::blocks_for(1, 256), 1u);
  EXPECT_EQ(simt::blocks_for(256, 256), 1u);
  EXPECT_EQ(simt::blocks_for(257, 256), 2u);
  EXPECT_EQ(simt::blocks_for(std::int64_t{256} * 0x7fffffff, 256), 0x7fffffffu);
  EXPECT_THROW(simt::blocks_for(std::int64_t{256} * 0x7fffffff + 1, 256), Error);
  EXPECT_THROW(simt::blocks_for(std::numeric_limits<std::int64_t>::max(), 1), Error);
}

__global__ void note_order(int* turn, int* order) { order[simt::global_thread_id()] = simt::atomic_add(*turn, 1); }

std::vector<int> order_of_turns(LaneOrder order, unsigned blocks) {
  const LaneOrderScope scope(order);
  set_threads(1);
  int turn = 0;
  std::vector<int> turns(blocks * 64);
  simt::launch(WEFT_KERNEL(note_order), blocks, 64, 0, {}, &turn, turns.data());
  set_threads(0);
  return turns;
}

TEST(LaneOrder, DecidesWhichThreadAndBlockRunsWhen) {
  std::vector<int> forward(256), backward(256);
  std::iota(forward.begin(), forward.end(), 0);
  std::iota(backward.rbegin(), backward.rend(), 0);
  EXPECT_EQ(order_of_turns({LaneOrder::Kind::forward}, 4), forward);
  EXPECT_EQ(order_of_turns({LaneOrder::Kind::reverse}, 4), backward);

  const std::vector<int> random = order_of_turns({LaneOrder::Kind::random, 8}, 4);
  EXPECT_NE(random, forward);
  EXPECT_NE(random, backward);
  EXPECT_EQ(random, order_of_turns({LaneOrder::Kind::random, 8}, 4));
  EXPECT_NE(random, order_of_turns({LaneOrder::Kind::random, 9}, 4));
}

TEST(LaneOrder, ScopePutsTheOldOneBack) {
  {
    const LaneOrderScope scope({LaneOrder::Kind::random, 42});
    EXPECT_EQ(simt::emulator::lane_order().seed, 42u);
  }
  EXPECT_EQ(simt::emulator::lane_order().kind, LaneOrder::Kind::forward);
}

// Written without our header, as CUDA code found elsewhere might be.
__global__ void reverse_each_warp(const double* __restrict__ input, double* __restrict__ output) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = static_cast<int>(threadIdx.x % warpSize);
  double value = __ldg(input + i);
  value = __shfl_sync(0xffffffffu, value, 31 - lane);
  __syncwarp();
  const unsigned votes = __ballot_sync(0xffffffffu, lane < 4);
  if (__popc(votes) == 4 && __all_sync(0xffffffffu, __ffs(static_cast<int>(votes)) == 1)) __stcs(output + i, value);
  __syncthreads();
}

TEST(Kernels, MayUseCudasOwnSpellings) {
  std::vector<double> input(64), output(64, -1);
  std::iota(input.begin(), input.end(), 0.0);
  simt::launch(WEFT_KERNEL(reverse_each_warp), 1, 64, 0, {}, input.data(), output.data());
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(output[i], input[i / 32 * 32 + 31 - i % 32]);
}

__global__ void exchange_if_equal(float* value, float expected) { simt::atomic_cas(*value, expected, 7.0f); }

TEST(Kernels, CompareAndSwapComparesBits) {
  const auto after = [](float value, float expected) {
    simt::launch(WEFT_KERNEL(exchange_if_equal), 1, 1, 0, {}, &value, expected);
    return value;
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(after(0.0f, 0.0f), 7.0f);
  EXPECT_EQ(after(0.0f, -0.0f), 0.0f);
  EXPECT_EQ(after(nan, nan), 7.0f);
}

// Two arrays per template argument, as on a GPU, and elements of several sizes.
template <class T>
__device__ T through_shared(T value) {
  WEFT_SHARED(T, tile, 32);
  const int lane = static_cast<int>(threadIdx.x);
  tile[lane] = value;
  simt::sync_block();
  tile[lane] += T(1);
  const T result = tile[lane] * T(2);
  simt::sync_block();
  return result;
}

__global__ void use_several_types(double* output) {
  const double sum = through_shared<float>(1) + through_shared<double>(2) + through_shared<std::uint8_t>(3) +
                     static_cast<double>(through_shared<std::int64_t>(4)) + through_shared<std::uint16_t>(5);
  output[threadIdx.x] = sum;
}

TEST(Kernels, ShareArraysOfSeveralTypes) {
  std::vector<double> output(32, 0);
  simt::launch(WEFT_KERNEL(use_several_types), 1, 32, 0, {}, output.data());
  EXPECT_THAT(output, testing::Each(2.0 * (2 + 3 + 4 + 5 + 6)));
}

// A warp that passes a baton through shared memory: many sync_warps, and lists of readers that come and go.
__global__ void pass_baton(int* output) {
  WEFT_SHARED(int, baton, 2);
  const int warp = simt::warp_id();
  if (simt::lane_id() == 0) baton[warp] = 0;
  for (int holder = 0; holder < 32; ++holder) {
    simt::sync_warp();
    const int seen = baton[warp];
    simt::sync_warp();
    if (simt::lane_id() == holder) baton[warp] = seen + holder;
  }
  simt::sync_warp();
  output[threadIdx.x] = baton[warp];
}

TEST(Kernels, MayPassValuesThroughSharedMemoryWithinAWarp) {
  for (const auto kind : {LaneOrder::Kind::forward, LaneOrder::Kind::reverse, LaneOrder::Kind::random}) {
    const LaneOrderScope order({kind, 3});
    std::vector<int> output(64, 0);
    simt::launch(WEFT_KERNEL(pass_baton), 1, 64, 0, {}, output.data());
    EXPECT_THAT(output, testing::Each(31 * 32 / 2));
  }
}

__global__ void shuffle_from_outside(float* output) {
  if (simt::lane_id() < 8) output[simt::lane_id()] = simt::shuffle_down(0x000000ffu, 1.0f, 4);
}

TEST(Kernels, GetNotANumberFromALaneOutsideTheMask) {
  std::vector<float> output(8, 0);
  simt::launch(WEFT_KERNEL(shuffle_from_outside), 1, 32, 0, {}, output.data());
  for (int lane = 0; lane < 8; ++lane) EXPECT_EQ(output[lane] != output[lane], lane >= 4) << lane;
}

}  // namespace
}  // namespace weft::on_emulator
