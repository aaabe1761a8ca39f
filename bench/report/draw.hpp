#pragma once
#include <weft/structure.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/portrait.hpp"
#include "svg.hpp"

/// Pictures as complete SVG documents: well-formed XML, with a title and a description for screen readers, and colours
/// for light and for dark pages. The title may hold any bytes; what XML cannot hold is replaced.
namespace weft::bench {

/// The most cells a side of the spy plot has.
constexpr Index spy_cells = 256;

/// What a spy plot shows, from a matrix or from a portrait of one.
struct SpyPicture {
  std::int64_t rows = 0, cols = 0, nonzeros = 0;
  Index raster_rows = 0, raster_cols = 0;
  std::function<int(Index row, Index col)> level;  ///< 0..5 from sparse to dense, -1 for a cell without entries
  double sparsest = 0, densest = 0;                ///< share of places filled; 0 where unknown
};
svg::Panel spy_panel(const SpyPicture& picture, const std::string& heading);

/// What is known of the lengths of rows.
struct LengthPicture {
  std::vector<LengthBin> bins;
  double mean = 0;
  std::optional<double> deviation;
};
svg::Panel row_length_panel(const LengthPicture& picture, const std::string& heading);

/// Where the entries are: the matrix cut into at most spy_cells x spy_cells cells, each coloured by the share of its
/// places that hold an entry, on a logarithmic scale.
template <Value V>
std::string spy_svg(const Csr<V>& matrix, const std::string& title);

/// How many rows have how many entries. Both axes are logarithmic when the lengths differ widely.
std::string row_length_svg(const Structure& structure, const std::string& title);

/// Both of the above, side by side.
template <Value V>
std::string structure_svg(const Csr<V>& matrix, const Structure& structure, const std::string& title);

struct Series {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< ascending in x
};

struct LineChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;
  bool log_y = false;
};

/// A line for each series, with a marker a point. Points that are not finite, or not positive on a logarithmic axis,
/// are left out.
std::string line_chart_svg(const std::vector<Series>& series, const LineChart& chart);

/// Such charts below each other.
std::string line_charts_svg(const std::vector<std::pair<std::vector<Series>, LineChart>>& charts,
                            const std::string& title);

}  // namespace weft::bench
