// The CPU kernel of coo; compiled once per instruction set, see core/isa.hpp.
#include <omp.h>

#include "formats/coo/coo.hpp"
#include "formats/cpu_product.hpp"
#include "formats/vector_count.hpp"

namespace weft::coo::WEFT_ISA_NAMESPACE {
namespace {

template <int Count, class V>
inline void add_to_row(const Product<V>& product, Index row, const V* sums) {
  for (int j = 0; j < Count; ++j)
    product.y[static_cast<std::size_t>(j) * product.y_stride + static_cast<std::size_t>(row)] +=
        product.alpha * sums[j];
}

template <int Count, class V>
void multiply_chunk(const CpuMatrix<V>& matrix, const Product<V>& product, Offset chunk) {
  const Offset begin = chunk * matrix.chunk_entries;
  const Offset end = begin + matrix.chunk_entries < matrix.entries ? begin + matrix.chunk_entries : matrix.entries;
  V* first_carry = matrix.carries + chunk * 2 * max_vectors;
  V* last_carry = first_carry + max_vectors;
  const Index first_row = matrix.rows[begin], last_row = matrix.rows[end - 1];
  for (int j = 0; j < Count; ++j) last_carry[j] = 0;

  for (Offset k = begin; k < end;) {
    const Index row = matrix.rows[k];
    V sums[Count] = {};
    for (; k < end && matrix.rows[k] == row; ++k) {
      const V* x = product.x + matrix.columns[k];
#pragma GCC unroll 8
      for (int j = 0; j < Count; ++j) sums[j] += matrix.values[k] * x[static_cast<std::size_t>(j) * product.x_stride];
    }
    if (row == first_row || row == last_row) {
      V* carry = row == first_row ? first_carry : last_carry;
      for (int j = 0; j < Count; ++j) carry[j] = sums[j];
    } else {
      add_to_row<Count>(product, row, sums);
    }
  }
}

template <int Count, class V>
void multiply_counted(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  const Offset chunks = (matrix.entries + matrix.chunk_entries - 1) / matrix.chunk_entries;
  ::weft::WEFT_ISA_NAMESPACE::for_each_piece(chunks, threads,
                                             [&](int, Offset chunk) { multiply_chunk<Count>(matrix, product, chunk); });

  for (Offset chunk = 0; chunk < chunks; ++chunk) {
    const Offset begin = chunk * matrix.chunk_entries;
    const Offset end = begin + matrix.chunk_entries < matrix.entries ? begin + matrix.chunk_entries : matrix.entries;
    const Index first_row = matrix.rows[begin], last_row = matrix.rows[end - 1];
    const V* carry = matrix.carries + chunk * 2 * max_vectors;
    add_to_row<Count>(product, first_row, carry);
    if (last_row != first_row) add_to_row<Count>(product, last_row, carry + max_vectors);
  }
}

}  // namespace

template <class V>
void multiply_add(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  ::weft::WEFT_ISA_NAMESPACE::with_vector_count(
      product.count, [&](auto count) { multiply_counted<decltype(count)::value>(matrix, product, threads); });
}

#define WEFT_INSTANTIATE(V) template void multiply_add<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::coo::WEFT_ISA_NAMESPACE
