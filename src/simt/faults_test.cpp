// Planted bugs: kernels with one mistake each, which the emulator must report in every lane order, and their correct
// twins, which it must run.
#define WEFT_SIMT_EMULATED
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>

#include "simt/testing.hpp"
#include "simt/warp.cuh"

namespace weft::on_emulator {
namespace {

using test::expect_caught;
using test::fault_of;
using testing::AllOf;
using testing::HasSubstr;

/// Four blocks of 64 threads, no arguments.
std::function<void()> launching(simt::Kernel<> kernel, std::size_t shared_bytes = 0) {
  return [=] { simt::launch(kernel, 4, 64, shared_bytes, {}); };
}

// Written before, so that what is missing is the barrier, not the value.
template <bool barrier>
__global__ void read_neighbour() {
  WEFT_SHARED(float, tile, 64);
  const int thread = static_cast<int>(threadIdx.x);
  tile[thread] = 0;
  simt::sync_block();
  tile[thread] = 1;
  if (barrier) simt::sync_block();
  const float neighbour = tile[(thread + 63) % 64];
  static_cast<void>(neighbour);
}

TEST(MissingBarrier, BetweenAWriteAndAReadIsReported) {
  expect_caught(launching(WEFT_KERNEL(read_neighbour<false>)), launching(WEFT_KERNEL(read_neighbour<true>)),
                AllOf(HasSubstr("kernel read_neighbour<false>: block "), HasSubstr("missing barrier")));
  EXPECT_THAT(fault_of(launching(WEFT_KERNEL(read_neighbour<false>))),
              HasSubstr("block 0 thread 1 reads the shared element 'tile'[0], which thread 0 wrote without a barrier"));
}

template <bool barrier>
__global__ void overwrite_what_others_read() {
  WEFT_SHARED(double, tile, 64);
  const int thread = static_cast<int>(threadIdx.x);
  tile[thread] = 1;
  simt::sync_block();
  const double neighbour = tile[(thread + 1) % 64];
  if (barrier) simt::sync_block();
  tile[thread] = neighbour;
}

TEST(MissingBarrier, BetweenAReadAndAWriteIsReported) {
  expect_caught(launching(WEFT_KERNEL(overwrite_what_others_read<false>)),
                launching(WEFT_KERNEL(overwrite_what_others_read<true>)),
                AllOf(HasSubstr("kernel overwrite_what_others_read<false>"), HasSubstr("missing barrier")));
}

template <bool barrier>
__global__ void write_the_same_element() {
  WEFT_SHARED(int, flag, 1);
  if (threadIdx.x == 5) flag[0] = 1;
  if (barrier) simt::sync_block();
  if (threadIdx.x == 40) flag[0] = 1;
}

TEST(MissingBarrier, BetweenTwoWritesIsReported) {
  expect_caught(launching(WEFT_KERNEL(write_the_same_element<false>)),
                launching(WEFT_KERNEL(write_the_same_element<true>)),
                AllOf(HasSubstr("writes the shared element 'flag'[0]"), HasSubstr("missing barrier")));
}

enum class Between { nothing, shuffle, other_lanes, both_lanes, chain, whole_warp };

// Lane 3 writes, lane 9 of the same warp reads.
template <Between between>
__global__ void pass_within_the_warp() {
  WEFT_SHARED(unsigned, box, 2);
  const int lane = simt::lane_id();
  const int warp = simt::warp_id();
  if (lane == 3) box[warp] = 7u;
  if (between == Between::shuffle) simt::shuffle(simt::full_mask, lane, 3);
  if (between == Between::other_lanes && lane < 8) simt::sync_warp(0x000000ffu);
  if (between == Between::both_lanes && (lane == 3 || lane == 9)) simt::sync_warp(1u << 3 | 1u << 9);
  if (between == Between::chain) {
    if (lane == 3 || lane == 5) simt::sync_warp(1u << 3 | 1u << 5);
    if (lane == 5 || lane == 9) simt::sync_warp(1u << 5 | 1u << 9);
  }
  if (between == Between::whole_warp) simt::sync_warp();
  if (lane == 9) {
    const unsigned seen = box[warp];
    static_cast<void>(seen);
  }
}

TEST(MissingBarrier, WithinAWarpIsReported) {
  // In an order where the reader runs first, it finds memory never written instead.
  const auto sentence = AllOf(HasSubstr("kernel pass_within_the_warp"), HasSubstr("thread "), HasSubstr("'box'["));
  for (const auto& buggy :
       {WEFT_KERNEL(pass_within_the_warp<Between::nothing>), WEFT_KERNEL(pass_within_the_warp<Between::shuffle>),
        WEFT_KERNEL(pass_within_the_warp<Between::other_lanes>)})
    for (const auto& correct :
         {WEFT_KERNEL(pass_within_the_warp<Between::both_lanes>), WEFT_KERNEL(pass_within_the_warp<Between::chain>),
          WEFT_KERNEL(pass_within_the_warp<Between::whole_warp>)})
      expect_caught(launching(buggy), launching(correct), sentence);
  EXPECT_THAT(fault_of(launching(WEFT_KERNEL(pass_within_the_warp<Between::shuffle>))),
              HasSubstr("block 0 thread 9 reads the shared element 'box'[0], which thread 3 wrote without a barrier"));
}

template <bool barrier>
__global__ void sync_warp_does_not_order_warps() {
  WEFT_SHARED(int, tile, 64);
  const int thread = static_cast<int>(threadIdx.x);
  tile[thread] = 0;
  simt::sync_block();
  if (thread < 32) tile[thread] = thread;
  simt::sync_warp();
  if (barrier) simt::sync_block();
  if (thread >= 32) {
    const int other = tile[63 - thread];
    static_cast<void>(other);
  }
}

TEST(MissingBarrier, BetweenWarpsIsReportedInSpiteOfSyncWarp) {
  expect_caught(launching(WEFT_KERNEL(sync_warp_does_not_order_warps<false>)),
                launching(WEFT_KERNEL(sync_warp_does_not_order_warps<true>)), HasSubstr("missing barrier"));
  EXPECT_THAT(fault_of(launching(WEFT_KERNEL(sync_warp_does_not_order_warps<false>))),
              HasSubstr("thread 32 reads the shared element 'tile'[31], which thread 31 wrote without a barrier"));
}

template <bool barrier>
__global__ void count_and_read() {
  WEFT_SHARED(int, counter, 1);
  if (threadIdx.x == 0) counter[0] = 0;
  simt::sync_block();
  simt::atomic_add(counter[0], 1);
  atomicAdd(&counter[0], 1);
  if (barrier) simt::sync_block();
  if (threadIdx.x == 33) {
    const int count = counter[0];
    static_cast<void>(count);
  }
}

TEST(MissingBarrier, BetweenAnAtomicAndAPlainReadIsReportedButNotBetweenAtomics) {
  expect_caught(
      launching(WEFT_KERNEL(count_and_read<false>)), launching(WEFT_KERNEL(count_and_read<true>)),
      AllOf(HasSubstr("'counter'[0]"), HasSubstr("updated"), HasSubstr("atomically"), HasSubstr("missing barrier")));
}

// The same bytes, first as doubles, then as bytes: the second view inherits what is known about the first.
template <bool barrier>
__global__ void reuse_dynamic_memory() {
  WEFT_DYNAMIC_SHARED(double, numbers, 64);
  const int thread = static_cast<int>(threadIdx.x);
  numbers[thread] = 0.0;
  simt::sync_block();
  numbers[thread] = 1.0;
  if (barrier) simt::sync_block();
  WEFT_DYNAMIC_SHARED(std::uint8_t, bytes, 64 * 8);
  const int of_the_thread_before = bytes[(thread * 8 + 504) % 512];
  static_cast<void>(of_the_thread_before);
}

TEST(MissingBarrier, BetweenTwoViewsOfDynamicMemoryIsReported) {
  expect_caught(launching(WEFT_KERNEL(reuse_dynamic_memory<false>), 512),
                launching(WEFT_KERNEL(reuse_dynamic_memory<true>), 512), HasSubstr("missing barrier"));
  EXPECT_THAT(fault_of(launching(WEFT_KERNEL(reuse_dynamic_memory<false>), 512)),
              HasSubstr("thread 1 reads the shared element 'bytes'[0], which thread 0 wrote without a barrier"));
}

template <bool complete>
__global__ void read_before_writing() {
  WEFT_SHARED(std::uint16_t, tile, 64);
  const int thread = static_cast<int>(threadIdx.x);
  // Blocks after the first find what the block before them left there, unless it is taken away.
  if (complete || blockIdx.x == 0 || thread != 17) tile[thread] = std::uint16_t{1};
  simt::sync_block();
  const int value = tile[thread];
  static_cast<void>(value);
}

TEST(SharedMemory, ReadingAnElementNeverWrittenIsReported) {
  expect_caught(launching(WEFT_KERNEL(read_before_writing<false>)), launching(WEFT_KERNEL(read_before_writing<true>)),
                AllOf(HasSubstr("kernel read_before_writing<false>"), HasSubstr("reads the shared element 'tile'["),
                      HasSubstr("never written in this block")));
  EXPECT_THAT(fault_of([] { simt::launch(WEFT_KERNEL(read_before_writing<false>), 2, 64, 0, {}); }),
              HasSubstr("block 1 thread 17 reads the shared element 'tile'[17]"));
}

template <int shift>
__global__ void write_shifted() {
  WEFT_SHARED(std::int64_t, tile, 64);
  const int thread = static_cast<int>(threadIdx.x);
  tile[thread + shift] = 1;
}

TEST(SharedMemory, IndicesOutOfBoundsAreReported) {
  expect_caught(launching(WEFT_KERNEL(write_shifted<1>)), launching(WEFT_KERNEL(write_shifted<0>)),
                AllOf(HasSubstr("kernel write_shifted<1>"), HasSubstr("thread 63 accesses 'tile'[64]"),
                      HasSubstr("a shared array of 64 elements")));
  expect_caught(launching(WEFT_KERNEL(write_shifted<-1>)), launching(WEFT_KERNEL(write_shifted<0>)),
                HasSubstr("thread 0 accesses 'tile'[-1]"));
}

template <int count>
__global__ void declare_static() {
  WEFT_SHARED(double, tile, count);
  tile[threadIdx.x] = 1.0;
}

TEST(SharedMemory, StaticArraysMustFitInto48KiB) {
  expect_caught(launching(WEFT_KERNEL(declare_static<6145>)), launching(WEFT_KERNEL(declare_static<6144>)),
                HasSubstr("declares more than 48 KiB of static shared memory, with 'tile'"));
}

template <int offset>
__global__ void declare_dynamic() {
  WEFT_DYNAMIC_SHARED(double, tile, 64, offset);
  tile[threadIdx.x] = 1.0;
}

TEST(SharedMemory, DynamicArraysMustFitTheLaunchAndBeAligned) {
  expect_caught(launching(WEFT_KERNEL(declare_dynamic<8>), 512), launching(WEFT_KERNEL(declare_dynamic<0>), 512),
                AllOf(HasSubstr("'tile' of 64 elements of 8 bytes at byte 8"), HasSubstr("gave 512 bytes")));
  expect_caught(launching(WEFT_KERNEL(declare_dynamic<4>), 1024), launching(WEFT_KERNEL(declare_dynamic<8>), 1024),
                HasSubstr("not aligned"));
}

template <bool divergent>
__global__ void barrier_in_two_places() {
  if (threadIdx.x < 16 || !divergent) {
    simt::sync_block();
  } else {
    simt::sync_block();
  }
}

TEST(DivergentBarrier, ThreadsAtDifferentBarriersAreReported) {
  expect_caught(launching(WEFT_KERNEL(barrier_in_two_places<true>)),
                launching(WEFT_KERNEL(barrier_in_two_places<false>)),
                AllOf(HasSubstr("kernel barrier_in_two_places<true>: block "), HasSubstr("divergent barrier"),
                      HasSubstr("lanes 0-15 at sync_block (faults_test.cpp:")));
}

template <bool divergent>
__global__ void leave_before_the_barrier() {
  if (divergent && threadIdx.x >= 40) return;
  __syncthreads();
}

TEST(DivergentBarrier, ThreadsThatExitedAreReported) {
  expect_caught(launching(WEFT_KERNEL(leave_before_the_barrier<true>)),
                launching(WEFT_KERNEL(leave_before_the_barrier<false>)),
                AllOf(HasSubstr("divergent barrier"), HasSubstr("warp 1: lanes 0-7 at sync_block"),
                      HasSubstr("lanes 8-31 exited")));
}

template <bool divergent>
__global__ void shuffle_beside_the_barrier() {
  if (!divergent || threadIdx.x % 2 == 0) simt::sync_block();
  simt::ballot(simt::full_mask, true);
  if (divergent && threadIdx.x % 2 == 1) simt::sync_block();
}

TEST(DivergentBarrier, LanesAtAWarpOperationThatNeedsTheOthersAreReported) {
  expect_caught(launching(WEFT_KERNEL(shuffle_beside_the_barrier<true>)),
                launching(WEFT_KERNEL(shuffle_beside_the_barrier<false>)),
                AllOf(HasSubstr("divergent barrier"), HasSubstr("lane 1 at ballot with mask 0xffffffff")));
}

template <unsigned mask>
__global__ void shuffle_of_the_lower_half() {
  if (simt::lane_id() < 16) simt::shuffle_down(mask, 1.0f, 1, 16);
}

TEST(Masks, ALaneOutsideItsOwnMaskIsReported) {
  expect_caught(launching(WEFT_KERNEL(shuffle_of_the_lower_half<0x0000fff7u>)),
                launching(WEFT_KERNEL(shuffle_of_the_lower_half<0x0000ffffu>)),
                AllOf(HasSubstr("kernel shuffle_of_the_lower_half<0x0000fff7u>"),
                      HasSubstr("is lane 3, which is outside of its own mask")));
}

TEST(Masks, NamingLanesThatExitedIsReported) {
  expect_caught(launching(WEFT_KERNEL(shuffle_of_the_lower_half<0x0001ffffu>)),
                launching(WEFT_KERNEL(shuffle_of_the_lower_half<0x0000ffffu>)),
                AllOf(HasSubstr("deadlock"), HasSubstr("lanes 0-15 at shuffle_down with mask 0x0001ffff"),
                      HasSubstr("lanes 16-31 exited")));
}

template <unsigned odd_mask>
__global__ void masks_by_parity() {
  const bool odd = simt::lane_id() % 2 == 1;
  simt::sync_warp(odd ? odd_mask : 0x55555555u);
}

TEST(Masks, LanesThatNameEachOtherWithDifferentMasksAreReported) {
  expect_caught(launching(WEFT_KERNEL(masks_by_parity<0xffffffffu>)),
                launching(WEFT_KERNEL(masks_by_parity<0xaaaaaaaau>)),
                AllOf(HasSubstr("deadlock"), HasSubstr("lane 1 at sync_warp with mask 0xffffffff")));
}

template <bool divergent>
__global__ void operations_by_parity() {
  if (divergent && simt::lane_id() % 2 == 1) {
    simt::any(simt::full_mask, true);
  } else {
    simt::all(simt::full_mask, true);
  }
}

TEST(Masks, LanesThatMeetInDifferentOperationsAreReported) {
  expect_caught(launching(WEFT_KERNEL(operations_by_parity<true>)), launching(WEFT_KERNEL(operations_by_parity<false>)),
                AllOf(HasSubstr("lane 0 at all"), HasSubstr("lane 1 at any")));
}

__global__ void sync_full_warps() { simt::sync_warp(); }

TEST(Masks, NamingLanesThatTheBlockDoesNotHaveIsReported) {
  expect_caught([] { simt::launch(WEFT_KERNEL(sync_full_warps), 1, 40, 0, {}); },
                [] { simt::launch(WEFT_KERNEL(sync_full_warps), 1, 96, 0, {}); },
                AllOf(HasSubstr("names lane 8 in a mask"), HasSubstr("only 8 lanes")));
}

template <int width>
__global__ void shuffle_by_width() {
  simt::shuffle_xor(simt::full_mask, 1, 1, width);
}

TEST(Masks, AShuffleWidthThatIsNoPowerOfTwoIsReported) {
  expect_caught(launching(WEFT_KERNEL(shuffle_by_width<12>)), launching(WEFT_KERNEL(shuffle_by_width<16>)),
                HasSubstr("width 12"));
}

}  // namespace
}  // namespace weft::on_emulator
