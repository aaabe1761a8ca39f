// A csr kernel that forgets the last entry of the last row that has any.
#include "right_csr.hpp"

namespace weft::csr::WEFT_ISA_NAMESPACE {

template <class V, class O>
void multiply(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads) {
  multiply_rightly(matrix, product, threads);
  Index row = matrix.rows;
  while (row > 0 && matrix.offsets[row] == matrix.offsets[row - 1]) --row;
  if (row == 0) return;
  const auto last = static_cast<std::size_t>(matrix.offsets[row] - 1);
  for (int j = 0; j < product.count; ++j)
    product.y[static_cast<std::size_t>(j) * product.y_stride + static_cast<std::size_t>(row - 1)] -=
        product.alpha * matrix.values[last] *
        product.x[static_cast<std::size_t>(j) * product.x_stride + static_cast<std::size_t>(matrix.columns[last])];
}

#define WEFT_INSTANTIATE(V)                                                                             \
  template void multiply<V, std::uint32_t>(const CpuMatrix<V, std::uint32_t>&, const Product<V>&, int); \
  template void multiply<V, Offset>(const CpuMatrix<V, Offset>&, const Product<V>&, int);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::csr::WEFT_ISA_NAMESPACE
