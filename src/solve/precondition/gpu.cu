// The small dense systems of fsai on a GPU: a block of threads per system.
//
// 1. The system is gathered: a warp per row of the matrix, a lane per entry, which is looked up among the unknowns.
// 2. Its Cholesky factor is found column after column, a thread per row of the column.
// 3. The last rows of the factor's inverse are found backwards from their ends, a thread per element.
// Every element is computed by one thread with the operations of cpu.cpp in their order, so the bits are the same.
#include <weft/buffer.hpp>

#include <algorithm>
#include <limits>
#include <span>

#include "core/gpu_runtime.hpp"
#include "core/value_types.hpp"
#include "simt/simt.hpp"
#include "simt/warp.cuh"
#include "solve/precondition/device_systems.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::precondition {
namespace {

using ::weft::precondition::Entries;
using ::weft::precondition::GroupClass;
using ::weft::precondition::Systems;

constexpr int few_threads = 32, many_threads = 128;
constexpr int few_unknowns = 32;            // of a system that a warp solves
constexpr int max_shared_bytes = 48 << 10;  // larger systems are in global memory
constexpr unsigned max_blocks_in_global_memory = 256;
constexpr std::size_t max_scratch_bytes = std::size_t(1) << 30;

/// Elements of f64 that a system takes: the matrix, 1 / the factor's diagonal, the rows that are found.
constexpr Offset room_of(Offset unknowns, Offset rows) { return unknowns * unknowns + unknowns + rows * unknowns; }

__device__ __forceinline__ int find(const Index* list, int count, Index column) {
  int from = 0, to = count;
  while (from < to) {
    const int middle = (from + to) / 2;
    if (list[middle] < column)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/// Where the elements of a system are; Pointer is one to global or to shared memory.
template <class Pointer>
struct Room {
  Pointer matrix, inverses, found;
  int unknowns;
  __device__ int at(int i, int j) const { return i + j * unknowns; }
};

template <int Threads, class V, class Pointer>
__device__ void gather(const Entries<V>& entries, const Index* list, const Room<Pointer>& room) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int k = thread; k < room.unknowns * room.unknowns; k += Threads) room.matrix[k] = 0.0;
  simt::sync_block();
  for (int i = simt::warp_id(); i < room.unknowns; i += Threads / 32) {
    const Index row = list[i];
    const Offset end = entries.offsets[row + 1];
    for (Offset entry = entries.offsets[row] + simt::lane_id(); entry < end; entry += 32) {
      const Index column = entries.columns[entry];
      if (column > row) break;
      const int j = find(list, i + 1, column);
      if (j <= i && list[j] == column) room.matrix[room.at(i, j)] = static_cast<double>(entries.values[entry]);
    }
  }
  simt::sync_block();
}

/// Returns whether all pivots are positive; then `inverses` has 1 / the factor's diagonal.
template <int Threads, class Pointer>
__device__ bool factorize(const Room<Pointer>& room) {
  const int thread = static_cast<int>(threadIdx.x);
  for (int j = 0; j < room.unknowns; ++j) {
    for (int i = j + thread; i < room.unknowns; i += Threads) {
      double sum = room.matrix[room.at(i, j)];
      for (int k = 0; k < j; ++k) {
        const double of_column = room.matrix[room.at(j, k)];
        const double of_row = room.matrix[room.at(i, k)];
        sum = fma(-of_column, of_row, sum);
      }
      room.matrix[room.at(i, j)] = sum;
    }
    simt::sync_block();
    const double pivot = room.matrix[room.at(j, j)];
    if (!(pivot > 0) || !(pivot - pivot == 0)) return false;  // all threads alike
    const double inverse = 1 / sqrt(pivot);
    for (int i = j + 1 + thread; i < room.unknowns; i += Threads) {
      const double element = room.matrix[room.at(i, j)];
      room.matrix[room.at(i, j)] = element * inverse;
    }
    if (thread == 0) room.inverses[j] = inverse;
    simt::sync_block();
  }
  return true;
}

/// `found` gets the last rows of the inverse of the factor, but for the factor 1 / diagonal of each element.
template <int Threads, class Pointer>
__device__ void find_last_rows(const Room<Pointer>& room, int rows) {
  const int thread = static_cast<int>(threadIdx.x);
  const int first = room.unknowns - rows;
  for (int k = thread; k < rows * room.unknowns; k += Threads)
    room.found[k] = k % room.unknowns == first + k / room.unknowns ? 1.0 : 0.0;
  simt::sync_block();
  for (int s = room.unknowns - 1; s > 0; --s) {
    const double inverse = room.inverses[s];
    for (int k = thread; k < rows * s; k += Threads) {
      const int r = k / s, i = k % s;
      if (s > first + r) continue;
      const double end = room.found[r * room.unknowns + s];
      const double factor = room.matrix[room.at(s, i)];
      const double element = room.found[r * room.unknowns + i];
      room.found[r * room.unknowns + i] = fma(-(end * inverse), factor, element);
    }
    simt::sync_block();
  }
}

/// `scratch`: where systems are, if not in shared memory; `each` elements for every block.
template <int Threads, bool Shared, class V, class R>
__global__ void __launch_bounds__(Threads)
    factor_systems(Systems<V, R> systems, GroupClass group_class, double* scratch, Offset each, Index* first_failed) {
  const auto solve = [&](auto memory) {
    for (Index number = static_cast<Index>(blockIdx.x); number < group_class.count;
         number += static_cast<Index>(gridDim.x)) {
      const Index group = group_class.groups[number];
      const Index first = systems.groups.starts[group];
      const int rows = systems.groups.starts[group + 1] - first;
      const Offset from = systems.groups.offsets[first];
      const int unknowns = static_cast<int>(systems.groups.offsets[first + 1] - from);
      const Room<decltype(memory)> room{memory, memory + unknowns * unknowns, memory + unknowns * (unknowns + 1),
                                        unknowns};
      gather<Threads>(systems.matrix, systems.groups.columns + from, room);
      if (factorize<Threads>(room)) {
        find_last_rows<Threads>(room, rows);
        for (int k = static_cast<int>(threadIdx.x); k < rows * unknowns; k += Threads) {
          const double element = room.found[k];
          const double inverse = room.inverses[k % unknowns];
          systems.result[from + k] = static_cast<R>(element * inverse);
        }
      } else if (threadIdx.x == 0) {
        simt::atomic_min(*first_failed, group);
      }
      simt::sync_block();  // before the next system takes the memory
    }
  };
  if constexpr (Shared) {
    WEFT_DYNAMIC_SHARED(double, memory, each);
    solve(memory);
  } else {
    solve(scratch + static_cast<Offset>(blockIdx.x) * each);
  }
}

template <int Threads, class V, class R>
void launch(Device device, const Systems<V, R>& systems, const GroupClass& group_class, Index* first_failed) {
  const Offset each = room_of(group_class.max_unknowns, group_class.max_rows);
  const unsigned blocks = simt::blocks_for(group_class.count, 1);
  const auto bytes = static_cast<std::size_t>(each) * sizeof(double);
  if (bytes <= max_shared_bytes) {
    simt::launch(WEFT_KERNEL(factor_systems<Threads, true, V, R>), blocks, Threads, bytes, {}, systems, group_class,
                 nullptr, each, first_failed);
    return;
  }
  const auto fitting = static_cast<unsigned>(std::max<std::size_t>(1, max_scratch_bytes / bytes));
  const unsigned at_once = std::min({blocks, max_blocks_in_global_memory, fitting});
  DeviceBuffer<double> scratch(device, at_once * static_cast<std::size_t>(each));
  simt::launch(WEFT_KERNEL(factor_systems<Threads, false, V, R>), at_once, Threads, 0, {}, systems, group_class,
               scratch.data(), each, first_failed);
  synchronize(device);  // before the scratch memory is given back
}

template <class V>
__global__ void __launch_bounds__(simt::block_threads)
    pick_elements(const V* from, const Offset* positions, Offset count, V* to) {
  const std::int64_t i = simt::global_thread_id();
  if (i < count) to[i] = from[positions[i]];
}

}  // namespace

template <Value V, Value R>
Index factor_inverse(Device device, const Systems<V, R>& systems, const std::vector<GroupClass>& classes) {
  const gpu::CurrentDevice current(device);
  constexpr Index none = std::numeric_limits<Index>::max();
  DeviceBuffer<Index> first_failed(device, std::span<const Index>(&none, 1));
  for (const GroupClass& group_class : classes)
    if (group_class.max_unknowns <= few_unknowns)
      launch<few_threads>(device, systems, group_class, first_failed.data());
    else
      launch<many_threads>(device, systems, group_class, first_failed.data());
  const Index failed = first_failed.download()[0];
  return failed == none ? -1 : failed;
}

template <Value V>
void pick(Device device, const V* from, const Offset* positions, Offset count, V* to) {
  const gpu::CurrentDevice current(device);
  simt::launch(WEFT_KERNEL(pick_elements<V>), simt::blocks_for(count, simt::block_threads), simt::block_threads, 0, {},
               from, positions, count, to);
}

#define WEFT_INSTANTIATE_FOR(V, R) \
  template Index factor_inverse<V, R>(Device, const Systems<V, R>&, const std::vector<GroupClass>&);
#define WEFT_INSTANTIATE(V)       \
  WEFT_INSTANTIATE_FOR(V, float)  \
  WEFT_INSTANTIATE_FOR(V, double) \
  template void pick<V>(Device, const V*, const Offset*, Offset, V*);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::precondition
