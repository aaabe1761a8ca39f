// The CPU kernel of csr; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/cpu_product.hpp"
#include "formats/csr/row_groups.hpp"
#include "formats/row_vectors.hpp"

namespace weft::csr::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

/// The kernels request a matrix that comes from memory (Far) this many entries ahead, once for every line of values:
/// the CPU's own prefetching is not enough, probably since it stops at every page (bench/NOTES.md). Past the end of the
/// arrays that requests nothing.
constexpr Offset entries_ahead = 512;
template <class V>
constexpr Offset line = static_cast<Offset>(64 / sizeof(V));

template <bool Far, class V>
inline void prefetch(const V* values, const Index* columns) {
  if constexpr (Far) {
    __builtin_prefetch(values + entries_ahead);
    __builtin_prefetch(columns + entries_ahead);
  }
}

/// Sum of values[k] * x[columns[k]] over `length` entries.
template <bool Far, class V>
inline V dot(const V* values, const Index* columns, Offset length, const V* x) {
  Offset k = 0;
  V sum = 0;
  prefetch<Far>(values, columns);
  if constexpr (std::is_floating_point_v<V>) {
    using Wide = simd::WideSimd<V>;
    constexpr Offset width = static_cast<Offset>(simd::Simd<V>::size()), wide = static_cast<Offset>(Wide::size());
    static_assert(line<V> == 2 * wide && wide == 2 * width);
    if (length >= line<V>) {
      Wide first = 0, second = 0;
      for (; k + line<V> <= length; k += line<V>) {
        simd::add_product(first, simd::load_as<Wide>(values + k), simd::gather_wide(x, columns + k));
        simd::add_product(second, simd::load_as<Wide>(values + k + wide), simd::gather_wide(x, columns + k + wide));
        prefetch<Far>(values + k + line<V>, columns + k + line<V>);
      }
      sum = simd::sum_of_wide<V>(first + second);
    }
    if (k + width <= length) {
      simd::Simd<V> rest = 0;
      for (; k + width <= length; k += width)
        simd::add_product(rest, simd::load(values + k), simd::gather(x, columns + k));
      sum += simd::sum_of<V>(rest);
    }
  }
  for (; k < length; ++k) simd::add_product(sum, values[k], x[columns[k]]);
  return sum;
}

/// Finishes every row that ends in the chunk from `begin` to `end`; what belongs to a row that goes on is left in
/// `carry`. One vector.
template <bool Far, class V, class O>
void multiply_in_order(const CpuMatrix<V, O>& matrix, const Product<V>& product, Chunk begin, Chunk end, V* carry) {
  Offset entry = begin.entry;
  for (Index row = begin.row; row < end.row; ++row) {
    const Offset row_end = static_cast<Offset>(matrix.offsets[row + 1]);
    simd::store_sum(product, row, 0,
                    dot<Far>(matrix.values + entry, matrix.columns + entry, row_end - entry, product.x));
    entry = row_end;
  }
  if (entry < end.entry) *carry = dot<Far>(matrix.values + entry, matrix.columns + entry, end.entry - entry, product.x);
}

template <Offset Length, Index Rows, class O>
inline bool all_have(const O* offsets) {
  O differences = 0;
#pragma GCC unroll 8
  for (Index r = 0; r < Rows; ++r) differences |= (offsets[r + 1] - offsets[r]) ^ static_cast<O>(Length);
  return differences == 0;
}

/// A chunk most of whose rows have Length entries: eight such rows at a time are multiplied without a loop whose end
/// must be guessed.
template <Offset Length, bool All, bool Far, class V, class O>
void multiply_alike(const CpuMatrix<V, O>& matrix, const Product<V>& product, Chunk begin, Chunk end) {
  constexpr Index rows_at_once = 8;
  const V* values = matrix.values + begin.entry;
  const Index* columns = matrix.columns + begin.entry;
  const V* x = product.x;
  for (Index row = begin.row; row < end.row;) {
    const O* offsets = matrix.offsets + row;
    const Index rows = end.row - row < rows_at_once ? end.row - row : rows_at_once;
    if (rows == rows_at_once && (All || all_have<Length, rows_at_once>(offsets))) {
#pragma GCC unroll 16
      for (Offset k = 0; k < rows_at_once * Length; k += line<V>) prefetch<Far>(values + k, columns + k);
      for (Index r = 0; r < rows_at_once; ++r) {
        V sum = 0;
#pragma GCC unroll 16
        for (Offset k = 0; k < Length; ++k) simd::add_product(sum, values[r * Length + k], x[columns[r * Length + k]]);
        simd::store_sum(product, row + r, 0, sum);
      }
    } else {
      for (Index r = 0; r < rows; ++r) {
        const Offset skipped = static_cast<Offset>(offsets[r] - offsets[0]);
        const V sum =
            dot<Far>(values + skipped, columns + skipped, static_cast<Offset>(offsets[r + 1] - offsets[r]), x);
        simd::store_sum(product, row + r, 0, sum);
      }
    }
    const Offset done = All ? rows * Length : static_cast<Offset>(offsets[rows] - offsets[0]);
    values += done;
    columns += done;
    row += rows;
  }
}

template <bool Far, Offset Length = 1, class V, class O>
void multiply_alike(const ChunkShape& shape, const CpuMatrix<V, O>& matrix, const Product<V>& product, Chunk begin,
                    Chunk end) {
  if (shape.length == Length)
    return shape.kind == ChunkShape::Kind::equal ? multiply_alike<Length, true, Far>(matrix, product, begin, end)
                                                 : multiply_alike<Length, false, Far>(matrix, product, begin, end);
  if constexpr (Length < longest_alike) multiply_alike<Far, Length + 1>(shape, matrix, product, begin, end);
}

/// products[k] = values[k] * x[columns[k]], `length` of them. Elements of a large x are asked for ahead, too.
template <bool Far, class V>
void stage_products(const V* values, const Index* columns, Offset length, const V* x, bool large_x, V* products) {
  constexpr Offset width = static_cast<Offset>(simd::Simd<V>::size());
  constexpr Offset x_ahead = 128;
  Offset k = 0;
  const auto stage_line = [&] {
    prefetch<Far>(values + k, columns + k);
#pragma GCC unroll 4
    for (Offset i = k; i < k + line<V>; i += width)
      simd::store(simd::load(values + i) * simd::gather(x, columns + i), products + i);
    k += line<V>;
  };
  while (large_x && k + line<V> + x_ahead <= length) {
#pragma GCC unroll 16
    for (Offset i = 0; i < line<V>; ++i) __builtin_prefetch(x + columns[k + x_ahead + i]);
    stage_line();
  }
  while (k + line<V> <= length) stage_line();
  for (; k < length; ++k) products[k] = values[k] * x[columns[k]];
}

/// The sum of a row too long for the groups.
template <class V>
inline V sum_of_terms(const V* terms, Offset length) {
  constexpr Offset width = static_cast<Offset>(simd::Simd<V>::size());
  simd::Simd<V> first = 0, second = 0;
  Offset k = 0;
  for (; k + 2 * width <= length; k += 2 * width) {
    first += simd::load(terms + k);
    second += simd::load(terms + k + width);
  }
  V sum = simd::sum_of<V>(first + second);
  for (; k < length; ++k) sum += terms[k];
  return sum;
}

/// Sums the rows of each length, beginning with Length, in a loop without a branch that depends on the row. Row r of
/// the chunk has the products offsets[r] - entry and following. Returns the end of these rows in `order`.
template <Offset Length = 0, class V, class O>
const std::uint16_t* sum_groups(const ChunkShape& shape, const std::uint16_t* order, const O* offsets, O entry,
                                const V* products, const Product<V>& product, Index first_row) {
  const std::uint16_t* end = order + shape.counts[Length];
  for (; order < end; ++order) {
    const V* terms = products + (offsets[*order] - entry);
    V sum = 0;
#pragma GCC unroll 16
    for (Offset k = 0; k < Length; ++k) sum += terms[k];
    simd::store_sum(product, first_row + *order, 0, sum);
  }
  if constexpr (Length == longest_group)
    return end;
  else
    return sum_groups<Length + 1>(shape, end, offsets, entry, products, product, first_row);
}

/// A chunk of short rows of changing lengths: how long the next row is cannot be guessed, and with each wrong guess
/// the CPU has to begin anew what it had begun of the rows behind, the loads of x above all.
template <bool Far, class V, class O>
void multiply_grouped(const CpuMatrix<V, O>& matrix, const Product<V>& product, Chunk begin, Chunk end,
                      const ChunkShape& shape) {
  V products[most_staged];
  stage_products<Far>(matrix.values + begin.entry, matrix.columns + begin.entry, end.entry - begin.entry, product.x,
                      matrix.large_x, products);
  const O* offsets = matrix.offsets + begin.row;
  const O entry = offsets[0];
  const std::uint16_t* order_end = matrix.order + end.row;
  for (const std::uint16_t* row =
           sum_groups(shape, matrix.order + begin.row, offsets, entry, products, product, begin.row);
       row < order_end; ++row) {
    const V sum =
        sum_of_terms(products + (offsets[*row] - entry), static_cast<Offset>(offsets[*row + 1] - offsets[*row]));
    simd::store_sum(product, begin.row + *row, 0, sum);
  }
}

/// A chunk with one vector.
template <bool Far, class V, class O>
void multiply_chunk(const CpuMatrix<V, O>& matrix, const Product<V>& product, Offset c, V* carry) {
  const Chunk begin = matrix.chunks[c], end = matrix.chunks[c + 1];
  if constexpr (std::is_floating_point_v<V>) {
    const ChunkShape& shape = matrix.shapes[c];
    if (shape.kind == ChunkShape::Kind::equal || shape.kind == ChunkShape::Kind::alike)
      return multiply_alike<Far>(shape, matrix, product, begin, end);
    if (shape.kind == ChunkShape::Kind::grouped) return multiply_grouped<Far>(matrix, product, begin, end, shape);
  }
  multiply_in_order<Far>(matrix, product, begin, end, carry);
}

/// The chunk stays in the cache from one vector to the next, which gets the kernel that suits the chunk's rows.
template <bool Far, class V, class O>
void multiply_columns(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads) {
  simd::for_each_piece(matrix.chunk_count, threads, [&](int, Offset c) {
    Product<V> one = product;
    one.count = 1;
    for (int j = 0; j < product.count; ++j) {
      multiply_chunk<Far>(matrix, one, c, matrix.carries + c * max_row_major_vectors + j);
      one.x += product.x_stride;
      one.y += product.y_stride;
    }
  });
  for (Offset i = 0; i < matrix.carried_count; ++i) {
    const Offset c = matrix.carried[i];
    V* const y = product.y + matrix.chunks[c + 1].row;
    for (int j = 0; j < product.count; ++j)
      simd::add_product(y[static_cast<std::size_t>(j) * product.y_stride], product.alpha,
                        matrix.carries[c * max_row_major_vectors + j]);
  }
}

/// A chunk with row-major vectors; its rows may have any lengths.
template <bool Far, class Vectors, class V, class O>
void multiply_chunk_rows(const CpuMatrix<V, O>& matrix, const Vectors vectors, Offset c) {
  const Chunk begin = matrix.chunks[c], end = matrix.chunks[c + 1];
  const auto sum = [&](Offset from, Offset to) {
    return simd::sum_entries(vectors, matrix.values + from, matrix.columns + from, to - from,
                             [&](Offset k) { prefetch<Far>(matrix.values + from + k, matrix.columns + from + k); });
  };
  Offset entry = begin.entry;
  for (Index row = begin.row; row < end.row; ++row) {
    const Offset row_end = static_cast<Offset>(matrix.offsets[row + 1]);
    vectors.store(row, sum(entry, row_end));
    entry = row_end;
  }
  if (entry < end.entry) vectors.save(sum(entry, end.entry), matrix.carries + c * max_row_major_vectors);
}

template <bool Far, class Vectors, class V, class O>
void multiply_rows(const CpuMatrix<V, O>& matrix, const Vectors& vectors, int threads) {
  simd::for_each_piece(matrix.chunk_count, threads,
                       [&](int, Offset c) { multiply_chunk_rows<Far>(matrix, vectors, c); });
  for (Offset i = 0; i < matrix.carried_count; ++i) {
    const Offset c = matrix.carried[i];
    vectors.add_to(matrix.chunks[c + 1].row, vectors.saved(matrix.carries + c * max_row_major_vectors));
  }
}

}  // namespace

template <class V, class O>
void multiply(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads) {
  const auto run = [&](auto far) {
    if (product.layout == Layout::row_major)
      simd::with_row_vectors(product, [&](const auto& vectors) { multiply_rows<far>(matrix, vectors, threads); });
    else
      multiply_columns<far>(matrix, product, threads);
  };
  if (matrix.far)
    run(std::true_type());
  else
    run(std::false_type());
}

#define WEFT_INSTANTIATE(V)                                                                             \
  template void multiply<V, std::uint32_t>(const CpuMatrix<V, std::uint32_t>&, const Product<V>&, int); \
  template void multiply<V, Offset>(const CpuMatrix<V, Offset>&, const Product<V>&, int);
WEFT_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::csr::WEFT_ISA_NAMESPACE
