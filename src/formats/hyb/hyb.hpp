#pragma once
#include "formats/registry.hpp"

namespace weft::hyb {

const Format& format();

/// Where hyb cuts the rows: the fewest entries k such that fewer than a third of the rows are longer (Bell and
/// Garland). At least a third of the rows then fill the k columns, so that no more than two thirds of them are padding.
Index split_width(const RowLengths& rows);

/// The matrix without the first `width` entries of each row.
template <Value V>
Csr<V> rest_after(const Csr<V>& matrix, Index width);

/// The formats that make a hybrid: `ell` multiplies the first k entries of each row, and `coo` adds the rest.
struct Parts {
  const Format& ell;
  const Format& coo;
  bool reports_details = false;  ///< info includes what `ell` reports of itself
  std::string ell_number;        ///< the parameter of `ell` that the hybrid has too
  std::string coo_number = {};   ///< and that of `coo`; empty: none
};

/// Makes an operator of the first `width` entries of each row.
template <class V>
using PartBuilder = std::unique_ptr<Operator<V>> (*)(const MatrixSource<V>& source, Index width,
                                                     const BuildOptions& options);

/// Cuts at the user's k, or else at split_width. `build_ell` is that of parts.ell. The parts get those of the user's
/// parameters that `parts` names. Throws Error(unsupported) when it refuses a user's k.
template <Value V>
std::unique_ptr<Operator<V>> build_hybrid(const MatrixSource<V>& source, const BuildOptions& options,
                                          const Parts& parts, PartBuilder<V> build_ell);

ParameterInfo k_parameter(const std::string& ell);

}  // namespace weft::hyb
