#pragma once
#include <cuda_runtime_api.h>

#include <cstdint>

// What a careful user of cuSPARSE and cuBLAS writes besides their calls for conjugate gradients: the steps that those
// have no call for, or two. Scalars are on the device; nothing waits on the host. Each returns what the launch did.
namespace weft::bench {

/// z = d r, element by element; d is null for z = r.
template <class V>
cudaError_t cg_precondition(std::int64_t size, const V* d, const V* r, V* z, cudaStream_t stream);

/// alpha = rz / pq and minus_alpha = -alpha; 0 where pq is 0, as it is once the answer is exact.
template <class V>
cudaError_t cg_step_length(const V* rz, const V* pq, V* alpha, V* minus_alpha, cudaStream_t stream);

/// beta = rz_new / rz, and rz becomes rz_new; 0 where rz is 0.
template <class V>
cudaError_t cg_direction_factor(V* rz, const V* rz_new, V* beta, cudaStream_t stream);

/// p = z + beta p
template <class V>
cudaError_t cg_direction(std::int64_t size, const V* z, const V* beta, V* p, cudaStream_t stream);

}  // namespace weft::bench
