// The CPU kernel of sell; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"
#include "formats/sell/cpu_storage.hpp"

namespace weft::sell::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: prefetched, as in csr

/// How a kernel reads. Far: the matrix is in memory, and requested ahead; what is in a cache comes soon enough without,
/// and each request costs an instruction. Gathers: x is read by the processor's gather instructions.
template <bool Far, bool Gathers>
struct Reading {
  static constexpr bool far = Far, gathers = Gathers;
};

template <class How>
inline void prefetch(const void* address) {
  if constexpr (How::far) __builtin_prefetch(static_cast<const char*>(address) + bytes_ahead);
}

/// The sums of C rows, as the widest vectors there are; two for each, so that an addition need not wait for the last.
template <Index C, class V>
struct Sums {
  using Lanes = simd::NativeSimd<V, C>;
  static constexpr Index lanes = static_cast<Index>(Lanes::size());
  static constexpr Index parts = C / lanes;
  Lanes even[parts], odd[parts];

  Sums() {
#pragma GCC unroll 16
    for (Index p = 0; p < parts; ++p) {
      even[p] = 0;
      odd[p] = 0;
    }
  }
  Lanes of(Index part) const { return even[part] + odd[part]; }
};

/// Adds what one run of a slice has; `x` is that of the first row in it.
template <Index C, class How, class Lanes, class V>
inline void add_run(const V* values, const V* x, Lanes (&sums)[C / Lanes::size()]) {
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  prefetch<How>(values);
  if constexpr (C * sizeof(V) > 64) prefetch<How>(values + C / 2);
#pragma GCC unroll 16
  for (Index p = 0; p < C / lanes; ++p)
    simd::add_product(sums[p], simd::load_as<Lanes>(values + p * lanes), simd::load_as<Lanes>(x + p * lanes));
}
template <Index C, class How, class Lanes, class V>
inline void add_some_of_run(const V* values, const V* x, std::uint32_t mask, Lanes (&sums)[C / Lanes::size()]) {
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  prefetch<How>(values);
  if constexpr (C * sizeof(V) > 64) prefetch<How>(values + C / 2);
#pragma GCC unroll 16
  for (Index p = 0; p < C / lanes; ++p)
    simd::add_product(sums[p], simd::load_as<Lanes>(values + p * lanes),
                      simd::load_some<Lanes>(x + p * lanes, mask >> (p * lanes)));
}

template <Index C>
using Mask = std::conditional_t<C == 32, std::uint32_t, std::conditional_t<C == 16, std::uint16_t, std::uint8_t>>;

/// The runs of a band.
struct Runs {
  const Index* distances;
  Index full, partial;
};

/// Adds the runs of one slice; `x` is that of its first row. Returns where its values end.
template <Index C, class How, class V>
inline const V* add_runs(const Runs& runs, const Mask<C>* masks, const V* values, const V* x, Sums<C, V>& sums) {
  const Index* const full = runs.distances;
  Index k = 0;
  for (; k + 2 <= runs.full; k += 2, values += 2 * C) {
    add_run<C, How>(values, x + full[k], sums.even);
    add_run<C, How>(values + C, x + full[k + 1], sums.odd);
  }
  if (k < runs.full) {
    add_run<C, How>(values, x + full[k], sums.even);
    values += C;
  }
  const Index* const partial = full + runs.full;
  k = 0;
  for (; k + 2 <= runs.partial; k += 2, values += 2 * C) {
    add_some_of_run<C, How>(values, x + partial[k], masks[k], sums.odd);
    add_some_of_run<C, How>(values + C, x + partial[k + 1], masks[k + 1], sums.even);
  }
  if (k < runs.partial) {
    add_some_of_run<C, How>(values, x + partial[k], masks[k], sums.odd);
    values += C;
  }
  return values;
}

/// As wide as gathers are.
template <Index C, class V>
using GatherLanes =
    std::conditional_t<simd::native_bytes >= 32 && C * sizeof(V) % 32 == 0, simd::WideSimd<V>, simd::Simd<V>>;

/// Adds columns, C rows side by side, to their sums; where Padded, some may be padding, for which x is not read.
template <class How, bool Padded, Index Parts, class Lanes, class V, class Column>
inline void add_columns(const V* values, const Column* columns, Index count, const V* x, Lanes (&sums)[Parts]) {
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  for (Index k = 0; k < count; ++k, values += Parts * lanes, columns += Parts * lanes) {
    prefetch<How>(values);
    if constexpr (How::far) __builtin_prefetch(reinterpret_cast<const char*>(columns) + bytes_ahead / 4);
#pragma GCC unroll 16
    for (Index p = 0; p < Parts; ++p) {
      const Column* const column = columns + p * lanes;
      const Lanes factors = simd::load_as<Lanes>(values + p * lanes);
      if constexpr (sizeof(Lanes) == 32)
        simd::add_product(
            sums[p], factors,
            Padded ? simd::gather_wide_padded<How::gathers>(x, column) : simd::gather_wide<How::gathers>(x, column));
      else if constexpr (Padded)
        simd::add_product(sums[p], factors, Lanes([&](auto lane) { return simd::element_or_zero(x, column[lane]); }));
      else
        simd::add_product(sums[p], factors, simd::gather(x, column));
    }
  }
}

/// The columns of a slice's entries that are in no run: the first `unpadded` of `width` have no padding.
template <Index C, class How, class Lanes, class V, class Column>
inline void add_columns_of(Index unpadded, Index width, const V* values, const Column* columns, const V* x,
                           Lanes (&sums)[C / Lanes::size()]) {
  add_columns<How, false>(values, columns, unpadded, x, sums);
  if (unpadded == width) return;
  const Offset place = static_cast<Offset>(unpadded) * C;
  add_columns<How, true>(values + place, columns + place, width - unpadded, x, sums);
}

/// The same, onto sums in memory. C is 0: `rows` per slice, entry by entry.
template <Index C, class How, class V, class Column>
inline void add_columns_of(const Band& band, Index rows, const V* values, const Column* columns, const V* x, V* sums) {
  if constexpr (C > 0) {
    using Lanes = GatherLanes<C, V>;
    constexpr Index lanes = static_cast<Index>(Lanes::size());
    Lanes running[C / lanes];
#pragma GCC unroll 16
    for (Index p = 0; p < C / lanes; ++p) running[p] = simd::load_as<Lanes>(sums + p * lanes);
    add_columns_of<C, How>(band.unpadded, band.width, values, columns, x, running);
#pragma GCC unroll 16
    for (Index p = 0; p < C / lanes; ++p) simd::store_as(running[p], sums + p * lanes);
  } else {
    for (Index k = 0; k < band.width; ++k, values += rows, columns += rows)
      for (Index i = 0; i < rows; ++i)
        if (columns[i] != padding_column<Column>) simd::add_product(sums[i], values[i], x[columns[i]]);
  }
}

/// y = alpha sums + beta y for the first `count` rows of a slice.
template <Index C, class V>
inline void store_slice(const CpuMatrix<V>& matrix, const Product<V>& product, Offset first, Index count,
                        const V* sums) {
  const Index* const order = matrix.order ? matrix.order + first : nullptr;
  if constexpr (C > 0)
    if (count == C) {
      if (order && product.beta == V(0)) {
#pragma GCC unroll 32
        for (Index i = 0; i < C; ++i) product.y[order[i]] = product.alpha * sums[i];
        return;
      }
      if (!order) return simd::store_sums(product, first, 0, sums, C);
    }
  for (Index i = 0; i < count; ++i) simd::store_sum(product, order ? order[i] : first + i, 0, sums[i]);
}

/// Those of slice s.
template <Index C, class V>
inline const Mask<C>* masks_of(const CpuMatrix<V>& matrix, const Band& band, Index s) {
  return reinterpret_cast<const Mask<C>*>(matrix.masks + band.mask) +
         static_cast<Offset>(s - band.slice) * band.partial;
}

/// For one vector. C is the number of rows per slice, or 0 if it is only known in the matrix.
template <Index C, class How, class V>
inline void multiply_slice(const CpuMatrix<V>& matrix, const Product<V>& product, const Band& band, Index s,
                           const V* values, const std::uint16_t* columns) {
  const Index rows = C > 0 ? C : matrix.slice_rows;
  const Offset first = static_cast<Offset>(s) * rows;
  const Index count = matrix.rows - first < rows ? static_cast<Index>(matrix.rows - first) : rows;
  V sums[C > 0 ? C : max_slice_rows] = {};
  if constexpr (may_have_runs(C))
    if (band.full + band.partial > 0) {
      Sums<C, V> running;
      const Runs runs{matrix.distances + band.run, band.full, band.partial};
      values = add_runs<C, How>(runs, masks_of<C>(matrix, band, s), values, product.x + first, running);
#pragma GCC unroll 16
      for (Index p = 0; p < Sums<C, V>::parts; ++p) simd::store_as(running.of(p), sums + p * Sums<C, V>::lanes);
    }
  if (band.base >= 0)
    add_columns_of<C, How>(band, rows, values, columns, product.x + band.base, sums);
  else
    add_columns_of<C, How>(band, rows, values, reinterpret_cast<const Index*>(columns), product.x, sums);
  store_slice<C>(matrix, product, first, count, sums);
}

/// The slices [s, end) of a band without runs, for one vector and y = alpha A x: short rows leave no time for anything
/// but this.
template <Index C, class How, bool Ordered, class V, class Column>
void multiply_plain(const CpuMatrix<V>& matrix, const Product<V>& product, const Band& band, Index s, Index end,
                    const V* values, const Column* columns, const V* x) {
  using Lanes = GatherLanes<C, V>;
  constexpr Index lanes = static_cast<Index>(Lanes::size());
  const Lanes alpha = product.alpha;
  V* const y = product.y;
  const Index* const order = matrix.order;
  const Index unpadded = band.unpadded, width = band.width;
  const Offset size = static_cast<Offset>(width) * C;
  for (Offset first = static_cast<Offset>(s) * C; first < static_cast<Offset>(end) * C;
       first += C, values += size, columns += size) {
    Lanes running[C / lanes];
#pragma GCC unroll 16
    for (Index p = 0; p < C / lanes; ++p) running[p] = 0;
    add_columns_of<C, How>(unpadded, width, values, columns, x, running);
    if constexpr (Ordered) {
      V sums[C];
#pragma GCC unroll 16
      for (Index p = 0; p < C / lanes; ++p) simd::store_as(running[p] * alpha, sums + p * lanes);
#pragma GCC unroll 32
      for (Index i = 0; i < C; ++i) y[order[first + i]] = sums[i];
    } else {
#pragma GCC unroll 16
      for (Index p = 0; p < C / lanes; ++p) simd::store_as(running[p] * alpha, y + first + p * lanes);
    }
  }
}

template <Index C, class How, class V>
void multiply_plain(const CpuMatrix<V>& matrix, const Product<V>& product, const Band& band, Index s, Index end,
                    const V* values, const std::uint16_t* columns) {
  const auto run = [&](const auto* typed, const V* x) {
    if (matrix.order)
      multiply_plain<C, How, true>(matrix, product, band, s, end, values, typed, x);
    else
      multiply_plain<C, How, false>(matrix, product, band, s, end, values, typed, x);
  };
  if (band.base >= 0)
    run(columns, product.x + band.base);
  else
    run(reinterpret_cast<const Index*>(columns), product.x);
}

/// The slices [s, end) of a band with nothing but runs, for one vector.
template <Index C, class How, class V>
void multiply_runs(const CpuMatrix<V>& matrix, const Product<V>& product, const Band& band, Index s, Index end,
                   const V* values) {
  using S = Sums<C, V>;
  using Lanes = typename S::Lanes;
  const Lanes alpha = product.alpha, beta = product.beta;
  const bool reads_y = product.beta != V(0);
  const Runs runs{matrix.distances + band.run, band.full, band.partial};
  const Mask<C>* masks = masks_of<C>(matrix, band, s);
  const Offset first = static_cast<Offset>(s) * C, last = static_cast<Offset>(end) * C;
  const V* x = product.x + first;
  V* const stop = product.y + last;
  for (V* y = product.y + first; y < stop; y += C, x += C, masks += runs.partial) {
    S sums;
    values = add_runs<C, How>(runs, masks, values, x, sums);
#pragma GCC unroll 16
    for (Index p = 0; p < S::parts; ++p) {
      V* const to = y + p * S::lanes;
      const Lanes sum = sums.of(p);
      simd::store_as(
          reads_y ? simd::multiply_add<Lanes>(alpha, sum, simd::load_as<Lanes>(to) * beta) : Lanes(sum * alpha), to);
    }
  }
}

/// Some slices of a band, one after the other in memory.
template <class V>
struct Slices {
  const Band& band;
  Index first, end;
  const V* values;
  Offset size;  // of a slice's values
  const std::uint16_t* columns;
  Offset column_size;
};

/// Calls body(Slices) for those from `begin` until `end`, band by band.
template <class V, class F>
inline void for_each_band(const CpuMatrix<V>& matrix, Index rows, Share begin, Share end, F&& body) {
  Index s = begin.slice;
  for (Index b = begin.band; s < end.slice; ++b) {
    const Band& band = matrix.bands[b];
    const Offset before = s - band.slice;
    const Offset size = static_cast<Offset>(band.full + band.partial + band.width) * rows;
    const Offset column_size = static_cast<Offset>(band.width) * rows * (band.base >= 0 ? 1 : 2);
    const Index last = b == end.band ? end.slice : matrix.bands[b + 1].slice;
    body(Slices<V>{band, s, last, matrix.values + band.entry + before * size, size,
                   matrix.columns + band.column + before * column_size, column_size});
    s = last;
  }
}

/// Where a chunk of what is left of a share ends: as many values as fit half of a small second-level cache.
template <class V>
inline Share end_of_chunk(const CpuMatrix<V>& matrix, Index rows, Share begin, Share end) {
  Offset room = (1 << 17) / sizeof(V);
  for (Share stop = begin;; ++stop.band) {
    const Band& band = matrix.bands[stop.band];
    const Offset size = static_cast<Offset>(band.full + band.partial + band.width + 1) * rows;
    const Index last = stop.band == end.band ? end.slice : matrix.bands[stop.band + 1].slice;
    const Offset taken = room / size + 1;
    if (taken < last - stop.slice) return {stop.band, stop.slice + static_cast<Index>(taken)};
    room -= (last - stop.slice) * size;
    stop.slice = last;
    if (last == end.slice) return end;
    if (room <= 0) return {stop.band + 1, last};
  }
}

template <Index C, class How, class V>
void multiply_all(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  const Index rows = C > 0 ? C : matrix.slice_rows;
  const auto multiply_one = [&](const Product<V>& one, Share begin, Share end) {
    for_each_band(matrix, rows, begin, end, [&](const Slices<V>& slices) {
      const Band& band = slices.band;
      if constexpr (C > 0)
        if (static_cast<Offset>(slices.end) * C <= matrix.rows) {  // all of them have C rows
          const bool has_runs = band.full + band.partial > 0;
          if (!has_runs && one.beta == V(0))
            return multiply_plain<C, How>(matrix, one, band, slices.first, slices.end, slices.values, slices.columns);
          if constexpr (may_have_runs(C))
            if (has_runs && band.width == 0)
              return multiply_runs<C, How>(matrix, one, band, slices.first, slices.end, slices.values);
        }
      const V* values = slices.values;
      const std::uint16_t* columns = slices.columns;
      for (Index s = slices.first; s < slices.end; ++s, values += slices.size, columns += slices.column_size)
        multiply_slice<C, How>(matrix, one, band, s, values, columns);
    });
  };
  simd::for_each_piece(matrix.share_count, threads, [&](int, Offset share) {
    Share begin = matrix.shares[share];
    const Share end = matrix.shares[share + 1];
    if (product.count == 1) return multiply_one(product, begin, end);
    // Each vector has the kernel for one while a part of the matrix stays in the cache.
    while (begin.slice < end.slice) {
      const Share stop = end_of_chunk(matrix, rows, begin, end);
      for (int j = 0; j < product.count; ++j) {
        Product<V> one = product;
        one.x += static_cast<std::size_t>(j) * product.x_stride;
        one.y += static_cast<std::size_t>(j) * product.y_stride;
        multiply_one(one, begin, stop);
      }
      begin = stop;
    }
  });
}

/// R rows of a slice with row-major vectors, from row `row` of it on.
template <int R, class How, class Vectors, class V>
inline void multiply_rows(const CpuMatrix<V>& matrix, const Vectors& vectors, const Band& band, Index s,
                          const V* values, const std::uint16_t* narrow, Index row) {
  const Index step = matrix.slice_rows;
  const Offset first = static_cast<Offset>(s) * step + row;
  values += row;
  typename Vectors::template Tile<R> sums;
  const Index full = band.full, partial = band.partial;
  const Offset stride = vectors.x_stride();
  const Index* const distances = matrix.distances + band.run;
  for (Index k = 0; k < full; ++k, values += step) {
    prefetch<How>(values);
    vectors.add_rows(sums, values, vectors.x(first + distances[k]), stride);
  }
  const Index mask_size = step / 8;
  const std::uint8_t* mask_bytes =
      matrix.masks + band.mask + static_cast<Offset>(s - band.slice) * band.partial * mask_size;
  constexpr std::uint32_t all = (1u << R) - 1;
  for (Index k = 0; k < partial; ++k, mask_bytes += mask_size, values += step) {
    // R divides 8, so these rows' bits are in one byte.
    const std::uint32_t mask = static_cast<std::uint32_t>(mask_bytes[row / 8] >> row % 8) & all;
    const Offset column = first + distances[full + k];
    prefetch<How>(values);
    if (mask == all) {
      vectors.add_rows(sums, values, vectors.x(column), stride);
    } else {
      simd::unrolled<R>([&](auto r) __attribute__((always_inline)) {
        vectors.add(sums, r, values[r], mask >> r & 1 ? vectors.x(column + r) : vectors.zeros());
      });
    }
  }
  const auto add_others = [&](auto columns, Offset base) {
    columns += row;
    const Offset dense = static_cast<Offset>(band.unpadded) * step;
    simd::add_side_by_side<false>(vectors, values, columns, step, band.unpadded, base, sums);
    simd::add_side_by_side<true>(vectors, values + dense, columns + dense, step, band.width - band.unpadded, base,
                                 sums);
  };
  if (band.base >= 0)
    add_others(narrow, band.base);
  else
    add_others(reinterpret_cast<const Index*>(narrow), 0);
  simd::unrolled<R>([&](auto r) {
    if (first + r < matrix.rows) vectors.store(matrix.order ? matrix.order[first + r] : first + r, sums.row(r));
  });
}

template <class How, class V>
void multiply_row_major(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  simd::with_row_vectors(product, [&]<class Vectors>(const Vectors& vectors) {
    constexpr int together = Vectors::together;
    simd::for_each_piece(matrix.share_count, threads, [&](int, Offset share) {
      const auto multiply_slices = [&](const Slices<V>& slices) {
        const V* values = slices.values;
        const std::uint16_t* columns = slices.columns;
        for (Index s = slices.first; s < slices.end; ++s, values += slices.size, columns += slices.column_size) {
          Index row = 0;
          for (; row + together <= matrix.slice_rows; row += together)
            multiply_rows<together, How>(matrix, vectors, slices.band, s, values, columns, row);
          for (; row < matrix.slice_rows; ++row)
            multiply_rows<1, How>(matrix, vectors, slices.band, s, values, columns, row);
        }
      };
      for_each_band(matrix, matrix.slice_rows, matrix.shares[share], matrix.shares[share + 1], multiply_slices);
    });
  });
}

template <class How, class V>
void multiply_from(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  switch (matrix.slice_rows) {
    case 4:
      return multiply_all<4, How>(matrix, product, threads);
    case 8:
      return multiply_all<8, How>(matrix, product, threads);
    case 16:
      return multiply_all<16, How>(matrix, product, threads);
    case 32:
      return multiply_all<32, How>(matrix, product, threads);
    default:
      return multiply_all<0, How>(matrix, product, threads);
  }
}

}  // namespace

template <class V>
void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  const auto multiply_reading = [&](auto far) {
    if (product.layout == Layout::row_major) return multiply_row_major<Reading<far, false>>(matrix, product, threads);
    if constexpr (simd::has_gathers)
      if (matrix.gathers) return multiply_from<Reading<far, true>>(matrix, product, threads);
    multiply_from<Reading<far, false>>(matrix, product, threads);
  };
  if (matrix.far)
    multiply_reading(std::true_type());
  else
    multiply_reading(std::false_type());
}

#define WEFT_INSTANTIATE(V) template void multiply<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::sell::WEFT_ISA_NAMESPACE
