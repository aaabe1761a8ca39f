#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/harness/result.hpp"

/// The numbers behind the charts of `weft report`.
namespace weft::bench {

/// A format or peer that charts show, always in the same colour and with the same mark.
struct Entrant {
  std::string name;
  bool peer = false;
  int style = 0;  ///< 0..7; -1 for one that is not among the chosen

  static constexpr int styles = 8;
};

/// The measurement of that name that may be compared with others; null when there is none.
const Measurement* find_counting(const Case& one, std::string_view name);

/// The fastest that may be compared; null when there is none.
const Measurement* fastest_of(const Case& one);

/// At most Entrant::styles names, ours before peers: csr, and those closest to the fastest over all cases, the best of
/// each format before other variants of it, and some peers.
std::vector<Entrant> choose_entrants(const std::vector<Case>& cases);

/// How many names have a result, and so how many more there are than a chart shows.
std::size_t count_names(const std::vector<Case>& cases);

/// Share of the cases on which `name` takes at most `factor` times as long as the fastest of all. A name that failed
/// or was wrong on a case is not within any factor there; cases without any result do not count.
double profile_share(const std::vector<const Case*>& cases, const std::string& name, double factor);

/// The factors within `limit` at which that share rises, ascending, with the share from there on.
std::vector<std::pair<double, double>> profile_steps(const std::vector<const Case*>& cases, const std::string& name,
                                                     double limit);

/// What products cost from the matrix on: set-up, a first product that may take longer, then equal ones.
struct Cost {
  std::string name;
  double start = 0;  ///< seconds until the first product is there
  double each = 0;   ///< seconds for each further one

  double total(double products) const { return start + each * (products - 1); }
};
Cost cost_of(const Measurement& m);

/// Who is the fastest from how many products on.
struct Lead {
  std::string name;
  double from = 1;
  bool operator==(const Lead&) const = default;
};

/// Ascending, the first from 1 product on; those that would lead after 10^12 products only are left out.
std::vector<Lead> leads(const std::vector<Cost>& costs);

/// Flops for each byte that csr with 32-bit columns and offsets reads and writes, x and y once.
double csr_intensity(const Case& one);

}  // namespace weft::bench
