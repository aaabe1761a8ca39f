#pragma once
#include <array>
#include <string>
#include <vector>

#include "papers.hpp"

// What Liu and Vinter (2015) measure of the speculative segmented sum, on matrices and devices of today.
namespace weft::bench {

/// A matrix of the paper's Table 3, as far as that prints it: 36 K, 4.3 M.
struct SpecsumPaperMatrix {
  const char* title;   ///< as the paper calls it
  const char* name;    ///< as its collection does
  const char* source;  ///< what generates its pattern here; empty: nothing does
  const char* rows;
  const char* cols;
  const char* nonzeros;
  const char* lengths;  ///< of rows: smallest, mean, largest
};

const std::vector<SpecsumPaperMatrix>& specsum_matrices();

/// By the stem of a file's name or by what generates it. Null: the paper does not have it.
const SpecsumPaperMatrix* find_specsum_matrix(const std::string& source);

/// A folder stands for the files in it that Table 3 names; without any source those of the table that can be generated,
/// and some of the kinds of the others, as large as `device` needs. Throws Error(io) for a folder without any.
std::vector<std::string> specsum_sources(const std::vector<std::string>& given, Device device);

/// The format the paper is about on `device`: csr:speculative, or csr on a CPU, which takes equal shares, too.
std::string specsum_subject(Device device);

/// What it is compared with on `device`: other ways to multiply with csr, ours and cuSPARSE's.
std::vector<std::string> specsum_rivals(Device device);

struct SpecsumCase : PaperCase {
  const SpecsumPaperMatrix* paper = nullptr;
  Offset shortest_row = 0, longest_row = 0;
  Index empty_rows = 0;
  std::optional<Case> one_thread = {};  ///< csr on one thread of the CPU

  std::optional<double> cpu_seconds() const;  ///< of the fastest there
  std::optional<double> one_thread_seconds() const;
  double gflops(double seconds) const;
  /// Bytes a second as the paper counts them: csr once, y once, and an element of x for every entry.
  std::optional<double> bandwidth(const std::string& name) const;
};

template <Value V>
SpecsumCase run_specsum_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                             std::vector<std::string>& notes);

/// Rivals that are no format or peer of the device.
inline const std::string cpu_rival = "fastest on the CPU", one_thread_rival = "csr on one CPU thread";

/// Those of the summary: formats and peers, the CPU beside another device, and one thread of it.
std::vector<std::string> specsum_summary_rivals(Device device);

std::optional<Speedup> specsum_speedup(const std::vector<SpecsumCase>& cases, ValueType type,
                                       const std::string& subject, const std::string& rival);

/// What the paper's text says of one of its three processors; a number it does not tell is 0.
struct SpecsumPaperSpeedup {
  const char* processor;
  double max, mean;
};
inline constexpr std::array<const char*, 3> specsum_processors = {"HD 5500", "A10-7850K", "Tegra K1"};

/// Its speed-ups over a rival of ours that is like one of its own; none where there is none.
std::vector<SpecsumPaperSpeedup> paper_specsum_speedups(ValueType type, const std::string& rival);

nlohmann::ordered_json to_json(const SpecsumCase& one);
nlohmann::ordered_json summary_json(const std::vector<SpecsumCase>& cases, Device device);

/// Measures, and fills the paper's tables and figures.
PaperResult run_paper_specsum(const PaperRun& paper);

}  // namespace weft::bench
