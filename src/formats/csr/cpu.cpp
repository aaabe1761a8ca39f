// The CPU kernel of csr; compiled once per instruction set, see core/isa.hpp.
#include <omp.h>

#include "core/simd.hpp"
#include "formats/csr/csr.hpp"
#include "formats/vector_count.hpp"

namespace weft::csr::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

/// Sum of values[k] * x[columns[k]] over `length` entries.
template <class V>
inline V dot(const V* values, const Index* columns, Offset length, const V* x) {
  constexpr Offset width = static_cast<Offset>(simd::Simd<V>::size());
  Offset k = 0;
  V sum = 0;
  if (length >= 2 * width) {
    simd::Simd<V> first = 0, second = 0;
    for (; k + 2 * width <= length; k += 2 * width) {
      first += simd::load(values + k) * simd::gather(x, columns + k);
      second += simd::load(values + k + width) * simd::gather(x, columns + k + width);
    }
    sum = simd::sum_of<V>(first + second);
  }
  for (; k < length; ++k) sum += values[k] * x[columns[k]];
  return sum;
}

/// The same for Count vectors in one pass over the entries.
template <int Count, class V>
inline void dots(const V* values, const Index* columns, Offset length, const V* x, std::size_t stride, V* sums) {
  if constexpr (Count == 1) {
    sums[0] = dot(values, columns, length, x);
  } else {
    V local[Count] = {};
    for (Offset k = 0; k < length; ++k) {
      const V value = values[k];
      const V* entry = x + columns[k];
#pragma GCC unroll 8
      for (int j = 0; j < Count; ++j) local[j] += value * entry[static_cast<std::size_t>(j) * stride];
    }
    for (int j = 0; j < Count; ++j) sums[j] = local[j];
  }
}

template <int Count, class V>
inline void store(const Product<V>& product, Index row, const V* sums) {
  for (int j = 0; j < Count; ++j) {
    V& target = product.y[static_cast<std::size_t>(j) * product.y_stride + static_cast<std::size_t>(row)];
    target = product.beta == V(0) ? product.alpha * sums[j] : product.alpha * sums[j] + product.beta * target;
  }
}

/// Finishes every row that ends in chunk `c`; what belongs to a row that goes on is left in the chunk's carry.
template <int Count, class V, class O>
void multiply_chunk(const CpuMatrix<V, O>& matrix, const Product<V>& product, Offset c) {
  const Chunk begin = matrix.chunks[c], end = matrix.chunks[c + 1];
  V sums[Count];
  Offset entry = begin.entry;
  for (Index row = begin.row; row < end.row; ++row) {
    const Offset row_end = static_cast<Offset>(matrix.offsets[row + 1]);
    dots<Count>(matrix.values + entry, matrix.columns + entry, row_end - entry, product.x, product.x_stride, sums);
    store<Count>(product, row, sums);
    entry = row_end;
  }
  if (entry < end.entry)
    dots<Count>(matrix.values + entry, matrix.columns + entry, end.entry - entry, product.x, product.x_stride,
                matrix.carries + c * max_vectors);
}

template <int Count, class V, class O>
void multiply_counted(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads) {
  // Small hand-outs even out a busy machine; neighbouring chunks stay together for the caches' sake.
  const Offset share = matrix.chunk_count / (threads * Offset(16));
#pragma omp parallel for schedule(dynamic, share > 1 ? static_cast<int>(share) : 1) \
    num_threads(threads) if (threads > 1)
  for (Offset c = 0; c < matrix.chunk_count; ++c) multiply_chunk<Count>(matrix, product, c);

  for (Offset c = 0; c < matrix.chunk_count; ++c) {
    const Chunk begin = matrix.chunks[c], end = matrix.chunks[c + 1];
    const Offset row_begin = end.row < matrix.rows ? static_cast<Offset>(matrix.offsets[end.row]) : end.entry;
    if (end.entry <= row_begin || end.entry == begin.entry) continue;
    for (int j = 0; j < Count; ++j)
      product.y[static_cast<std::size_t>(j) * product.y_stride + static_cast<std::size_t>(end.row)] +=
          product.alpha * matrix.carries[c * max_vectors + j];
  }
}

}  // namespace

template <class V, class O>
void multiply(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads) {
  ::weft::WEFT_ISA_NAMESPACE::with_vector_count(
      product.count, [&](auto count) { multiply_counted<decltype(count)::value>(matrix, product, threads); });
}

#define WEFT_INSTANTIATE(V)                                                                             \
  template void multiply<V, std::uint32_t>(const CpuMatrix<V, std::uint32_t>&, const Product<V>&, int); \
  template void multiply<V, Offset>(const CpuMatrix<V, Offset>&, const Product<V>&, int);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::csr::WEFT_ISA_NAMESPACE
