#include "right_sides.hpp"

#include <fmt/format.h>
#include <weft/spmv.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "bench/harness/workspace.hpp"

namespace weft::app {
namespace {

/// Smooth in each coordinate (0 to 1), and different for each unknown of a node.
double smooth_function(const std::array<double, 3>& place, Index unknown) {
  constexpr double pi = std::numbers::pi;
  const double phase = static_cast<double>(unknown);
  return std::cos(pi * place[0] + phase) + (1 + phase) * std::sin(pi * place[1]) + place[2] * place[2];
}

/// Over the nodes of a finite-element matrix.
template <Value V>
Array<V> smooth_on_nodes(const Coordinates& nodes, Index rows) {
  const auto dimensions = static_cast<std::size_t>(nodes.dimensions);
  const std::size_t count = nodes.points.size() / dimensions;
  std::array<double, 3> low, high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < nodes.points.size(); ++i) {
    low[i % dimensions] = std::min(low[i % dimensions], nodes.points[i]);
    high[i % dimensions] = std::max(high[i % dimensions], nodes.points[i]);
  }
  Array<V> x(static_cast<std::size_t>(rows));
  const std::size_t unknowns = x.size() / std::max<std::size_t>(count, 1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::array<double, 3> place = {};
    for (std::size_t d = 0; d < dimensions; ++d)
      if (high[d] > low[d]) place[d] = (nodes.points[i / unknowns * dimensions + d] - low[d]) / (high[d] - low[d]);
    x[i] = static_cast<V>(smooth_function(place, static_cast<Index>(i % unknowns)));
  }
  return x;
}

template <Value V>
Array<V> smooth_vector(const std::string& source, Index rows) {
  if (source.starts_with("fem:")) return smooth_on_nodes<V>(read_coordinates(source), rows);
  Array<V> x(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<V>(smooth_function({(static_cast<double>(i) + 0.5) / static_cast<double>(rows), 0, 0}, 0));
  return x;
}

}  // namespace

template <Value V>
io::Columns<V> read_one_per_row(const std::string& path, const char* name, Index rows) {
  io::Columns<V> columns = io::read_columns<V>(path);
  if (columns.rows != static_cast<std::size_t>(rows))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} has {} entries, but the matrix has {} rows", name, columns.rows, rows));
  return columns;
}

template <Value V>
RightSides<V> make_right_sides(const std::string& name, const std::string& source, const Csr<V>& matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows);
  if (name == "ones") return {{rows, 1, Array<V>(rows, V(1))}, {}};
  if (name != "known" && name != "smooth") return {read_one_per_row<V>(name, "b", matrix.rows), {}};
  RightSides<V> made{{rows, 1, Array<V>(rows)}, {}};
  made.answer = name == "known" ? bench::random_vector<V>(rows, 1) : smooth_vector<V>(source, matrix.rows);
  reference_apply<V>(Op::none, V(1), matrix, made.answer, V(0), made.b.values);
  return made;
}

template <Value V>
double relative_error(std::span<const V> x, std::span<const V> answer) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double known = static_cast<double>(answer[i]), off = static_cast<double>(x[i]) - known;
    difference += off * off;
    size += known * known;
  }
  return size > 0 ? std::sqrt(difference / size) : std::sqrt(difference);
}

#define WEFT_INSTANTIATE(V)                                                                                 \
  template io::Columns<V> read_one_per_row<V>(const std::string&, const char*, Index);                      \
  template RightSides<V> make_right_sides<V>(const std::string&, const std::string& source, const Csr<V>&); \
  template double relative_error<V>(std::span<const V>, std::span<const V>);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::app
