#pragma once
#include <weft/csr.hpp>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "papers.hpp"

// What Chen (2022) measures of EHYB, on matrices and devices of today.
namespace weft::bench {

/// Names of the matrices of the paper's Table 3, as their collection spells them.
const std::vector<std::string>& ehyb_matrices();

/// The name in that table of a file, by the stem of its name; empty: the table does not have it.
std::string find_ehyb_matrix(const std::string& source);

/// What to measure: a folder stands for the files in it that the table names, in the table's order; without any source
/// generated matrices of the table's kinds, as large as `device` needs. Throws Error(io) for a folder without any.
std::vector<std::string> ehyb_sources(const std::vector<std::string>& given, Device device);

/// What ehyb is compared with on `device`: algorithms for csr, ours and those of a peer, none of which prepares more
/// than a search.
std::vector<std::string> ehyb_rivals(Device device);

/// Set-up in the paper's two parts (Figure 6). Reordering is all but partitioning and moving the matrix to the device.
struct EhybPreparation {
  double partition_seconds = 0, reorder_seconds = 0;
  double product_seconds = 0;

  double partition_products() const { return partition_seconds / product_seconds; }
  double reorder_products() const { return reorder_seconds / product_seconds; }
};

/// What is measured: ehyb, ehyb:guests=0 (the paper's form) and their rivals.
struct EhybCase : PaperCase {
  std::optional<EhybPreparation> preparation(const std::string& form) const;
};

/// The forms of ehyb: ours, and the paper's, where a part caches its own x only.
inline const std::vector<std::string> ehyb_forms = {"ehyb", "ehyb:guests=0"};

/// Peers that are not there are added to `notes`, once.
template <Value V>
EhybCase run_ehyb_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                       std::vector<std::string>& notes);

/// The paper's row for a rival, on a V100; none where it has no such rival. Table 2 does not tell the percentage, but
/// the text does: all.
std::optional<Speedup> paper_speedup(ValueType type, const std::string& rival);

nlohmann::ordered_json to_json(const EhybCase& one);
/// All rows of Tables 1 and 2 that can be filled, the paper's beside.
nlohmann::ordered_json summary_json(const std::vector<EhybCase>& cases, Device device);

/// Measures, and fills the paper's tables and figures.
PaperResult run_paper_ehyb(const PaperRun& paper);

}  // namespace weft::bench
