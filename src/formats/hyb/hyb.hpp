#pragma once
#include "formats/registry.hpp"

namespace weft::hyb {

const Format& format();

/// Where hyb cuts the rows: the fewest entries k such that fewer than a third of the rows are longer (Bell and
/// Garland). At least a third of the rows then fill the k columns, so that no more than two thirds of them are padding.
Index split_width(const RowLengths& rows);

/// The matrix without the first `width` entries of each row.
template <Value V>
Csr<V> rest_behind(const Csr<V>& matrix, Index width);

}  // namespace weft::hyb
