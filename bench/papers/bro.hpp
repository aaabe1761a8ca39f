#pragma once
#include <weft/csr.hpp>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "papers.hpp"

// What Tang et al. (SC'13) measure of the BRO formats, on matrices of today.
namespace weft::bench {

/// A matrix of the paper's Table 2, with what Tables 3 to 5 say about it.
struct PaperMatrix {
  const char* name;
  int set;                          ///< the paper's test set: 1 for bro-ell, 2 for bro-hyb
  double eta;                       ///< Table 3 or 4: space savings of bro-ell or bro-hyb, in percent
  std::optional<double> eta_bar;    ///< Table 5: those of bro-ell after bar
  std::optional<double> ell_share;  ///< Table 4: of the entries, in percent, that bro-hyb has in bro-ell
  const char* source = "";          ///< what generates its pattern here; empty: nothing does
};

const std::vector<PaperMatrix>& bro_matrices();

/// The paper's entry for a file or a generator: by the stem of the file's name, or by what generates it. Null: none.
const PaperMatrix* find_bro_matrix(const std::string& source);

/// What to measure: a folder stands for the files in it that the paper names; without any source, what generates a
/// matrix of the paper. Throws Error(io) for a folder without any.
std::vector<std::string> bro_sources(const std::vector<std::string>& given);

/// Space savings in percent, as the paper counts them: what is left of the index arrays that ell and hyb have.
struct BroSavings {
  double ell = 0;        ///< bro-ell over ell
  double hyb = 0;        ///< bro-hyb over hyb
  double coo = 0;        ///< the row numbers of bro-coo over those of coo
  double ell_share = 0;  ///< of the entries, in percent, that hyb and bro-hyb keep in their ell part
};

template <Value V>
BroSavings bro_savings(const Csr<V>& matrix);

/// One ordering of a matrix: the savings and the speed of bro-ell after it.
struct BroOrdering {
  std::string name;
  std::string failure;  ///< why there is none; else empty
  double seconds = 0;   ///< finding the order and permuting
  double eta = 0;
  Measurement bro_ell;
};

struct BroCase {
  const PaperMatrix* paper = nullptr;  ///< null: the paper does not know the matrix
  BroSavings savings;
  Case formats;  ///< ell, ell:r, bro-ell, coo, bro-coo, hyb and bro-hyb in the matrix's own order
  std::vector<BroOrdering> orderings;

  const Measurement* find(const std::string& name) const { return find_measured(formats, name); }
  bool correct() const;  ///< all that was measured
};

template <Value V>
BroCase run_bro_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options);

/// Figure 3: a dense matrix whose column numbers are given more bits than they need.
struct BroSweepPoint {
  int bits = 0;
  double eta = 0;  ///< percent
  Timing timing;
};
struct BroSweep {
  ValueType type = ValueType::f64;
  Index rows = 0;
  Index cols = 0;
  Timing ell = {};
  std::vector<BroSweepPoint> points = {};

  double gflops(const Timing& timing) const;
};

template <Value V>
BroSweep run_bro_sweep(const RunOptions& options);

nlohmann::ordered_json to_json(const BroCase& one);
nlohmann::ordered_json to_json(const BroSweep& sweep);

/// Measures, and fills the paper's tables and figures.
PaperResult run_paper_bro(const PaperRun& paper);

}  // namespace weft::bench
