#include "cusparse_cg.hpp"

namespace weft::bench {
namespace {

constexpr int block_threads = 256;

template <class V>
__global__ void precondition(std::int64_t size, const V* d, const V* r, V* z) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i < size) z[i] = d ? d[i] * r[i] : r[i];
}

template <class V>
__global__ void step_length(const V* rz, const V* pq, V* alpha, V* minus_alpha) {
  *alpha = *pq != V(0) ? *rz / *pq : V(0);
  *minus_alpha = -*alpha;
}

template <class V>
__global__ void direction_factor(V* rz, const V* rz_new, V* beta) {
  *beta = *rz != V(0) ? *rz_new / *rz : V(0);
  *rz = *rz_new;
}

template <class V>
__global__ void direction(std::int64_t size, const V* z, const V* beta, V* p) {
  const std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x;
  if (i < size) p[i] = z[i] + *beta * p[i];
}

unsigned blocks_for(std::int64_t size) { return static_cast<unsigned>((size + block_threads - 1) / block_threads); }

}  // namespace

template <class V>
cudaError_t cg_precondition(std::int64_t size, const V* d, const V* r, V* z, cudaStream_t stream) {
  precondition<<<blocks_for(size), block_threads, 0, stream>>>(size, d, r, z);
  return cudaGetLastError();
}

template <class V>
cudaError_t cg_step_length(const V* rz, const V* pq, V* alpha, V* minus_alpha, cudaStream_t stream) {
  step_length<<<1, 1, 0, stream>>>(rz, pq, alpha, minus_alpha);
  return cudaGetLastError();
}

template <class V>
cudaError_t cg_direction_factor(V* rz, const V* rz_new, V* beta, cudaStream_t stream) {
  direction_factor<<<1, 1, 0, stream>>>(rz, rz_new, beta);
  return cudaGetLastError();
}

template <class V>
cudaError_t cg_direction(std::int64_t size, const V* z, const V* beta, V* p, cudaStream_t stream) {
  direction<<<blocks_for(size), block_threads, 0, stream>>>(size, z, beta, p);
  return cudaGetLastError();
}

#define WEFT_INSTANTIATE(V)                                                                 \
  template cudaError_t cg_precondition(std::int64_t, const V*, const V*, V*, cudaStream_t); \
  template cudaError_t cg_step_length(const V*, const V*, V*, V*, cudaStream_t);            \
  template cudaError_t cg_direction_factor(V*, const V*, V*, cudaStream_t);                 \
  template cudaError_t cg_direction(std::int64_t, const V*, const V*, V*, cudaStream_t);
WEFT_INSTANTIATE(float)
WEFT_INSTANTIATE(double)

}  // namespace weft::bench
