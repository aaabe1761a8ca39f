#pragma once
#include <array>
#include <string>
#include <vector>

#include "papers.hpp"

// What Yang, Li and Li (2017) measure of BCE, rows of similar length in blocks, on matrices and devices of today.
namespace weft::bench {

/// The columns of the paper's tables.
enum class BceColumn { bce, bsr, hyb, ell, coo, csr };
inline constexpr std::array<BceColumn, 6> bce_columns = {BceColumn::bce, BceColumn::bsr, BceColumn::hyb,
                                                         BceColumn::ell, BceColumn::coo, BceColumn::csr};
const char* to_string(BceColumn column);

/// Numbers a column; 0 is the paper's NA.
using BceNumbers = std::array<double, 6>;

/// What the paper prints of a matrix in one precision, measured on a K20c; MKL on two Opteron 6376.
struct BcePaperTimes {
  BceNumbers product;         ///< Table 3, milliseconds
  BceNumbers solving;         ///< Table 5, seconds: transformation and all products of a solver
  BceNumbers transformation;  ///< Table 7, milliseconds; csr has none
  double mkl;                 ///< Table 8, seconds
  double transmission_and_all;
};

/// A matrix of the paper's Table 2. Of a symmetric one the paper took a triangle only: `nonzeros` and `widest_row`
/// are of that, and so are its times.
struct BcePaperMatrix {
  const char* name;
  Index rows;
  Offset widest_row;
  Offset nonzeros;
  int iterations;  ///< Table 5: of a solver
  BcePaperTimes f32, f64;

  const BcePaperTimes& times(ValueType type) const { return type == ValueType::f32 ? f32 : f64; }
};

const std::vector<BcePaperMatrix>& bce_matrices();
const BcePaperMatrix* find_bce_matrix(const std::string& source);  ///< null: the paper does not have it

/// A folder stands for the files in it that Table 2 names; without any source generated matrices of the paper's kinds,
/// as large as `device` needs. Throws Error(io) for a folder without any.
std::vector<std::string> bce_sources(const std::vector<std::string>& given, Device device);

/// Whose numbers a row has: those of the paper's formats here, of cuSPARSE here, or the paper's.
enum class BceBy { weft, cusparse, paper };
inline constexpr std::array<BceBy, 3> bce_rows = {BceBy::weft, BceBy::cusparse, BceBy::paper};

/// What bce's partition of the rows comes to on the device (sections 4 and 5 of the paper).
struct BceBlocks {
  Offset widest_row = 0;
  std::size_t blocks = 0;
  std::int64_t padding = 0;  ///< entries
  double model_gain = 1;     ///< modelled cost of plain ell / that of the blocks
};

struct BceCase : PaperCase {
  const BcePaperMatrix* paper = nullptr;
  BceBlocks blocks = {};

  int iterations() const;                                                  ///< the paper's, or else about its median
  std::optional<double> product(BceBy by, BceColumn column) const;         ///< Table 3, seconds
  std::optional<double> transformation(BceBy by, BceColumn column) const;  ///< Table 7: set-up but the upload
  std::optional<double> solving(BceBy by, BceColumn column) const;         ///< Table 5
  std::optional<double> cpu_seconds(BceBy by) const;                       ///< Table 8: a product on the CPU
  std::optional<double> total_seconds(BceBy by) const;  ///< Table 8: upload, transformation and product of bce

  /// Tables 4 and 6: by how much less time bce takes, in percent. cuSPARSE is compared with our bce.
  using Seconds = std::optional<double> (BceCase::*)(BceBy, BceColumn) const;
  std::optional<double> improvement(Seconds seconds, BceBy by, BceColumn over) const;
};

/// (slow - fast) / slow in percent, as the paper counts.
double improvement_percent(double slow, double fast);

/// The paper's mean over all its matrices, as its text has it: Table 4.
std::optional<double> paper_mean_improvement(ValueType type, BceColumn over);

template <Value V>
BceCase run_bce_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                     std::vector<std::string>& notes);

nlohmann::ordered_json to_json(const BceCase& one);

/// Measures, and fills the paper's tables and figures.
PaperResult run_paper_bce(const PaperRun& paper);

}  // namespace weft::bench
