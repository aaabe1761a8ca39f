#pragma once
#include <array>
#include <string>
#include <vector>

#include "papers.hpp"

// What Anzt, Tomov and Dongarra (2014) measure of SELL-P, on matrices and devices of today.
namespace weft::bench {

/// The kernels of the paper's Table III; and `chosen`, sell with the numbers we choose, and ell:rt, whose library gave
/// the authors wrong results.
enum class SellpKernel { cpu, csr, ell, sellp, chosen, ellrt, cusparse, hyb };
inline constexpr std::array<SellpKernel, 8> sellp_kernels = {
    SellpKernel::cpu,    SellpKernel::csr,   SellpKernel::ell,      SellpKernel::sellp,
    SellpKernel::chosen, SellpKernel::ellrt, SellpKernel::cusparse, SellpKernel::hyb};
const char* paper_title(SellpKernel kernel);  ///< as the paper calls it, or we

/// What stands for a kernel on a device: a format or a peer; empty where nothing does. On the CPU that of `cpu` is
/// found by PaperCase::fastest_on_cpu.
std::string sellp_name(SellpKernel kernel, Device device);

/// A matrix of the paper: Table I, and Table III in seconds, f64 on a K40c (MKL on two Xeon E5-2670).
struct SellpPaperMatrix {
  const char* name;
  Index rows;
  Offset nonzeros;
  std::array<double, 6> seconds;  ///< MKL-CSR, CSR, ELLPACK, SELL-P, CUSPARSE-CSR, CUSPARSE-HYB

  std::optional<double> time(SellpKernel kernel) const;
};

const std::vector<SellpPaperMatrix>& sellp_matrices();
const SellpPaperMatrix* find_sellp_matrix(const std::string& source);  ///< null: the paper does not have it

/// A folder stands for the files in it that Table I names; without any source generated matrices of the paper's kinds,
/// as large as `device` needs. Throws Error(io) for a folder without any.
std::vector<std::string> sellp_sources(const std::vector<std::string>& given, Device device);

/// Entries that slices of b rows store besides the matrix's own when widths are multiples of t; the last slice has b
/// rows, too. b = rows and t = 1 is ELLPACK.
std::int64_t sliced_padding(std::span<const Offset> offsets, Index b, Index t);

struct SellpCase : PaperCase {
  const SellpPaperMatrix* paper = nullptr;
  Device device = Device::cpu();
  std::int64_t ell_padding = 0, sell_padding = 0, sellp_padding = 0;  ///< ELLPACK; b = 8; b = t = 8

  const Measurement* kernel(SellpKernel which) const;  ///< null when it was not measured
  std::optional<double> time(SellpKernel which) const;
};

template <Value V>
SellpCase run_sellp_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                         std::vector<std::string>& notes);

/// How many times faster than a kernel `form` is, SellpKernel::sellp or ::chosen.
std::optional<Speedup> sellp_speedup(const std::vector<SellpCase>& cases, ValueType type, SellpKernel form,
                                     SellpKernel rival);
/// The same of the paper's SELL-P, from its Table III; none for a kernel it has not.
std::optional<Speedup> paper_sellp_speedup(SellpKernel rival);

nlohmann::ordered_json to_json(const SellpCase& one);
nlohmann::ordered_json summary_json(const std::vector<SellpCase>& cases);

/// Measures, and fills the paper's tables and figures.
PaperResult run_paper_sellp(const PaperRun& paper);

}  // namespace weft::bench
