#pragma once
#include <weft/coo.hpp>

#include "io/matrix_market_header.hpp"

namespace weft::io {

/// Adds to every entry off the diagonal its mirror image, right behind it: entries that stand in order of rows or of
/// columns are then, row by row, in order again. `skew` gives the mirror image the other sign.
template <Value V>
Coo<V> add_mirror_images(const Coo<V>& half, bool skew);

/// The matrix whose values an array file stores, without its zeros.
template <Value V>
Csr<V> array_to_csr(const Array<V>& stored, const MatrixMarketHeader& header);

}  // namespace weft::io
