#pragma once
#include "sparse/source_state.hpp"

// Facts about a matrix to plan from, found where the matrix is, when first needed, and kept with it.
namespace weft {

/// As analyze_rows.
template <Value V>
const RowLengths& row_lengths(const MatrixSource<V>& source);

/// The block size, as in Structure; sizes that a sample speaks against are not counted.
template <Value V>
const BlockFacts& blocks(const MatrixSource<V>& source);

/// Whether pattern and values are symmetric, as in Structure.
template <Value V>
const SymmetryFacts& symmetry(const MatrixSource<V>& source);

/// How many entries each column has.
template <Value V>
const Array<Index>& column_use(const MatrixSource<V>& source);

/// How products reach for rows and for x.
template <Value V>
const AccessFacts& access(const MatrixSource<V>& source);
/// The same for kernels on a CPU, sooner: a matrix on the host is sampled more thinly, and its slots are not counted.
template <Value V>
const AccessFacts& quick_access(const MatrixSource<V>& source);
/// The one of both that kernels on this device are predicted from.
template <Value V>
const AccessFacts& access_for(Device device, const MatrixSource<V>& source) {
  return device.is_cpu() ? quick_access(source) : access(source);
}

/// What balls of about `nodes` nodes of `block` rows have for neighbours. Square matrices; not kept.
template <Value V>
BallFacts balls(const MatrixSource<V>& source, int block, Index nodes);

}  // namespace weft
