#pragma once
#include <string>
#include <vector>

namespace weft::bench {

struct ConvergenceLine {
  std::string name = {};               ///< for the key; empty where there is one line only
  std::vector<double> residuals = {};  ///< relative to |b|: at the start, and after each iteration
};

struct ConvergencePicture {
  std::string title = {};
  std::string subtitle = {};
  double tolerance = 0;  ///< of the relative residual; 0: no line for it
  std::vector<ConvergenceLine> lines = {};
};

/// The residual, on a logarithmic axis, over the iterations: a complete SVG document. Residuals that are zero or not
/// finite leave a gap.
std::string convergence_svg(const ConvergencePicture& picture);

}  // namespace weft::bench
