#pragma once
#include <weft/csr.hpp>
#include <weft/runtime.hpp>

#include <string>
#include <vector>

namespace weft {

/// One kind of matrix `generate` can make, for help texts.
struct Generator {
  std::string name;       ///< "poisson3d"
  std::string arguments;  ///< "N[:NY:NZ]"
  std::string summary;    ///< one line
  std::string example;    ///< "gen:poisson3d:100"
};
const std::vector<Generator>& generators();

/// True for "gen:..." and "fem:...".
bool is_generator(const std::string& source);

/// Makes the matrix `source` names, the same bits on every machine and for every number of threads.
/// Throws Error(invalid_argument) for an unknown name or bad arguments, listing what there is; Error(unsupported) when
/// the result would pass 2^31-1 rows or columns; for fem: the mesh reader's Error(parse) or Error(io).
template <Value V>
Csr<V> generate(const std::string& source, const Progress& progress = {});

}  // namespace weft
