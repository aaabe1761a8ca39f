#include <weft/plan.hpp>

#include <cstdio>
#include <ostream>

namespace weft {
namespace {

/// "12.3 ms", "4.56 us": three digits and the unit that suits.
std::string duration(double seconds) {
  struct Unit {
    double size;
    const char* name;
  };
  constexpr Unit units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
  Unit chosen = units[3];
  for (const Unit& unit : units)
    if (seconds >= unit.size) {
      chosen = unit;
      break;
    }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", seconds / chosen.size, chosen.name);
  return text;
}

std::string fixed(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const PlanInfo& info) {
  out << info.format << " on " << info.device.name() << ", " << to_string(info.type) << ", " << info.rows << " x "
      << info.cols << ", " << info.nonzeros << " nonzeros\n";
  if (info.ordering != Ordering::none)
    out << "  in the order " << to_string(info.ordering) << ", found in " << duration(info.setup.order) << "\n";
  if (!info.details.empty()) out << "  " << info.details << "\n";
  if (!info.recipe.empty()) out << "  recipe " << info.recipe << "\n";
  out << "  " << fixed(static_cast<double>(info.bytes) / 1e6, 1) << " MB, " << fixed(info.bytes_per_nonzero, 2)
      << " bytes/nonzero";
  if (info.padding > 0)
    out << " with "
        << fixed(100 * static_cast<double>(info.padding) / std::max(1.0, static_cast<double>(info.nonzeros)), 1)
        << " % padding";
  out << (info.transpose ? " (with the transposed matrix)" : "") << ", "
      << (info.deterministic ? "deterministic" : "not deterministic") << "\n";
  out << "  set-up " << duration(info.setup.total());
  if (info.setup.partition > 0) out << " (" << duration(info.setup.partition) << " of it for the parts)";
  out << ", planning " << duration(info.planning_seconds);
  if (info.product_seconds > 0) out << ", one product " << duration(info.product_seconds);
  out << "\n";
  if (info.remembered) out << "  chosen as before on this machine; nothing was tried again\n";

  double csr_seconds = 0, csr_setup = 0;
  for (const Candidate& candidate : info.candidates)
    if (candidate.format == "csr") {
      csr_seconds = candidate.product_seconds;
      csr_setup = candidate.setup_seconds;
    }
  if (info.product_seconds > 0 && csr_seconds > info.product_seconds)
    out << "  pays off against csr after "
        << fixed(std::max(0.0, info.setup.total() - csr_setup) / (csr_seconds - info.product_seconds), 0)
        << " products\n";
  for (const Candidate& candidate : info.candidates) {
    out << "  tried " << candidate.format << ": ";
    if (candidate.product_seconds > 0) out << duration(candidate.product_seconds) << " per product, ";
    if (candidate.built) out << "set-up " << duration(candidate.setup_seconds) << "; ";
    out << candidate.verdict << "\n";
  }
  return out;
}

}  // namespace weft
