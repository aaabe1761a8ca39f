// The CPU kernel of coo; compiled once per instruction set, see core/isa.hpp.
#include "formats/column_vectors.hpp"
#include "formats/coo/coo.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"

namespace weft::coo::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

template <class Vectors, class V>
void multiply_chunk(const CpuMatrix<V>& matrix, const Vectors vectors, Offset chunk) {
  const Offset begin = chunk * matrix.chunk_entries;
  const Offset end = begin + matrix.chunk_entries < matrix.entries ? begin + matrix.chunk_entries : matrix.entries;
  V* const first_carry = matrix.carries + chunk * 2 * max_row_major_vectors;
  V* const last_carry = first_carry + max_row_major_vectors;
  const Index first_row = matrix.rows[begin], last_row = matrix.rows[end - 1];

  for (Offset k = begin; k < end;) {
    const Index row = matrix.rows[k];
    typename Vectors::Sums sums;
    for (; k < end && matrix.rows[k] == row; ++k) vectors.add(sums, matrix.values[k], vectors.x(matrix.columns[k]));
    if (row == first_row || row == last_row)
      vectors.save(sums, row == first_row ? first_carry : last_carry);
    else
      vectors.add_to(row, sums);
  }
}

template <class Vectors, class V>
void multiply_with(const CpuMatrix<V>& matrix, const Vectors vectors, int threads) {
  const Offset chunks = (matrix.entries + matrix.chunk_entries - 1) / matrix.chunk_entries;
  simd::for_each_piece(chunks, threads, [&](int, Offset chunk) { multiply_chunk(matrix, vectors, chunk); });

  for (Offset chunk = 0; chunk < chunks; ++chunk) {
    const Offset begin = chunk * matrix.chunk_entries;
    const Offset end = begin + matrix.chunk_entries < matrix.entries ? begin + matrix.chunk_entries : matrix.entries;
    const Index first_row = matrix.rows[begin], last_row = matrix.rows[end - 1];
    const V* const carry = matrix.carries + chunk * 2 * max_row_major_vectors;
    vectors.add_to(first_row, vectors.saved(carry));
    if (last_row != first_row) vectors.add_to(last_row, vectors.saved(carry + max_row_major_vectors));
  }
}

}  // namespace

template <class V>
void multiply_add(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  const auto multiply = [&](const auto& vectors) { multiply_with(matrix, vectors, threads); };
  if (product.layout == Layout::row_major)
    simd::with_row_vectors(product, multiply);
  else
    simd::with_column_vectors(product, multiply);
}

#define WEFT_INSTANTIATE(V) template void multiply_add<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::coo::WEFT_ISA_NAMESPACE
