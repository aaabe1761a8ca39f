#pragma once
#include <string>
#include <vector>

namespace weft::bench {

/// "quick", "cpu", "gpu" and "real".
const std::vector<std::string>& suite_names();

/// The matrices of a suite. quick, cpu and gpu are generated ones: a minute on two cores, larger than a CPU's caches,
/// larger than a GPU's. A folder adds its meshes (.msh, .msh.gz, .msh.xz) to gpu, each with both equations. `real` is
/// made of the matrix files in the folder: those its INDEX.tsv names in the column `file` (a line of titles first;
/// sizes from `nnz_expanded`, `nonzeros` or `nnz`; those below 10,000 only if there are no others), or without one all
/// that end as matrix files do; of these `count`, spread evenly from the smallest to the largest. Throws Error(io) when
/// the folder or its index cannot be read or names nothing, Error(parse) for an index without the column `file`.
std::vector<std::string> suite_sources(const std::string& suite, const std::string& folder, int count);

}  // namespace weft::bench
