#include "right_sides.hpp"

#include <fmt/format.h>
#include <weft/spmv.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

#include "bench/harness/workspace.hpp"
#include "generate/load.hpp"

namespace weft::app {
namespace {

constexpr std::string_view fem = "fem:";

template <Value V>
Array<V> rounded(const Array<double>& numbers) {
  Array<V> result(numbers.size());
  std::ranges::transform(numbers, result.begin(), [](double number) { return static_cast<V>(number); });
  return result;
}

template <Value V>
Array<V> smooth_vector(const std::string& source, Index rows) {
  if (source.starts_with(fem)) {
    const generation::FemProblem problem = generation::read_problem(std::string_view(source).substr(fem.size()));
    return rounded<V>(generation::values_at_nodes(problem.mesh, problem.equation, problem.order,
                                                  generation::smooth_field(problem.mesh)));
  }
  Array<V> x(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<V>(std::cos(std::numbers::pi * (static_cast<double>(i) + 0.5) / static_cast<double>(rows)));
  return x;
}

template <Value V>
RightSides<V> manufactured(const std::string& source, std::size_t rows) {
  if (!source.starts_with(fem))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("the right side 'manufactured' is of an equation on a mesh, fem:{}, not of {}; 'smooth' is "
                            "of any matrix",
                            generation::fem_arguments, source));
  const generation::ManufacturedProblem problem = generation::manufacture(std::string_view(source).substr(fem.size()));
  return {{rows, 1, rounded<V>(problem.load)}, rounded<V>(problem.answer), true};
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
  if (name == "manufactured") return manufactured<V>(source, rows);
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
