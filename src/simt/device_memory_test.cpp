// Kernels that leave their buffers or fail in other ways a processor notices.
#define WEFT_SIMT_EMULATED
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/buffer.hpp>
#include <weft/runtime.hpp>

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "simt/testing.hpp"
#include "simt/warp.cuh"

namespace weft::on_emulator {
namespace {

using test::expect_caught;
using testing::AllOf;
using testing::HasSubstr;

constexpr Device device = Device::emulator();

__global__ void fill(double* output, std::int64_t begin, std::int64_t end) {
  const std::int64_t i = begin + simt::global_thread_id();
  if (i < end) output[i] = 2.0;
}

void launch_fill(double* output, std::int64_t begin, std::int64_t end) {
  simt::launch(WEFT_KERNEL(fill), simt::blocks_for(end - begin, 64), 64, 0, {}, output, begin, end);
}

TEST(DeviceMemory, AccessesPastTheEndNameTheKernelThePlaceAndTheBuffer) {
  DeviceBuffer<double> output(device, 100);
  expect_caught([&] { launch_fill(output.data(), 0, 101); }, [&] { launch_fill(output.data(), 0, 100); },
                "kernel fill: block 1 thread 36 accessed an address outside of any buffer (0 bytes past the end of a "
                "buffer of 800 bytes)");
  expect_caught([&] { launch_fill(output.data(), 50'000, 50'001); }, [&] { launch_fill(output.data(), 0, 100); },
                AllOf(HasSubstr("block 0 thread 0"), HasSubstr("399200 bytes past the end of a buffer of 800 bytes")));
}

__global__ void sum_into(const double* input, std::int64_t count, double* output) {
  double sum = 0;
  for (std::int64_t i = threadIdx.x; i < count; i += blockDim.x) sum += input[i];
  sum = simt::block_reduce_sum(sum);
  if (threadIdx.x == 0) *output = sum;
}

TEST(DeviceMemory, AReadPastTheEndWhileOtherThreadsWaitIsReported) {
  DeviceBuffer<double> input(device, 512), output(device, 2);
  launch_fill(input.data(), 0, 512);
  const auto sum = [&](std::int64_t count) {
    simt::launch(WEFT_KERNEL(sum_into), 1, 256, 0, {}, input.data(), count, output.data());
  };
  expect_caught([&] { sum(513); }, [&] { sum(512); }, HasSubstr("kernel sum_into: block 0 thread 0 accessed"));
  EXPECT_EQ(*output.data(), 1024.0);
}

TEST(DeviceMemory, AccessesBeforeTheStartAreReported) {
  DeviceBuffer<double> output(device, 512);  // a whole page: nothing accessible lies before it
  expect_caught([&] { launch_fill(output.data(), -3, 5); }, [&] { launch_fill(output.data(), 0, 5); },
                HasSubstr("bytes before the start of a buffer of 4096 bytes"));
}

TEST(DeviceMemory, WritesIntoThePaddingAroundABufferAreReported) {
  DeviceBuffer<double> output(device, 3);  // padded to 32 bytes by alignment
  expect_caught([&] { launch_fill(output.data(), 0, 4); }, [&] { launch_fill(output.data(), 0, 3); },
                "kernel fill: wrote 0 bytes past the end of a buffer of 24 bytes");
  expect_caught([&] { launch_fill(output.data(), -1, 3); }, [&] { launch_fill(output.data(), 0, 3); },
                HasSubstr("kernel fill: wrote 8 bytes before the start of a buffer of 24 bytes"));
}

TEST(DeviceMemory, WritesIntoThePaddingAreNotBlamedOnTheNextKernel) {
  DeviceBuffer<double> output(device, 3);  // element 3 is padding, element 4 is nobody's
  expect_caught([&] { launch_fill(output.data(), 0, 5); }, [&] { launch_fill(output.data(), 0, 3); },
                HasSubstr("kernel fill: block 0 thread 4 accessed an address outside of any buffer"));

  DeviceBuffer<double> another(device, 3);
  output.data()[3] = another.data()[3] = 1.0;
  EXPECT_THAT(simt::emulator::find_overrun(), HasSubstr("0 bytes past the end of a buffer of 24 bytes"));
  EXPECT_EQ(simt::emulator::find_overrun(), "");
}

TEST(DeviceMemory, AnEmptyBufferHasNoElement) {
  DeviceBuffer<double> nothing(device, 0), another(device, 0);
  EXPECT_NE(nothing.data(), nullptr);
  EXPECT_NE(nothing.data(), another.data());
  expect_caught([&] { launch_fill(nothing.data(), 0, 1); }, [&] { launch_fill(nothing.data(), 0, 0); },
                HasSubstr("0 bytes past the end of a buffer of 0 bytes"));
}

TEST(DeviceMemory, StartsAsNotANumberAndAligned) {
  for (const std::size_t bytes : {1, 4, 15, 16, 17, 100, 4096, 5000}) {
    DeviceBuffer<unsigned char> buffer(device, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 16, 0u);
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(buffer.data()[i], 0xFF);
  }
}

TEST(DeviceMemory, RefusesMoreThanThereIs) {
  for (const std::size_t bytes : {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 4, std::size_t{1} << 42}) {
    try {
      simt::emulator::deallocate(simt::emulator::allocate(bytes));
      FAIL() << bytes;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    }
  }
}

TEST(DeviceMemory, DamageDoneByTheHostIsLoggedWhenFreed) {
  std::string logged;
  set_logger([&](LogLevel, std::string_view sentence) { logged = sentence; });
  auto* const buffer = static_cast<char*>(simt::emulator::allocate(10));
  std::memset(buffer + 10, 0, 2);
  simt::emulator::deallocate(buffer);
  set_logger({});
  EXPECT_THAT(logged, HasSubstr("written 0 bytes past the end of a buffer of 10 bytes"));
}

__attribute__((no_sanitize("undefined"))) __global__ void follow(const int* pointer, int* output) {
  output[0] = *pointer;
}

TEST(OtherFaults, ANullPointerIsReported) {
  DeviceBuffer<int> output(device, 4), input(device, 4);
  expect_caught(
      [&] { simt::launch(WEFT_KERNEL(follow), 1, 1, 0, {}, static_cast<const int*>(nullptr), output.data()); },
      [&] { simt::launch(WEFT_KERNEL(follow), 1, 1, 0, {}, input.data(), output.data()); },
      HasSubstr("a null pointer"));
}

__attribute__((no_sanitize("undefined"))) __global__ void divide(int divisor, int* output) {
  output[0] = 100 / divisor;
}

#ifdef __x86_64__  // where the processor minds
TEST(OtherFaults, AnIntegerDivisionByZeroIsReported) {
  DeviceBuffer<int> output(device, 4);
  expect_caught([&] { simt::launch(WEFT_KERNEL(divide), 1, 1, 0, {}, 0, output.data()); },
                [&] { simt::launch(WEFT_KERNEL(divide), 1, 1, 0, {}, 7, output.data()); },
                HasSubstr("kernel divide: block 0 thread 0 divided an integer by zero"));
}
#endif

int descend(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : descend(depth - 1) + frame[0];
}

__global__ void recurse(int depth, int* output) { output[0] = descend(depth); }

TEST(OtherFaults, AStackThatOverflowsIsReported) {
  DeviceBuffer<int> output(device, 4);
  expect_caught([&] { simt::launch(WEFT_KERNEL(recurse), 1, 1, 0, {}, 100'000, output.data()); },
                [&] { simt::launch(WEFT_KERNEL(recurse), 1, 1, 0, {}, 10, output.data()); },
                HasSubstr("kernel recurse: block 0 thread 0 overflowed its stack"));
}

__global__ void throw_when(bool wanted) {
  simt::sync_block();
  if (wanted && threadIdx.x == 7) throw std::runtime_error("a message");
  simt::sync_block();
}

TEST(OtherFaults, AnExceptionDoesNotLeaveTheKernel) {
  expect_caught([] { simt::launch(WEFT_KERNEL(throw_when), 2, 64, 0, {}, true); },
                [] { simt::launch(WEFT_KERNEL(throw_when), 2, 64, 0, {}, false); },
                AllOf(HasSubstr("kernel throw_when: block "), HasSubstr("thread 7 threw an exception: a message")));
}

__global__ void load_pairs(const float* input, float* output) {
  output[threadIdx.x] = simt::load_pack<2>(input + 2 * threadIdx.x)[1];
}

TEST(OtherFaults, AMisalignedVectorAccessIsReported) {
  DeviceBuffer<float> input(device, 68), output(device, 32);
  expect_caught([&] { simt::launch(WEFT_KERNEL(load_pairs), 1, 32, 0, {}, input.data() + 1, output.data()); },
                [&] { simt::launch(WEFT_KERNEL(load_pairs), 1, 32, 0, {}, input.data() + 2, output.data()); },
                HasSubstr("not a multiple of 8 bytes"));
}

}  // namespace
}  // namespace weft::on_emulator
