#pragma once
#include <weft/csr.hpp>
#include <weft/export.hpp>
#include <weft/runtime.hpp>

#include <string>
#include <vector>

namespace weft {

/// One kind of matrix `generate` can make, for help texts.
struct Generator {
  std::string name;       ///< "poisson3d"
  std::string arguments;  ///< "N[:NY:NZ]", after a colon; "[:ROWS]" where all may be left out
  std::string summary;    ///< one line
  std::string example;    ///< "gen:poisson3d:30"
};
WEFT_API const std::vector<Generator>& generators();

/// True for "gen:..." and "fem:...".
WEFT_API bool is_generator(const std::string& source);

/// Makes the matrix `source` names, the same bits on every machine and for every number of threads, with the mark of a
/// symmetric matrix where the generator makes only such.
/// Throws Error(invalid_argument) for an unknown name or bad arguments, listing what there is; Error(unsupported) when
/// the result would pass 2^31-1 rows or columns; Error(out_of_memory) when this machine has less memory than the matrix
/// takes; Error(cancelled) when `progress` says so; for fem: the mesh reader's Error(parse), Error(io), or
/// Error(unsupported) for a binary file or another version.
template <Value V>
WEFT_API Csr<V> generate(const std::string& source, const Progress& progress = {});

}  // namespace weft
