#pragma once
#include <weft/types.hpp>

#include <cstddef>

#include "core/host_device.hpp"
#include "core/isa.hpp"

// The small dense systems that the rows of a sparse approximate inverse are found by.
//
// Rows of the inverse come in groups, those of a node: neighbours that have the same columns, the unknowns of the
// group's system. cpu.cpp solves them on a CPU, compiled once per instruction set, and gpu.cu those of fsai on a GPU, a
// block of threads per system. Each element of a system is computed by the same operations in the same order
// everywhere, products are added by fused multiply-add everywhere, and always in f64: so are the bits the same.
namespace weft::precondition {

/// The matrix, as csr has it.
template <class V>
struct Entries {
  const Offset* offsets;
  const Index* columns;
  const V* values;
};

/// The pattern of the inverse: group g has the rows starts[g] to starts[g + 1], which have the same columns. These are
/// ascending, and the rows themselves are among them; in fsai they are the last ones.
struct Groups {
  const Index* starts;
  const Offset* offsets;
  const Index* columns;
};

/// V: what the matrix is stored in. R: what the inverse is stored in.
template <class V, class R = V>
struct Systems {
  Entries<V> matrix;
  Groups groups;
  R* result;  ///< the values of the inverse, in the order of `groups`
};

/// Which group could not be solved, and which row of the matrix showed it.
struct Failure {
  Index group = -1;
  Index row = -1;
};

/// Where an element of a row of the matrix is looked up by binary search rather than met on the way: in rows of more
/// than this many entries per unknown.
inline constexpr Offset long_row_factor = 16;

/// Between the columns of a dense matrix with so many rows: room for the widest vector after the last of them, and no
/// large power of two, which would put a row's elements into few places of a cache.
inline Offset leading_dimension(Offset rows) {
  const Offset padded = (rows + 7) / 8 * 8 + 8;
  return padded % 64 == 0 ? padded + 8 : padded;
}

/// Elements of f64 that a system needs: fsai with so many unknowns and rows, ...
inline std::size_t factor_room(Offset unknowns, Offset rows) {
  return static_cast<std::size_t>(leading_dimension(unknowns) * (unknowns + rows + 1));
}
/// ... isai, ...
inline std::size_t incomplete_room(Offset unknowns, Offset rows) {
  return static_cast<std::size_t>(leading_dimension(unknowns) * (unknowns + rows));
}
/// ... and spai, whose unknowns' rows have entries in so many columns.
inline std::size_t least_squares_room(Offset unknowns, Offset rows, Offset touched) {
  return static_cast<std::size_t>((leading_dimension(touched) + leading_dimension(unknowns)) * (unknowns + rows));
}

// Each solves the groups begin..end, one after the other, and returns at the first that cannot be solved. `room` is
// large enough for each of them.
//
//   factor_inverse    fsai: the rows of the group of the inverse of the system's Cholesky factor
//   incomplete        isai: M A = I at the unknowns, by LU with partial pivoting; symmetric where a group's system is
//                     that of its own rows and symmetric
//   least_squares     spai: one group, by the modified Gram-Schmidt method; `places[column]` is where a column that the
//                     system touches is among the `touched` ones. Unknowns that depend on others are 0.
// clang-format off
WEFT_FOR_EACH_ISA(
    template <class V, class R> Failure factor_inverse(const Systems<V, R>& systems, Index begin, Index end, double* room);
    template <class V, class R> Failure incomplete(const Systems<V, R>& systems, Index begin, Index end, double* room);
    template <class V, class R> Failure least_squares(const Systems<V, R>& systems, Index group, const Index* places,
                                             Offset touched, double* room);)
// clang-format on

}  // namespace weft::precondition
