// csr without a plan: whatever a plan finds out once is found out, or done without, in every product.
#include "formats/csr/direct.hpp"

#include "core/gpu_runtime.hpp"
#include "formats/csr/merge.cuh"
#include "formats/csr/speculative.cuh"
#include "simt/tuning.hpp"

namespace weft::WEFT_SIMT_NAMESPACE::csr {
namespace {

constexpr MergeKernel direct_kernel = MergeKernel::block;

template <class V, class O>
Speculation<V> direct_speculation(const View<V, O>& matrix, const SpeculativeShape& shape, Carver& space) {
  return speculation_for(matrix, shape, false, matrix.rows, space);
}

template <class V>
SpeculativeShape direct_shape(Device device) {
  return speculative_shape<V>(::weft::csr::Tuning::on(device), {.device = device});
}

}  // namespace

template <class V, class O>
std::size_t direct_workspace(const View<V, O>& matrix, Device device, SpmvAlgorithm algorithm) {
  Carver count;
  if (algorithm == SpmvAlgorithm::merge)
    MergeSpace<V>(matrix, direct_kernel, count);
  else
    direct_speculation(matrix, direct_shape<V>(device), count);
  return count.bytes();
}

template <class V, class O>
void direct_multiply(const View<V, O>& matrix, const Product<V>& product, Device device, SpmvAlgorithm algorithm,
                     std::byte* workspace, Stream stream) {
  gpu::CurrentDevice current(device);
  if (product.alpha == V(0) || matrix.entries == 0) return scale(matrix.rows, product, stream);
  Carver space(workspace);
  if (algorithm == SpmvAlgorithm::merge) {
    const MergeSpace<V> shares(matrix, direct_kernel, space);
    merge_search(matrix, shares, stream);
    merge_multiply(matrix, shares, product, stream);
  } else {
    const SpeculativeShape shape = direct_shape<V>(device);
    speculative_multiply(matrix, shape, direct_speculation(matrix, shape, space), product, stream);
  }
}

#define WEFT_INSTANTIATE_WITH(V, O)                                                      \
  template std::size_t direct_workspace<V, O>(const View<V, O>&, Device, SpmvAlgorithm); \
  template void direct_multiply<V, O>(const View<V, O>&, const Product<V>&, Device, SpmvAlgorithm, std::byte*, Stream);
#define WEFT_INSTANTIATE(V)               \
  WEFT_INSTANTIATE_WITH(V, std::uint32_t) \
  WEFT_INSTANTIATE_WITH(V, Offset)
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
