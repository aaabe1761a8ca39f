// Whether a matrix on a device is symmetric.
#include "core/gpu_runtime.hpp"
#include "core/value_types.hpp"
#include "facts/device_facts.hpp"
#include "facts/entry_tiles.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::facts {
namespace {

/// What has been found against symmetry, as bits.
enum Against : unsigned { pattern_symmetry = 1, symmetric_values = 2, skew_values = 4 };

struct Or {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a | b; }
};

struct Mirrors {
  unsigned against = 0;
  Offset balance = 0;  // entries right of the diagonal less those left of it
};

/// Looks for the mirrors of the entries right of the diagonal. If all have one, and there are as many entries left of
/// it, then those have mirrors too. Without values only the pattern counts.
template <class V>
__global__ void __launch_bounds__(block_threads)
    look_for_mirrors(DevicePattern pattern, const V* values, Mirrors* found) {
  if ((first_of_block(threadIdx.x == 0 ? simt::atomic_or(found->against, 0u) : 0u) & pattern_symmetry) != 0) return;
  unsigned against = 0;
  int balance = 0;
  for_entries_of_tile(pattern, [&](Index row, Offset entry) {
    const Index column = pattern.columns[entry];
    if (column < row) {
      --balance;
      return;
    }
    const V here = values ? values[entry] : V(0);
    V there = here;
    if (column == row) {
      if (here != V(0)) against |= skew_values;
    } else {
      ++balance;
      const Offset end = pattern.offsets64[column + 1];
      const Offset mirror = lower_bound(pattern.columns, pattern.offsets64[column], end, row);
      if (mirror == end || pattern.columns[mirror] != row) {
        against |= pattern_symmetry;
        return;
      }
      if (!values) return;
      there = values[mirror];
      if (!(here == -there)) against |= skew_values;
    }
    if (!(here == there)) against |= symmetric_values;  // nor is what is not a number
  });
  against = simt::block_reduce(against, Or{});
  balance = simt::block_reduce_sum(balance);
  if (threadIdx.x != 0) return;
  if (against != 0) simt::atomic_or(found->against, against);
  if (balance != 0) simt::atomic_add(found->balance, static_cast<Offset>(balance));
}

}  // namespace

template <Value V>
SymmetryFacts find_symmetry(const DevicePattern& pattern, const V* values) {
  if (pattern.rows != pattern.cols) return {};
  const gpu::CurrentDevice current(pattern.device);
  Mirrors found;
  DeviceBuffer<Mirrors> mirrors(pattern.device, std::span<const Mirrors>(&found, 1));
  simt::launch(WEFT_KERNEL(look_for_mirrors<V>), tiles_of(pattern), block_threads, 0, {}, pattern, values,
               mirrors.data());
  found = mirrors.download()[0];
  const bool symmetric = (found.against & pattern_symmetry) == 0 && found.balance == 0;
  return {symmetric, symmetric && (found.against & symmetric_values) == 0,
          symmetric && (found.against & skew_values) == 0};
}

#define WEFT_INSTANTIATE(V) template SymmetryFacts find_symmetry<V>(const DevicePattern&, const V*);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::facts
