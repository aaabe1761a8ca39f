// Passes over vectors with numbers that stay on the device. All are bound by memory, and for short vectors by the time
// a kernel takes to start. A sum takes no kernel of its own: its parts are added up by every block that needs it, all
// of them in the same order.
#include "solve/device_steps.hpp"

#include <cmath>

#include "core/gpu_runtime.hpp"
#include "core/value_types.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::solve {
namespace {

using ::weft::simt::block_threads;
using ::weft::solve::CgEnd;
using ::weft::solve::CgProgress;
using ::weft::solve::CgState;
using ::weft::solve::max_parts;

constexpr int elements_per_thread = 4;
constexpr std::int64_t tile = static_cast<std::int64_t>(block_threads) * elements_per_thread;

/// Depends on the length only, and so does the order of all additions.
constexpr int parts_of(std::int64_t count) {
  const std::int64_t tiles = (count + tile - 1) / tile;
  return static_cast<int>(tiles < max_parts ? tiles : max_parts);
}

/// Calls body(i) for the elements of this block. `load(i, slot)` comes first for four of them, so that their loads are
/// in flight together.
template <class Load, class Body>
__device__ __forceinline__ void for_own_elements(std::int64_t count, const Load& load, const Body& body) {
  for (std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * tile + threadIdx.x; first < count;
       first += static_cast<std::int64_t>(gridDim.x) * tile) {
    WEFT_UNROLL
    for (int k = 0; k < elements_per_thread; ++k)
      if (const std::int64_t i = first + k * block_threads; i < count) load(i, k);
    WEFT_UNROLL
    for (int k = 0; k < elements_per_thread; ++k)
      if (const std::int64_t i = first + k * block_threads; i < count) body(i, k);
  }
}

/// The sum that the blocks of an earlier kernel left in parts; every thread gets it.
__device__ __forceinline__ double total_of(const double* parts, int count) {
  double sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < count; i += block_threads) sum += parts[i];
  return simt::block_reduce_sum(sum);
}

__device__ __forceinline__ void leave_part(double* parts, double sum) {
  sum = simt::block_reduce_sum(sum);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}

__device__ __forceinline__ bool is_finite(double number) { return number - number == 0; }

template <class V>
__global__ void __launch_bounds__(block_threads)
    scale_rows_kernel(std::int64_t count, V alpha, const V* d, const V* x, V beta, V* y) {
  V ds[elements_per_thread], xs[elements_per_thread], ys[elements_per_thread];
  for_own_elements(
      count,
      [&](std::int64_t i, int k) {
        ds[k] = alpha == V(0) ? V(0) : d[i];
        xs[k] = alpha == V(0) ? V(0) : x[i];
        ys[k] = beta == V(0) ? V(0) : y[i];
      },
      [&](std::int64_t i, int k) {
        const V scaled = alpha * (ds[k] * xs[k]);
        y[i] = beta == V(0) ? scaled : scaled + beta * ys[k];
      });
}

template <class V>
__global__ void __launch_bounds__(block_threads) cg_multiply_kernel(CgVectors<V> cg) {
  simt::wait_for_earlier_kernels();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    cg.state->rz = cg.state->next_rz;
    cg.state->ended = cg.state->end != CgEnd::none;
  }
  double sum = 0;
  V ps[elements_per_thread], qs[elements_per_thread];
  for_own_elements(
      cg.count,
      [&](std::int64_t i, int k) {
        ps[k] = cg.p[i];
        qs[k] = cg.q[i];
      },
      [&](std::int64_t, int k) { sum += static_cast<double>(ps[k]) * static_cast<double>(qs[k]); });
  leave_part(cg.parts, sum);
}

template <class V>
__global__ void __launch_bounds__(block_threads) cg_advance_kernel(CgVectors<V> cg) {
  simt::wait_for_earlier_kernels();
  if (cg.state->ended) return;
  const double product = total_of(cg.parts, static_cast<int>(gridDim.x));
  if (blockIdx.x == 0 && threadIdx.x == 0) cg.state->product = product;
  if (!(product > 0) || !is_finite(product)) return;
  const V alpha = static_cast<V>(cg.state->rz / product);
  double rr = 0, rz = 0;
  V rs[elements_per_thread], qs[elements_per_thread], ds[elements_per_thread];
  for_own_elements(
      cg.count,
      [&](std::int64_t i, int k) {
        rs[k] = cg.r[i];
        qs[k] = cg.q[i];
        ds[k] = cg.diagonal ? cg.diagonal[i] : V(1);
      },
      [&](std::int64_t i, int k) {
        const V r = rs[k] - alpha * qs[k];
        cg.r[i] = r;
        rr += static_cast<double>(r) * static_cast<double>(r);
        if (cg.diagonal) rz += static_cast<double>(ds[k] * r) * static_cast<double>(r);
      });
  leave_part(cg.parts + max_parts, rr);
  if (!cg.z) leave_part(cg.parts + 2 * max_parts, cg.diagonal ? rz : rr);
}

template <class V>
__global__ void __launch_bounds__(block_threads) cg_precondition_kernel(CgVectors<V> cg) {
  simt::wait_for_earlier_kernels();
  if (cg.state->ended) return;
  double sum = 0;
  V rs[elements_per_thread], zs[elements_per_thread];
  for_own_elements(
      cg.count,
      [&](std::int64_t i, int k) {
        rs[k] = cg.r[i];
        zs[k] = cg.z[i];
      },
      [&](std::int64_t, int k) { sum += static_cast<double>(rs[k]) * static_cast<double>(zs[k]); });
  leave_part(cg.parts + 2 * max_parts, sum);
}

/// Why an iteration is the last one.
__device__ CgEnd end_of(const CgState& state, double residual, double rz, std::int64_t iteration) {
  if (!is_finite(residual)) return CgEnd::not_finite;
  if (residual <= state.tolerance) return CgEnd::tolerance;
  if (residual > state.max_residual) return CgEnd::diverged;
  if (iteration >= state.max_iterations) return CgEnd::iterations;
  if (!is_finite(rz)) return CgEnd::not_finite;
  return rz > 0 ? CgEnd::none : CgEnd::preconditioner;
}

/// By one thread, when all other numbers are known.
__device__ void report(CgState& state, CgProgress& progress, CgEnd end, double product, double residual) {
  state.end = end;
  if (state.iteration == 0) state.first_product = product;
  progress.product = product;
  progress.first_product = state.first_product;
  if (end != CgEnd::product) {
    ++state.iteration;
    progress.residuals[state.iteration % CgProgress::kept] = residual;
    simt::publish(progress.iterations, static_cast<unsigned>(state.iteration));
  }
  if (end != CgEnd::none) simt::publish(progress.end, static_cast<unsigned>(end));
}

template <class V>
__global__ void __launch_bounds__(block_threads) cg_turn_kernel(CgVectors<V> cg) {
  simt::wait_for_earlier_kernels();
  if (cg.state->ended) return;
  const bool reports = blockIdx.x == 0 && threadIdx.x == 0;
  const int parts = static_cast<int>(gridDim.x);
  const double product = cg.state->product;
  if (!(product > 0) || !is_finite(product)) {
    if (reports) report(*cg.state, *cg.progress, CgEnd::product, product, 0);
    return;
  }
  const double residual = ::sqrt(total_of(cg.parts + max_parts, parts));
  const double rz = total_of(cg.parts + 2 * max_parts, parts);
  const double before = cg.state->rz;
  const V alpha = static_cast<V>(before / product), beta = static_cast<V>(rz / before);
  V xs[elements_per_thread], ps[elements_per_thread], zs[elements_per_thread];
  for_own_elements(
      cg.count,
      [&](std::int64_t i, int k) {
        xs[k] = cg.x[i];
        ps[k] = cg.p[i];
        zs[k] = cg.z ? cg.z[i] : cg.diagonal ? cg.diagonal[i] * cg.r[i] : cg.r[i];
      },
      [&](std::int64_t i, int k) {
        cg.x[i] = alpha * ps[k] + xs[k];
        cg.p[i] = zs[k] + beta * ps[k];
      });
  if (!reports) return;
  const CgEnd end = end_of(*cg.state, residual, rz, cg.state->iteration + 1);
  cg.state->next_rz = rz;
  report(*cg.state, *cg.progress, end, product, residual);
}

template <class V>
void launch(Device device, simt::Kernel<CgVectors<V>> kernel, const CgVectors<V>& cg, Stream stream) {
  const gpu::CurrentDevice current(device);
  simt::launch_early(kernel, simt::blocks_for(parts_of(cg.count), 1), block_threads, 0, stream, cg);
}

}  // namespace

template <Value V>
void scale_rows(Device device, std::int64_t count, V alpha, const V* d, const V* x, V beta, V* y, Stream stream) {
  const gpu::CurrentDevice current(device);
  simt::launch(WEFT_KERNEL(scale_rows_kernel<V>), simt::blocks_for(count, tile), block_threads, 0, stream, count, alpha,
               d, x, beta, y);
}
template <Value V>
void cg_multiply(Device device, const CgVectors<V>& cg, Stream stream) {
  launch<V>(device, WEFT_KERNEL(cg_multiply_kernel<V>), cg, stream);
}
template <Value V>
void cg_advance(Device device, const CgVectors<V>& cg, Stream stream) {
  launch<V>(device, WEFT_KERNEL(cg_advance_kernel<V>), cg, stream);
}
template <Value V>
void cg_precondition(Device device, const CgVectors<V>& cg, Stream stream) {
  launch<V>(device, WEFT_KERNEL(cg_precondition_kernel<V>), cg, stream);
}
template <Value V>
void cg_turn(Device device, const CgVectors<V>& cg, Stream stream) {
  launch<V>(device, WEFT_KERNEL(cg_turn_kernel<V>), cg, stream);
}

#define WEFT_INSTANTIATE(V)                                                                \
  template void scale_rows<V>(Device, std::int64_t, V, const V*, const V*, V, V*, Stream); \
  template void cg_multiply<V>(Device, const CgVectors<V>&, Stream);                       \
  template void cg_advance<V>(Device, const CgVectors<V>&, Stream);                        \
  template void cg_precondition<V>(Device, const CgVectors<V>&, Stream);                   \
  template void cg_turn<V>(Device, const CgVectors<V>&, Stream);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::solve
