#include "simt/selftest.hpp"

#include <algorithm>
#include <numeric>

#include "simt/selftest_tools.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE {
namespace {

using selftest::Report;
using selftest::TestArray;

constexpr int lanes = 32;

// One row of 32 results per primitive.
enum Row {
  shuffled,
  up,
  up_segment,
  down,
  down_segment,
  crossed,
  matched,
  reduced,
  reduced_segment,
  largest,
  segmented,
  half_warp,
  row_count
};

template <class T>
__global__ void exchange_kernel(const T* input, unsigned heads, T* results) {
  const int lane = simt::lane_id();
  const T value = input[lane];
  const auto keep = [&](int row, T result) { results[row * lanes + lane] = result; };
  keep(shuffled, simt::shuffle(simt::full_mask, value, (lane * 7 + 3) % lanes));
  keep(up, simt::shuffle_up(simt::full_mask, value, 5));
  keep(up_segment, simt::shuffle_up(simt::full_mask, value, 3, 8));
  keep(down, simt::shuffle_down(simt::full_mask, value, 9));
  keep(down_segment, simt::shuffle_down(simt::full_mask, value, 2, 4));
  keep(crossed, simt::shuffle_xor(simt::full_mask, value, 21));
  keep(matched, static_cast<T>(simt::popcount(simt::match_any(simt::full_mask, input[lane / 3]))));
  keep(reduced, simt::warp_reduce_sum(value));
  keep(reduced_segment, simt::warp_reduce_sum<8>(value));
  keep(largest, simt::warp_reduce(value, simt::Max{}));
  keep(segmented, simt::warp_segmented_sum(value, heads));
  T half = T(0);
  if (lane < 16) {
    half = simt::warp_reduce_sum<16>(value, 0x0000ffffu);
  } else {
    half = simt::shuffle(0xffff0000u, value, 16);
  }
  keep(half_warp, half);
}

template <class T>
void check_exchanges(Report& report, const std::string& type) {
  TestArray<T> input(lanes), results(row_count * lanes);
  for (int lane = 0; lane < lanes; ++lane) input[lane] = static_cast<T>((lane * 37 + 11) % 64 + 1);
  const unsigned heads = 0x01108421u;
  simt::launch(WEFT_KERNEL(exchange_kernel<T>), 1, lanes, 0, {}, input.sent(), heads, results.sent());
  results.fetch();
  // All values are small integers: sums are exact in every type and order.
  const auto sum = [&](int begin, int end) {
    return std::accumulate(input.begin() + begin, input.begin() + end, T(0));
  };
  for (int lane = 0; lane < lanes; ++lane) {
    const auto expect = [&](Row row, T expected, const char* name) {
      report.expect(results[row * lanes + lane] == expected, std::string(name) + " of " + type);
    };
    const int segment8 = lane / 8 * 8;
    expect(shuffled, input[(lane * 7 + 3) % lanes], "shuffle");
    expect(up, input[lane < 5 ? lane : lane - 5], "shuffle_up");
    expect(up_segment, input[lane % 8 < 3 ? lane : lane - 3], "shuffle_up by segments");
    expect(down, input[lane + 9 >= lanes ? lane : lane + 9], "shuffle_down");
    expect(down_segment, input[lane % 4 + 2 >= 4 ? lane : lane + 2], "shuffle_down by segments");
    expect(crossed, input[lane ^ 21], "shuffle_xor");
    expect(matched, static_cast<T>(lane / 3 == 10 ? 2 : 3), "match_any");
    expect(reduced, sum(0, lanes), "warp_reduce_sum");
    expect(reduced_segment, sum(segment8, segment8 + 8), "warp_reduce_sum by segments");
    expect(largest, *std::max_element(input.begin(), input.end()), "warp_reduce");
    int start = lane;
    while (start > 0 && !(heads >> start & 1)) --start;
    expect(segmented, sum(start, lane + 1), "warp_segmented_sum");
    expect(half_warp, lane < 16 ? sum(0, 16) : input[16], "operations of half a warp");
  }
}

__global__ void bits_kernel(std::uint32_t* words) {
  const int lane = simt::lane_id();
  const std::uint32_t small = std::uint32_t{1} << lane;
  const std::uint64_t large = std::uint64_t{5} << (lane + 20);
  const auto keep = [&](int row, std::uint32_t result) { words[row * lanes + lane] = result; };
  keep(0, simt::ballot(simt::full_mask, lane % 3 == 0));
  keep(1, simt::any(simt::full_mask, lane == 17));
  keep(2, simt::any(simt::full_mask, lane == 32));
  keep(3, simt::all(simt::full_mask, lane < 32));
  keep(4, simt::all(simt::full_mask, lane != 17));
  keep(5, static_cast<std::uint32_t>(simt::popcount(small - 1)));
  keep(6, static_cast<std::uint32_t>(simt::popcount(large)));
  keep(7, static_cast<std::uint32_t>(simt::leading_zeros(small)));
  keep(8, static_cast<std::uint32_t>(simt::leading_zeros(large)));
  keep(9, static_cast<std::uint32_t>(simt::first_set(small)));
  keep(10, static_cast<std::uint32_t>(simt::first_set(large)));
  keep(11, static_cast<std::uint32_t>(simt::first_set(std::uint32_t{0})));
  keep(12, simt::ballot(lane < 8 ? 0x000000ffu : 0xffffff00u, true));
}

void check_bits(Report& report) {
  constexpr int rows = 13;
  TestArray<std::uint32_t> words(rows * lanes);
  simt::launch(WEFT_KERNEL(bits_kernel), 1, lanes, 0, {}, words.sent());
  words.fetch();
  for (int lane = 0; lane < lanes; ++lane) {
    const auto expect = [&](int row, std::uint32_t expected, const char* name) {
      report.expect(words[row * lanes + lane] == expected, name);
    };
    const auto number = static_cast<std::uint32_t>(lane);
    expect(0, 0x49249249u, "ballot");
    expect(1, 1, "any");
    expect(2, 0, "any");
    expect(3, 1, "all");
    expect(4, 0, "all");
    expect(5, number, "popcount");
    expect(6, 2, "popcount of 64 bits");
    expect(7, 31 - number, "leading_zeros");
    expect(8, 41 - number, "leading_zeros of 64 bits");
    expect(9, number + 1, "first_set");
    expect(10, number + 21, "first_set of 64 bits");
    expect(11, 0, "first_set of nothing");
    expect(12, lane < 8 ? 0x000000ffu : 0xffffff00u, "ballot of half a warp");
  }
}

// Every thread of every block adds to, raises and lowers the same elements, in global and in shared memory.
template <class T>
__global__ void atomics_kernel(T* global, T* tickets) {
  WEFT_SHARED(T, shared, 3);
  const T number = static_cast<T>(simt::global_thread_id());
  if (threadIdx.x < 3) shared[threadIdx.x] = T(50);
  simt::sync_block();
  simt::atomic_add(shared[0], T(1));
  simt::atomic_max(shared[1], static_cast<T>(threadIdx.x));
  simt::atomic_min(shared[2], static_cast<T>(threadIdx.x));
  const T ticket = simt::atomic_add(global[0], T(1));
  tickets[static_cast<std::int64_t>(ticket)] = T(1);
  simt::atomic_max(global[1], number);
  simt::atomic_min(global[2], number);
  // A lock-free addition of 2, as one would write it.
  T seen = simt::atomic_cas(global[3], T(0), T(0));
  for (T old = seen + T(1); old != seen;) {
    old = seen;
    seen = simt::atomic_cas(global[3], old, old + T(2));
  }
  if (number == T(0)) simt::atomic_exchange(global[4], T(77));
  simt::sync_block();
  if (threadIdx.x < 3) simt::atomic_add(global[5 + threadIdx.x], shared[threadIdx.x]);
}

template <class T>
void check_atomics(Report& report, const std::string& type) {
  constexpr int blocks = 3, threads = 96, count = blocks * threads;
  TestArray<T> global(8), tickets(count);
  global[1] = T(3);
  global[2] = T(200);
  simt::launch(WEFT_KERNEL(atomics_kernel<T>), blocks, threads, 0, {}, global.sent(), tickets.sent());
  global.fetch();
  tickets.fetch();
  const auto expect = [&](int i, int expected, const char* name) {
    report.expect(global[i] == static_cast<T>(expected), std::string(name) + " of " + type);
  };
  expect(0, count, "atomic_add");
  report.expect(std::all_of(tickets.begin(), tickets.end(), [](T t) { return t == T(1); }),
                "the old value of atomic_add of " + type);
  expect(1, count - 1, "atomic_max");
  expect(2, 0, "atomic_min");
  expect(3, 2 * count, "atomic_cas");
  expect(4, 77, "atomic_exchange");
  expect(5, blocks * (50 + threads), "atomic_add in shared memory");
  expect(6, blocks * (threads - 1), "atomic_max in shared memory");
  expect(7, 0, "atomic_min in shared memory");
}

template <class T>
__device__ T sum_of(simt::Shared<T> numbers, int count) {
  T sum = T(0);
  for (int i = 0; i < count; ++i) sum += numbers[i];
  return sum;
}

// Sums by block in three ways: block_reduce twice, and through two views of the dynamic memory.
template <class T>
__global__ void blocks_kernel(const T* input, T* sums) {
  const int threads = static_cast<int>(blockDim.x);
  const int thread = static_cast<int>(threadIdx.x);
  const T value = input[simt::global_thread_id()];
  const T sum = simt::block_reduce_sum(value);
  const T most = simt::block_reduce(value, simt::Max{});
  WEFT_DYNAMIC_SHARED(T, numbers, threads);
  WEFT_DYNAMIC_SHARED(std::uint16_t, places, threads, threads* static_cast<int>(sizeof(T)));
  numbers[thread] = value;
  places[thread] = static_cast<std::uint16_t>(threads - 1 - thread);
  simt::sync_block();
  const int place = places[thread];
  const T mirrored = numbers[place];
  simt::sync_block();
  numbers[thread] = mirrored;
  simt::sync_warp();
  const T neighbour = numbers[thread ^ 1];
  simt::sync_block();
  numbers[thread] = neighbour;
  simt::sync_block();
  if (thread == 0) {
    sums[blockIdx.x * 4] = sum;
    sums[blockIdx.x * 4 + 1] = most;
    sums[blockIdx.x * 4 + 2] = sum_of<T>(numbers, threads);
    sums[blockIdx.x * 4 + 3] = sum_of<T>(numbers + threads / 2, threads / 2);
  }
}

template <class T>
void check_blocks(Report& report, const std::string& type) {
  constexpr int blocks = 2, threads = 128;
  TestArray<T> input(blocks * threads), sums(blocks * 4);
  for (int i = 0; i < blocks * threads; ++i) input[i] = static_cast<T>(i % 91);
  simt::launch(WEFT_KERNEL(blocks_kernel<T>), blocks, threads, threads * (sizeof(T) + sizeof(std::uint16_t)), {},
               input.sent(), sums.sent());
  sums.fetch();
  for (int block = 0; block < blocks; ++block) {
    const T* const begin = input.begin() + block * threads;
    const T sum = std::accumulate(begin, begin + threads, T(0));
    report.expect(sums[block * 4] == sum, "block_reduce_sum of " + type);
    report.expect(sums[block * 4 + 1] == *std::max_element(begin, begin + threads), "block_reduce of " + type);
    report.expect(sums[block * 4 + 2] == sum, "dynamic shared memory of " + type);
    // Mirrored, the second half of the places holds the first half of the input.
    report.expect(sums[block * 4 + 3] == std::accumulate(begin, begin + threads / 2, T(0)),
                  "a position in dynamic shared memory of " + type);
  }
}

template <class T, int N>
__global__ void packs_kernel(const T* input, T* output, int count) {
  const int i = static_cast<int>(simt::global_thread_id()) * N;
  if (i >= count) return;
  const auto a = simt::load_pack<N>(input + i);
  const auto b = simt::load_pack_readonly<N>(input + i);
  const auto c = simt::load_pack_streaming<N>(input + i);
  simt::Pack<T, N> sum;
  for (int k = 0; k < N; ++k)
    sum[k] = a[k] + b[k] + c[N - 1 - k] + simt::load_readonly(input + i) + simt::load_streaming(input + i);
  simt::store_pack(output + i, sum);
  simt::store_streaming(output + count + i, sum[N - 1]);
}

template <class T, int N>
void check_packs(Report& report, const std::string& type) {
  constexpr int count = 100 * N;
  TestArray<T> input(count), output(2 * count);
  for (int i = 0; i < count; ++i) input[i] = static_cast<T>(i + 1);
  simt::launch(WEFT_KERNEL(packs_kernel<T, N>), simt::blocks_for(100, 64), 64, 0, {}, input.sent(), output.sent(),
               count);
  output.fetch();
  for (int i = 0; i < count; ++i) {
    const int first = i / N * N;
    const T expected = T(2) * input[i] + input[first + N - 1 - i % N] + T(2) * input[first];
    report.expect(output[i] == expected, "packs of " + std::to_string(N) + " " + type);
    if (i % N == N - 1) report.expect(output[count + first] == expected, "store_streaming of " + type);
  }
}

template <class T>
void check_type(Report& report, const std::string& type) {
  check_exchanges<T>(report, type);
  check_atomics<T>(report, type);
  check_blocks<T>(report, type);
  if constexpr (sizeof(T) == 4) check_packs<T, 4>(report, type);
  check_packs<T, 2>(report, type);
}

}  // namespace

std::vector<std::string> simt_selftest() {
  Report report;
  check_type<float>(report, "f32");
  check_type<double>(report, "f64");
  check_type<std::int32_t>(report, "int32");
  check_type<std::uint32_t>(report, "uint32");
  check_type<std::int64_t>(report, "int64");
  check_type<std::uint64_t>(report, "uint64");
  check_bits(report);
  return report.failed;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
