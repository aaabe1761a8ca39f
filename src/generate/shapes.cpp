#include "generate/build.hpp"
#include "generate/random.hpp"
#include "generate/recipes.hpp"

namespace weft::generation {

template <Value V>
Csr<V> band(Arguments& arguments, const Progress& progress) {
  const std::int64_t n = arguments.size("N");
  const std::int64_t half = arguments.number("HALF", 0, INT32_MAX);
  const Random random(arguments.seed());
  arguments.finish();
  const auto first = [&](std::int64_t row) { return std::max<std::int64_t>(0, row - half); };
  const auto last = [&](std::int64_t row) { return std::min(n - 1, row + half); };
  const auto count = [&](std::int64_t row) { return Offset{last(row) - first(row) + 1}; };
  const auto fill = [&](std::int64_t row, Index* columns, V* values) {
    for (std::int64_t column = first(row); column <= last(row); ++column) {
      *columns++ = static_cast<Index>(column);
      // Symmetric, and the diagonal outweighs the other 2 HALF entries of its row.
      const auto [low, high] = std::minmax(row, column);
      *values++ = static_cast<V>(
          row == column ? static_cast<double>(2 * half + 1)
                        : random.stream(static_cast<std::uint64_t>(low)).uniform(static_cast<std::uint64_t>(high)));
    }
  };
  const double width = static_cast<double>(std::min(2 * half + 1, n));
  return build_rows<V>({n, n, static_cast<double>(n) * width / (half < n / 2 ? 1 : 2)}, progress, count, fill);
}

template <Value V>
Csr<V> arrow(Arguments& arguments, const Progress& progress) {
  const std::int64_t n = arguments.size("N");
  const Random random(arguments.seed());
  arguments.finish();
  const auto count = [&](std::int64_t row) { return row == 0 ? n : Offset{2}; };
  const auto border = [&](std::int64_t place) {
    return static_cast<V>(random.uniform(static_cast<std::uint64_t>(place)));
  };
  const auto fill = [&](std::int64_t row, Index* columns, V* values) {
    columns[0] = 0;
    if (row > 0) {
      columns[1] = static_cast<Index>(row);
      values[0] = border(row);
      values[1] = V(2);
      return;
    }
    values[0] = static_cast<V>(n);
    for (std::int64_t column = 1; column < n; ++column) {
      columns[column] = static_cast<Index>(column);
      values[column] = border(column);
    }
  };
  return build_rows<V>({n, n, 3.0 * static_cast<double>(n)}, progress, count, fill);
}

template <Value V>
Csr<V> dense(Arguments& arguments, const Progress& progress) {
  const std::int64_t rows = arguments.size("ROWS");
  const std::int64_t cols = arguments.has_next() ? arguments.size("COLS") : rows;
  const Random random(arguments.seed());
  arguments.finish();
  const auto count = [&](std::int64_t) { return Offset{cols}; };
  const auto fill = [&](std::int64_t row, Index* columns, V* values) {
    const Random entries = random.stream(static_cast<std::uint64_t>(row));
    for (std::int64_t column = 0; column < cols; ++column) {
      columns[column] = static_cast<Index>(column);
      values[column] = static_cast<V>(entries.uniform(static_cast<std::uint64_t>(column)));
    }
  };
  return build_rows<V>({rows, cols, static_cast<double>(rows) * static_cast<double>(cols)}, progress, count, fill);
}

template <Value V>
Csr<V> diagonal(Arguments& arguments, const Progress& progress) {
  const std::int64_t n = arguments.size("N");
  const Random random(arguments.seed());
  arguments.finish();
  const auto count = [](std::int64_t) { return Offset{1}; };
  const auto fill = [&](std::int64_t row, Index* columns, V* values) {
    *columns = static_cast<Index>(row);
    *values = static_cast<V>(1.0 + random.fraction(static_cast<std::uint64_t>(row)));
  };
  return build_rows<V>({n, n, static_cast<double>(n)}, progress, count, fill);
}

#define WEFT_INSTANTIATE(V)                              \
  template Csr<V> band<V>(Arguments&, const Progress&);  \
  template Csr<V> arrow<V>(Arguments&, const Progress&); \
  template Csr<V> dense<V>(Arguments&, const Progress&); \
  template Csr<V> diagonal<V>(Arguments&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::generation
