// The small dense systems on a CPU; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "core/value_types.hpp"
#include "solve/precondition/systems.hpp"

namespace weft::precondition::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;
using Lanes = simd::NativeSimd<double, 8>;
constexpr Offset lanes = static_cast<Offset>(Lanes::size());

inline Lanes load(const double* from) { return simd::load_as<Lanes>(from); }

/// a b + c, rounded once with every instruction set.
template <class T>
inline T fused(const T& a, const T& b, const T& c) {
#ifdef __FMA__
  return simd::multiply_add(a, b, c);
#else
  return T([&](auto lane) { return __builtin_fma(a[lane], b[lane], c[lane]); });
#endif
}

/// y += a x, for elements 0..count; those up to the next multiple of `lanes` may be overwritten.
inline void add_multiple(double a, const double* x, double* y, Offset count) {
  const Lanes factor = a;
  for (Offset i = 0; i < count; i += lanes) simd::store_as(fused(factor, load(x + i), load(y + i)), y + i);
}
/// The same, and nothing else is touched.
inline void add_multiple_exactly(double a, const double* x, double* y, Offset count) {
  const Offset whole = count / lanes * lanes;
  add_multiple(a, x, y, whole);
  for (Offset i = whole; i < count; ++i) y[i] = __builtin_fma(a, x[i], y[i]);
}

/// x *= a, for elements 0..count; those up to the next multiple of `lanes` may be overwritten.
inline void scale(double a, double* x, Offset count) {
  for (Offset i = 0; i < count; i += lanes) simd::store_as(load(x + i) * Lanes(a), x + i);
}

inline void clear(double* numbers, Offset count) {
  for (Offset i = 0; i < count; ++i) numbers[i] = 0;
}

inline bool is_finite(double number) { return number - number == 0; }

/// The first place in from..to with an element of at least `number`.
inline Offset find_first(const Index* numbers, Offset from, Offset to, Index number) {
  while (from < to) {
    const Offset middle = from + (to - from) / 2;
    if (numbers[middle] < number)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

/// Calls body(k, value) for the entries of a row of the matrix that are in the columns list[0..count).
template <class V, class F>
inline void for_entries_in(const Entries<V>& matrix, Index row, const Index* list, Offset count, const F& body) {
  Offset entry = matrix.offsets[row];
  const Offset end = matrix.offsets[row + 1];
  if (end - entry > long_row_factor * count) {
    for (Offset k = 0; k < count; ++k) {
      entry = find_first(matrix.columns, entry, end, list[k]);
      if (entry < end && matrix.columns[entry] == list[k]) body(k, static_cast<double>(matrix.values[entry]));
    }
    return;
  }
  for (Offset k = 0; k < count && entry < end;) {
    const Index column = matrix.columns[entry];
    if (column == list[k]) body(k, static_cast<double>(matrix.values[entry]));
    const bool entry_is_done = column <= list[k];
    if (column >= list[k]) ++k;
    if (entry_is_done) ++entry;
  }
}

/// A dense matrix, column after column.
struct Dense {
  double* elements;
  Offset leading;
  double* column(Offset j) const { return elements + j * leading; }
};

// ---- fsai

/// The lower triangle of the rows and columns `list` of a matrix.
template <class V>
inline void gather_lower(const Entries<V>& matrix, const Index* list, Offset unknowns, const Dense& into) {
  clear(into.elements, into.leading * unknowns);
  for (Offset i = 0; i < unknowns; ++i)
    for_entries_in(matrix, list[i], list, i + 1, [&](Offset j, double value) { into.column(j)[i] = value; });
}

/// Column j of a Cholesky factor less what the columns before it take away, from its diagonal on.
inline void subtract_earlier_columns(const Dense& factor, Offset unknowns, Offset j) {
  constexpr Offset together = 4;  // vectors, in registers while the columns pass by
  double* const column = factor.column(j);
  Offset i = j;
  for (; i + together * lanes <= unknowns + lanes; i += together * lanes) {
    Lanes sums[together];
    simd::unrolled<together>([&](auto v) { sums[v] = load(column + i + v * lanes); });
    for (Offset k = 0; k < j; ++k) {
      const double* const earlier = factor.column(k);
      const Lanes multiple = -earlier[j];
      simd::unrolled<together>([&](auto v) { sums[v] = fused(multiple, load(earlier + i + v * lanes), sums[v]); });
    }
    simd::unrolled<together>([&](auto v) { simd::store_as(sums[v], column + i + v * lanes); });
  }
  for (; i < unknowns; i += lanes) {
    Lanes sum = load(column + i);
    for (Offset k = 0; k < j; ++k) sum = fused(Lanes(-factor.column(k)[j]), load(factor.column(k) + i), sum);
    simd::store_as(sum, column + i);
  }
}

/// Replaces the lower triangle by its Cholesky factor; `inverses` gets 1 / its diagonal. Returns the first column whose
/// pivot is not positive, or `unknowns`.
inline Offset factorize(const Dense& factor, Offset unknowns, double* inverses) {
  for (Offset j = 0; j < unknowns; ++j) {
    subtract_earlier_columns(factor, unknowns, j);
    double* const column = factor.column(j);
    if (!(column[j] > 0) || !is_finite(column[j])) return j;
    inverses[j] = 1 / __builtin_sqrt(column[j]);
    scale(inverses[j], column + j + 1, unknowns - j - 1);
  }
  return unknowns;
}

/// The last `rows` rows of the inverse of the factor, one after the other, `leading` apart. Overwrites the factor's
/// upper triangle.
inline void find_last_rows(const Dense& factor, Offset unknowns, const double* inverses, Offset rows, double* found) {
  // With its rows in the upper triangle they can be read as vectors.
  for (Offset j = 0; j < unknowns; ++j)
    for (Offset i = j + 1; i < unknowns; ++i) factor.column(i)[j] = factor.column(j)[i];
  for (Offset r = 0; r < rows; ++r) {
    double* const row = found + r * factor.leading;
    const Offset own = unknowns - rows + r;
    clear(row, unknowns);
    row[own] = 1;
    for (Offset s = own; s >= 0; --s) {
      row[s] *= inverses[s];
      add_multiple_exactly(-row[s], factor.column(s), row, s);
    }
  }
}

// ---- isai

/// The rows `list` of a matrix, each as a column, in the columns `list`. Returns the largest size of an element.
template <class V>
inline double gather_rows(const Entries<V>& matrix, const Index* list, Offset unknowns, const Dense& into) {
  clear(into.elements, into.leading * unknowns);
  double largest = 0;
  for (Offset j = 0; j < unknowns; ++j)
    for_entries_in(matrix, list[j], list, unknowns, [&](Offset i, double value) {
      into.column(j)[i] = value;
      const double size = value < 0 ? -value : value;
      if (!(size <= largest) && is_finite(largest)) largest = size;  // what is not finite stays
    });
  return largest;
}

/// Columns 0..unknowns are eliminated with partial pivoting, in them and in `rights` more columns. Returns the first
/// column without a pivot, or `unknowns`.
inline Offset eliminate(const Dense& system, Offset unknowns, Offset rights, double smallest) {
  for (Offset k = 0; k < unknowns; ++k) {
    double* const column = system.column(k);
    Offset pivot = k;
    double largest = 0;
    for (Offset i = k; i < unknowns; ++i) {
      const double size = column[i] < 0 ? -column[i] : column[i];
      if (size > largest) {
        largest = size;
        pivot = i;
      }
    }
    if (!(largest > smallest) || !is_finite(largest)) return k;
    if (pivot != k)
      for (Offset j = 0; j < unknowns + rights; ++j) {
        double* const other = system.column(j);
        const double swapped = other[k];
        other[k] = other[pivot];
        other[pivot] = swapped;
      }
    scale(1 / column[k], column + k + 1, unknowns - k - 1);
    for (Offset j = k + 1; j < unknowns + rights; ++j) {
      double* const other = system.column(j);
      if (other[k] != 0) add_multiple(-other[k], column + k + 1, other + k + 1, unknowns - k - 1);
    }
  }
  return unknowns;
}

/// Solves with the upper triangle for each right side.
inline void substitute(const Dense& system, Offset unknowns, Offset rights) {
  for (Offset r = 0; r < rights; ++r) {
    double* const right = system.column(unknowns + r);
    for (Offset k = unknowns - 1; k >= 0; --k) {
      right[k] /= system.column(k)[k];
      add_multiple_exactly(-right[k], system.column(k), right, k);
    }
  }
}

inline bool is_symmetric(const Dense& system, Offset unknowns) {
  for (Offset j = 0; j < unknowns; ++j)
    for (Offset i = 0; i < j; ++i)
      if (!(system.column(j)[i] == system.column(i)[j])) return false;
  return true;
}

// ---- spai

/// x . y, by four sums whatever the instruction set.
inline double dot(const double* x, const double* y, Offset count) {
  using Four = simd::WideSimd<double>;
  Four sums = 0;
  Offset i = 0;
  for (; i + 4 <= count; i += 4) sums = fused(simd::load_as<Four>(x + i), simd::load_as<Four>(y + i), sums);
  double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  for (; i < count; ++i) sum = __builtin_fma(x[i], y[i], sum);
  return sum;
}

/// Orthogonalizes the columns 0..unknowns, and `rights` more against them, each after the other: then a column is the
/// sum of earlier ones times what its column of `triangle` has. One that depends on the earlier ones has 0 there.
inline void orthogonalize(const Dense& columns, Offset rows, Offset unknowns, Offset rights, const Dense& triangle) {
  constexpr double rounding = 1e-13;
  for (Offset k = 0; k < unknowns; ++k) {
    double* const column = columns.column(k);
    double left = dot(column, column, rows), before = left;  // before the earlier ones' parts were taken away
    for (Offset j = 0; j < k; ++j) before += triangle.column(k)[j] * triangle.column(k)[j];
    left = __builtin_sqrt(left);
    const bool depends = !(left > rounding * __builtin_sqrt(before));
    triangle.column(k)[k] = depends ? 0 : left;
    scale(depends ? 0 : 1 / left, column, rows);
    for (Offset j = k + 1; j < unknowns + rights; ++j) {
      double* const other = columns.column(j);
      const double part = depends ? 0 : dot(column, other, rows);
      triangle.column(j)[k] = part;
      if (part != 0) add_multiple_exactly(-part, column, other, rows);
    }
  }
}

}  // namespace

template <class V, class R>
Failure factor_inverse(const Systems<V, R>& systems, Index begin, Index end, double* room) {
  for (Index group = begin; group < end; ++group) {
    const Index first = systems.groups.starts[group], rows = systems.groups.starts[group + 1] - first;
    const Offset from = systems.groups.offsets[first], unknowns = systems.groups.offsets[first + 1] - from;
    const Index* const list = systems.groups.columns + from;
    const Dense factor{room, leading_dimension(unknowns)};
    double* const inverses = factor.column(unknowns);
    double* const found = inverses + factor.leading;
    gather_lower(systems.matrix, list, unknowns, factor);
    const Offset bad = factorize(factor, unknowns, inverses);
    if (bad < unknowns) return {group, list[bad]};
    find_last_rows(factor, unknowns, inverses, rows, found);
    for (Index r = 0; r < rows; ++r)
      for (Offset i = 0; i < unknowns; ++i)
        systems.result[from + r * unknowns + i] = static_cast<R>(found[r * factor.leading + i]);
  }
  return {};
}

template <class V, class R>
Failure incomplete(const Systems<V, R>& systems, Index begin, Index end, double* room) {
  for (Index group = begin; group < end; ++group) {
    const Index first = systems.groups.starts[group], rows = systems.groups.starts[group + 1] - first;
    const Offset from = systems.groups.offsets[first], unknowns = systems.groups.offsets[first + 1] - from;
    const Index* const list = systems.groups.columns + from;
    const Dense system{room, leading_dimension(unknowns)};
    const double largest = gather_rows(systems.matrix, list, unknowns, system);
    if (!is_finite(largest)) return {group, first};
    const bool symmetric = unknowns == rows && is_symmetric(system, unknowns);
    const Offset own = find_first(list, 0, unknowns, first);
    clear(system.column(unknowns), system.leading * rows);
    for (Index r = 0; r < rows; ++r) system.column(unknowns + r)[own + r] = 1;
    constexpr double rounding = 1e-14;
    const Offset bad = eliminate(system, unknowns, rows, rounding * largest);
    if (bad < unknowns) return {group, list[bad]};
    substitute(system, unknowns, rows);
    for (Index r = 0; r < rows; ++r)
      for (Offset i = 0; i < unknowns; ++i) {
        const double value = system.column(unknowns + r)[i];
        const double mirror = symmetric ? system.column(unknowns + i)[r] : value;
        systems.result[from + r * unknowns + i] = static_cast<R>((value + mirror) / 2);
      }
  }
  return {};
}

template <class V, class R>
Failure least_squares(const Systems<V, R>& systems, Index group, const Index* places, Offset touched, double* room) {
  const Index first = systems.groups.starts[group], rows = systems.groups.starts[group + 1] - first;
  const Offset from = systems.groups.offsets[first], unknowns = systems.groups.offsets[first + 1] - from;
  const Index* const list = systems.groups.columns + from;
  const Dense columns{room, leading_dimension(touched)};
  const Dense triangle{columns.column(unknowns + rows), leading_dimension(unknowns)};
  clear(columns.elements, columns.leading * (unknowns + rows));
  clear(triangle.elements, triangle.leading * (unknowns + rows));
  for (Offset j = 0; j < unknowns; ++j)
    for (Offset entry = systems.matrix.offsets[list[j]]; entry < systems.matrix.offsets[list[j] + 1]; ++entry) {
      const auto value = static_cast<double>(systems.matrix.values[entry]);
      if (!is_finite(value)) return {group, list[j]};
      columns.column(j)[places[systems.matrix.columns[entry]]] = value;
    }
  for (Index r = 0; r < rows; ++r)
    if (const Index place = places[first + r]; place >= 0) columns.column(unknowns + r)[place] = 1;
  orthogonalize(columns, touched, unknowns, rows, triangle);
  for (Index r = 0; r < rows; ++r) {
    double* const right = triangle.column(unknowns + r);
    bool is_zero = true;
    for (Offset k = unknowns - 1; k >= 0; --k) {
      const double diagonal = triangle.column(k)[k];
      right[k] = diagonal == 0 ? 0 : right[k] / diagonal;
      is_zero = is_zero && right[k] == 0;
      add_multiple_exactly(-right[k], triangle.column(k), right, k);
    }
    if (is_zero) return {group, first + r};
    for (Offset i = 0; i < unknowns; ++i) systems.result[from + r * unknowns + i] = static_cast<R>(right[i]);
  }
  return {};
}

#define WEFT_INSTANTIATE_FOR(V, R)                                                    \
  template Failure factor_inverse<V, R>(const Systems<V, R>&, Index, Index, double*); \
  template Failure incomplete<V, R>(const Systems<V, R>&, Index, Index, double*);     \
  template Failure least_squares<V, R>(const Systems<V, R>&, Index, const Index*, Offset, double*);
#define WEFT_INSTANTIATE(V)      \
  WEFT_INSTANTIATE_FOR(V, float) \
  WEFT_INSTANTIATE_FOR(V, double)
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::precondition::WEFT_ISA_NAMESPACE
