// How products reach for rows and for x, found on a device: the same numbers as access.cpp.
#include "facts/access.hpp"

#include <algorithm>

#include "core/gpu_runtime.hpp"
#include "simt/arena.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::facts {
namespace {

using ::weft::simt::block_threads;
using namespace ::weft::sampling;

constexpr int mark_words = (1 << mark_bits) / 32;

struct Pattern {
  Index rows = 0;
  Offset entries = 0;
  const Offset* offsets = nullptr;
  const Index* columns = nullptr;
};

/// A warp's longest row halves the lanes per row with each step. `slots` are added to.
__global__ void __launch_bounds__(block_threads) count_slots(Pattern matrix, Offset* slots) {
  const Offset row = simt::global_thread_id();
  Offset longest = row < matrix.rows ? matrix.offsets[row + 1] - matrix.offsets[row] : 0;
  for (int k = lane_choices - 1; k >= 0; --k) {
    const int team = 32 >> k;  // lanes that hold the same
    const Offset own = simt::lane_id() % team == 0 ? ((longest + (Offset(1) << k) - 1) >> k) * 32 : 0;
    const Offset sum = simt::block_reduce_sum(own);
    if (threadIdx.x == 0 && sum > 0) simt::atomic_add(slots[k], sum);
    if (k == 0) break;
    const Offset other = simt::shuffle_xor(simt::full_mask, longest, team);
    longest = longest > other ? longest : other;
  }
}

__device__ void clear_marks(simt::Shared<unsigned> marks) {
  for (int i = static_cast<int>(threadIdx.x); i < mark_words; i += static_cast<int>(blockDim.x)) marks[i] = 0;
  simt::sync_block();
}
__device__ void set_mark(simt::Shared<unsigned> marks, Index sector) {
  const unsigned mark = mark_of(sector);
  simt::atomic_or(marks[mark / 32], 1u << (mark % 32));
}
/// All threads call; the first has the result.
__device__ Offset count_marks(simt::Shared<unsigned> marks) {
  simt::sync_block();
  Offset count = 0;
  for (int i = static_cast<int>(threadIdx.x); i < mark_words; i += static_cast<int>(blockDim.x))
    count += __popc(marks[i]);
  return simt::block_reduce_sum(count);
}

__global__ void __launch_bounds__(block_threads)
    look_at_entries(Pattern matrix, Offset stride, int sector_elements, Window* windows) {
  WEFT_SHARED(unsigned, marks, mark_words);
  clear_marks(marks);
  const Offset begin = blockIdx.x * stride;
  const Offset end = begin + window_entries < matrix.entries ? begin + window_entries : matrix.entries;
  Offset requests = 0;
  for (Offset i = begin + threadIdx.x; i < end; i += block_threads) {
    const Index sector = matrix.columns[i] / sector_elements;
    set_mark(marks, sector);
    requests += (i - begin) % 32 == 0 || matrix.columns[i - 1] / sector_elements != sector;
  }
  const Offset marked = count_marks(marks);
  requests = simt::block_reduce_sum(requests);
  if (threadIdx.x != 0) return;
  Window window;
  window.entries = end - begin;
  window.requests = requests;
  window.marks = marked;
  windows[blockIdx.x] = window;
}

/// A warp's slice of 32 rows, added to what this lane knows of its window. Four columns of each row are fetched at a
/// time, and what is found about them is reduced side by side: one after the other, latency would be all of the time.
__device__ void look_at_slice(const Pattern& matrix, int sector_elements, Offset row, simt::Shared<unsigned> marks,
                              Window& window) {
  const auto smaller = [](auto a, auto b) { return a < b ? a : b; };
  const auto larger = [](auto a, auto b) { return a > b ? a : b; };
  const int lane = simt::lane_id();
  const Offset begin = row < matrix.rows ? matrix.offsets[row] : 0,
               end = row < matrix.rows ? matrix.offsets[row + 1] : 0;
  Offset width = simt::warp_reduce(end - begin, larger);
  const Index smallest = simt::warp_reduce(begin < end ? matrix.columns[begin] : 0x7fffffff, smaller);
  const Index largest = simt::warp_reduce(begin < end ? matrix.columns[end - 1] : 0, larger);
  if (lane == 0) {
    ++window.slices;
    window.narrow += Offset(largest) - smallest < 1 << 16;
  }
  width = smaller(width, max_steps);
  constexpr int together = 4;
  auto previous = static_cast<Index>(row);
  for (Offset step = 0; step < width; step += together) {
    Index columns[together], least[together], most[together];
    WEFT_UNROLL
    for (int i = 0; i < together; ++i)
      columns[i] = begin + step + i < end && step + i < width ? matrix.columns[begin + step + i] : -1;
    WEFT_UNROLL
    for (int i = 0; i < together; ++i) {
      const bool active = columns[i] >= 0;
      const Index sector = active ? columns[i] / sector_elements : -1;
      const Index before = simt::shuffle_up(simt::full_mask, sector, 1);
      least[i] = 0x7fffffff;
      most[i] = -0x7fffffff;
      if (!active) continue;
      set_mark(marks, sector);
      ++window.entries;
      window.requests += lane == 0 || sector != before;
      least[i] = most[i] = columns[i] - previous;
      previous = columns[i];
    }
    WEFT_UNROLL
    for (int distance = 16; distance > 0; distance /= 2) {
      WEFT_UNROLL
      for (int i = 0; i < together; ++i) {
        least[i] = smaller(least[i], simt::shuffle_xor(simt::full_mask, least[i], distance));
        most[i] = larger(most[i], simt::shuffle_xor(simt::full_mask, most[i], distance));
      }
    }
    if (lane != 0) continue;
    Offset range = 0;
    WEFT_UNROLL
    for (int i = 0; i < together; ++i) range = larger(range, Offset(most[i]) - least[i]);
    window.places += together * 32;
    window.bits += together * 32 * Offset(packed_width(range)) + together * 32;
  }
}

/// With up to so many threads per block: there are few windows.
constexpr int max_window_threads = 1024;

__global__ void __launch_bounds__(max_window_threads)
    look_at_rows(Pattern matrix, Index stride, int sector_elements, Window* windows) {
  WEFT_SHARED(unsigned, marks, mark_words);
  clear_marks(marks);
  const Offset begin = static_cast<Offset>(blockIdx.x) * stride;
  const Offset end = begin + window_rows < matrix.rows ? begin + window_rows : matrix.rows;
  Window window;
  for (Offset first = begin + simt::warp_id() * 32; first < end; first += blockDim.x)
    look_at_slice(matrix, sector_elements, first + simt::lane_id(), marks, window);
  const Offset marked = count_marks(marks);
  window.entries = simt::block_reduce_sum(window.entries);
  window.requests = simt::block_reduce_sum(window.requests);
  window.places = simt::block_reduce_sum(window.places);
  window.bits = simt::block_reduce_sum(window.bits);
  window.slices = simt::block_reduce_sum(window.slices);
  window.narrow = simt::block_reduce_sum(window.narrow);
  window.marks = marked;
  if (threadIdx.x == 0) windows[blockIdx.x] = window;
}

__global__ void __launch_bounds__(block_threads) clear_words(Offset count, unsigned* words) {
  const Offset i = simt::global_thread_id();
  if (i < count) words[i] = 0;
}

/// A block grows one ball. `seen` has a bit per node and ball, all 0; `queues` have room for 2 * limit + 1 nodes each.
__global__ void __launch_bounds__(max_window_threads)
    grow_balls_kernel(Pattern matrix, Index nodes, BallRequest request, Offset seen_words, unsigned* all_seen,
                      Index* queues, Ball* found) {
  WEFT_SHARED(int, length, 1);
  const auto limit = static_cast<int>(3 * Offset(request.nodes));
  unsigned* const seen = all_seen + blockIdx.x * seen_words;
  Index* const queue = queues + blockIdx.x * (2 * Offset(limit) + 1);
  if (threadIdx.x == 0) {
    const Index first = seed(nodes, static_cast<int>(blockIdx.x));
    queue[0] = first;
    seen[first / 32] |= 1u << (first % 32);
    length[0] = 1;
  }
  simt::sync_block();
  int head = 0;
  // Looks at the ring from `head` on, a warp per node, until there are more than `most`.
  const auto expand_ring = [&](int most) {
    const int end = length[0];
    simt::sync_block();
    for (int i = head + simt::warp_id(); i < end; i += static_cast<int>(blockDim.x / 32)) {
      if (simt::atomic_add(length[0], 0) > most) break;
      const Offset row = static_cast<Offset>(queue[i]) * request.block;
      for (Offset at = matrix.offsets[row] + simt::lane_id(); at < matrix.offsets[row + 1]; at += 32) {
        const Index neighbour = matrix.columns[at] / request.block;
        if (neighbour >= nodes) continue;
        const unsigned bit = 1u << (neighbour % 32);
        if (simt::atomic_or(seen[neighbour / 32], bit) & bit) continue;
        const int place = simt::atomic_add(length[0], 1);
        if (place <= 2 * limit) queue[place] = neighbour;
      }
    }
    simt::sync_block();
    head = end;
    return length[0] - end;
  };
  while (length[0] < request.nodes)
    if (expand_ring(limit) == 0) break;
  Ball ball;
  ball.nodes = length[0];
  if (ball.nodes <= limit) ball.neighbours = expand_ring(static_cast<int>(ball.nodes) + limit);
  if (threadIdx.x == 0) found[blockIdx.x] = ball;
}

Pattern pattern_of(const DevicePattern& pattern) {
  return {pattern.rows, pattern.entries, pattern.offsets64, pattern.columns};
}

template <class T>
std::vector<T> fetch(Device device, const T* from, std::size_t count) {
  std::vector<T> result(count);
  ::weft::detail::copy_to_host(device, result.data(), from, count * sizeof(T), {});
  return result;
}

}  // namespace

Tally look_at(const DevicePattern& pattern, int sector_elements) {
  const gpu::CurrentDevice current(pattern.device);
  const Pattern matrix = pattern_of(pattern);
  const Samples samples = samples_of(matrix.rows, matrix.entries);
  // One piece of memory, and one copy to the host: for small matrices each costs as much as a product.
  const auto windows = static_cast<std::size_t>(samples.entry_windows + samples.row_windows);
  constexpr std::size_t slot_windows = (lane_choices * sizeof(Offset) + sizeof(Window) - 1) / sizeof(Window);
  DeviceBuffer<Window> found(pattern.device, windows + slot_windows);
  auto* const slots = reinterpret_cast<Offset*>(found.data() + windows);
  simt::launch(WEFT_KERNEL(clear_words), 1, block_threads, 0, {}, Offset(2 * lane_choices),
               reinterpret_cast<unsigned*>(slots));
  simt::launch(WEFT_KERNEL(count_slots), simt::blocks_for(matrix.rows, block_threads), block_threads, 0, {}, matrix,
               slots);
  simt::launch(WEFT_KERNEL(look_at_entries), static_cast<unsigned>(samples.entry_windows), block_threads, 0, {}, matrix,
               samples.entry_stride, sector_elements, found.data());
  simt::launch(WEFT_KERNEL(look_at_rows), static_cast<unsigned>(samples.row_windows),
               std::clamp((matrix.rows + 31) / 32 * 32, block_threads, max_window_threads), 0, {}, matrix,
               samples.row_stride, sector_elements, found.data() + samples.entry_windows);
  const std::vector<Window> all = fetch(pattern.device, std::as_const(found).data(), windows + slot_windows);
  Tally tally;
  const auto rows_from = all.begin() + samples.entry_windows;
  tally.by_entries.assign(all.begin(), rows_from);
  tally.by_rows.assign(rows_from, rows_from + samples.row_windows);
  std::memcpy(tally.slots.data(), all.data() + windows, sizeof tally.slots);
  return tally;
}

std::array<Ball, balls> grow_balls(const DevicePattern& pattern, const BallRequest& request) {
  const gpu::CurrentDevice current(pattern.device);
  std::array<Ball, balls> result{};
  const Index nodes = pattern.rows / request.block;
  if (nodes == 0) return result;
  const Offset seen_words = (Offset(nodes) + 31) / 32;
  DeviceBuffer<unsigned> seen(pattern.device, static_cast<std::size_t>(seen_words * balls));
  DeviceBuffer<Index> queues(pattern.device, static_cast<std::size_t>((2 * request.limit() + 1) * balls));
  DeviceBuffer<Ball> found(pattern.device, balls);
  simt::launch(WEFT_KERNEL(clear_words), simt::blocks_for(seen_words * balls, block_threads), block_threads, 0, {},
               seen_words * balls, seen.data());
  simt::launch(WEFT_KERNEL(grow_balls_kernel), static_cast<unsigned>(balls),
               request.nodes > max_window_threads ? max_window_threads : block_threads, 0, {}, pattern_of(pattern),
               nodes, request, seen_words, seen.data(), queues.data(), found.data());
  std::ranges::copy(fetch(pattern.device, std::as_const(found).data(), balls), result.begin());
  return result;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::facts
