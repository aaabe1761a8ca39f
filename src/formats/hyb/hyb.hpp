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

/// What a hybrid is made of: `ell` multiplies the first k entries of each row, and `coo` adds the rest.
struct Parts {
  const Format& ell;  ///< takes "width", the k, and "padding"
  const Format& coo;
  std::map<std::string, std::int64_t> ell_parameters = {};
  bool tells_details = false;  ///< info says what `ell` says of itself
};

/// Cuts at the user's k, or else at split_width. Throws Error(unsupported) when ell refuses a user's k.
template <Value V>
std::unique_ptr<Operator<V>> build_hybrid(const Csr<V>& matrix, const BuildOptions& options, const Parts& parts);

ParameterInfo k_parameter(const std::string& ell);

/// The reasons why a hybrid would be one of its parts, or slower than csr.
std::string rules_out(const RowLengths& rows, Device device, const Parts& parts);

}  // namespace weft::hyb
