// A csr kernel that does its work five times.
#include "right_csr.hpp"

namespace weft::csr::WEFT_ISA_NAMESPACE {

template <class V, class O>
void multiply(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads) {
  for (int more = 0; more < 4 && product.beta == V(0); ++more) multiply_rightly(matrix, product, threads);
  multiply_rightly(matrix, product, threads);
}

#define WEFT_INSTANTIATE(V)                                                                             \
  template void multiply<V, std::uint32_t>(const CpuMatrix<V, std::uint32_t>&, const Product<V>&, int); \
  template void multiply<V, Offset>(const CpuMatrix<V, Offset>&, const Product<V>&, int);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::csr::WEFT_ISA_NAMESPACE
