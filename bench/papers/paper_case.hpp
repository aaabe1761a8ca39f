#pragma once
#include <weft/csr.hpp>

#include <algorithm>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/harness/run.hpp"
#include "paper_solves.hpp"

// What the tables of all papers need: matrices known by their names, what is measured on one of them, and how many
// times faster one is than another.
namespace weft::bench {

/// "cant" of "folder/cant.mtx.gz"; empty for a generator.
std::string stem_of(const std::string& source);

/// The name of a file's matrix if it is one of `names`, else empty.
std::string find_name(const std::vector<std::string>& names, const std::string& source);

/// A folder stands for the files in it that `names` has, in their order; everything else stays as it is. Throws
/// Error(io) for a folder without any; `table` says where the paper lists its names.
std::vector<std::string> expand_folders(const std::vector<std::string>& given, const std::vector<std::string>& names,
                                        const std::string& table);

/// Null unless it was measured, and took time.
const Measurement* find_measured(const Case& one, const std::string& name);

/// One matrix of a paper, or like those of a paper.
struct PaperCase {
  std::string paper_name = {};             ///< empty: the paper does not know the matrix
  Case formats = {};                       ///< what was measured on the device
  std::optional<Case> cpu = {};            ///< csr and other libraries on the CPU, if the device is another one
  std::optional<PaperSolves> solves = {};  ///< with --solve

  const Measurement* find(const std::string& name) const { return find_measured(formats, name); }
  /// The fastest of csr and the libraries on the CPU, as the papers compare with the best there is.
  const Measurement* fastest_on_cpu() const;
  bool correct() const;  ///< all that is ours
};

/// The libraries that are compared with on a CPU, where they are there: as --peers names them.
inline constexpr const char* cpu_libraries = "mkl,eigen";

/// Measures what `names` has, formats and peers, on the device of `options`; then, if asked to, the CPU. Peers that are
/// not there are added to `notes`, once.
template <Value V>
PaperCase run_paper_case(const std::string& source, const Csr<V>& matrix, const std::vector<std::string>& names,
                         bool beside_cpu, const RunOptions& options, std::vector<std::string>& notes);

/// Of these names, those that `device` has: a format's variant may be for GPUs only. Peers stay.
std::vector<std::string> available_on(Device device, const std::vector<std::string>& names);

/// How many times faster than a rival, over all matrices that both were measured on.
struct Speedup {
  double faster_percent = 0;  ///< of the matrices
  double max = 0, min = 0, mean = 0;
  int matrices = 0;
};

/// None without a ratio.
std::optional<Speedup> speedup_of(std::span<const double> ratios);

/// `time` gives the seconds of a case, or nothing: speedup_over(cases, theirs, ours) over the cases that have both.
template <class C, class Theirs, class Ours>
std::optional<Speedup> speedup_over(const std::vector<C>& cases, Theirs&& theirs, Ours&& ours) {
  std::vector<double> ratios;
  for (const C& one : cases) {
    const std::optional<double> slow = theirs(one), fast = ours(one);
    if (slow && fast && *fast > 0) ratios.push_back(*slow / *fast);
  }
  return speedup_of(ratios);
}

/// How many times faster than `rival` the format `form` is, in one value type.
template <class C>
std::optional<Speedup> speedup_over(const std::vector<C>& cases, ValueType type, const std::string& form,
                                    const std::string& rival) {
  const auto seconds_of = [type](const std::string& name) {
    return [type, &name](const C& one) {
      const Measurement* m = one.formats.type == type ? one.find(name) : nullptr;
      return m ? std::optional(m->timing.median) : std::nullopt;
    };
  };
  return speedup_over(cases, seconds_of(rival), seconds_of(form));
}

nlohmann::ordered_json to_json(const Speedup& speedup);
nlohmann::ordered_json or_null(const std::optional<double>& value);
/// The case of the device with `paper_name` and `cpu`, each null where there is none.
nlohmann::ordered_json to_json(const PaperCase& one);

}  // namespace weft::bench
