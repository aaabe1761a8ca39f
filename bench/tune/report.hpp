#pragma once
#include <string>
#include <vector>

#include "tune.hpp"

/// What `weft tune-kernels` shows.
namespace weft::bench {

/// A matrix that settings were measured on.
struct MatrixFacts {
  std::string source;
  std::int64_t rows = 0, cols = 0, nonzeros = 0;
};

/// What was found for one value type.
struct Tuned {
  ValueType type = ValueType::f64;
  Grid grid;
  Search search;
};

struct TuneReport {
  Device device;
  std::string device_name;
  double seconds = 0;  ///< the parameters of the run
  int groups = 0;
  std::uint64_t seed = 0;
  bool joint = false;
  std::vector<MatrixFacts> matrices;
  std::vector<Tuned> tuned;  ///< f32 before f64, as in the paper's Table 1
};

/// The curves of the paper's Figures 7 and 8 and the parameters as in its Table 1, as tables.
std::string tune_text(const TuneReport& report);
std::string tune_json(const TuneReport& report);

/// The speed over each parameter, a chart each.
std::string tune_svg(const TuneReport& report);

/// The settings whose products were wrong, in words; empty when all are right.
std::string wrong_settings(const TuneReport& report);

}  // namespace weft::bench
