#include "store/csr_container.hpp"

#include <weft/io.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "sparse/row_parts.hpp"
#include "store/packed_container.hpp"

namespace weft {
namespace io {
namespace {

constexpr std::string_view offsets_section = "offsets", columns_section = "columns";
constexpr std::string_view symmetric_name = "symmetric", skew_name = "skew-symmetric";

std::string_view name_of(Symmetry symmetry) {
  if (symmetry == Symmetry::general) return {};
  return symmetry == Symmetry::skew ? skew_name : symmetric_name;
}

std::span<const std::uint8_t> letters(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

[[noreturn]] void refuse(const Container& container, const std::string& sentence, ErrorCode code = ErrorCode::parse) {
  throw Error(code, container.name() + ": " + sentence);
}

template <Value V>
Csr<V> stored_csr(const Container& container) {
  const auto [rows, cols] = shape_of(container);
  Csr<V> matrix{rows,
                cols,
                container.section<Offset>(offsets_section),
                container.section<Index>(columns_section),
                container.section<V>(values_section),
                symmetry_of(container)};
  if (const std::string wrong = check(matrix); !wrong.empty())
    refuse(container, "the .weft file holds no matrix: " + wrong);
  return matrix;
}

template <Value V, Value Stored>
Csr<V> converted(const Container& container, const Csr<Stored>& stored) {
  Csr<V> matrix = convert<V>(stored);
  require_finite<V, Stored>(container, stored.values, matrix.values, [&](Offset entry) {
    return "at row " + std::to_string(row_of(stored.offsets.data(), stored.rows, entry) + 1) + ", column " +
           std::to_string(stored.columns[entry] + 1) + " ";
  });
  return matrix;
}

}  // namespace

MatrixHead::MatrixHead(std::string_view kind, Index rows, Index cols, Symmetry symmetry, std::string recipe)
    : kind_(kind), shape_{rows, cols}, symmetry_(name_of(symmetry)), recipe_(std::move(recipe)) {}

void MatrixHead::add_to(ContainerWriter& writer) const {
  writer.add(kind_section, letters(kind_));
  writer.add(shape_section, std::span<const std::int64_t>(shape_));
  if (!symmetry_.empty()) writer.add(symmetry_section, letters(symmetry_));
  if (!recipe_.empty()) writer.add(recipe_section, letters(recipe_));
}

std::string letters_of(const Container& container, std::string_view section, std::size_t max_size) {
  const Array<std::uint8_t> text = container.section<std::uint8_t>(section);
  if (text.size() > max_size)
    refuse(container, "the .weft file's section '" + std::string(section) + "' has " + std::to_string(text.size()) +
                          " letters, more than " + std::to_string(max_size));
  return {text.begin(), text.end()};
}

std::string kind_of(const Container& container) { return letters_of(container, kind_section); }

Symmetry symmetry_of(const Container& container) {
  if (!container.has(symmetry_section)) return Symmetry::general;
  const std::string name = letters_of(container, symmetry_section);
  if (name != symmetric_name && name != skew_name)
    refuse(container, "the .weft file's section 'symmetry' is neither 'symmetric' nor 'skew-symmetric'");
  if (const auto [rows, cols] = shape_of(container); rows != cols)
    refuse(container, "the .weft file marks a matrix as " + name + " that has " + std::to_string(rows) + " rows and " +
                          std::to_string(cols) + " columns");
  return name == skew_name ? Symmetry::skew : Symmetry::symmetric;
}

std::pair<Index, Index> shape_of(const Container& container) {
  const Array<std::int64_t> shape = container.section<std::int64_t>(shape_section);
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0)
    refuse(container, "the .weft file's section 'shape' is not the size of a matrix");
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  if (shape[0] > most || shape[1] > most)
    refuse(container,
           "the matrix has " + std::to_string(shape[0]) + " rows and " + std::to_string(shape[1]) +
               " columns, past the " + std::to_string(most) + " that are supported",
           ErrorCode::unsupported);
  return {static_cast<Index>(shape[0]), static_cast<Index>(shape[1])};
}

/// A stored infinity stays one, but a number must not become one.
template <Value V, Value Stored>
void require_finite(const Container& container, const Array<Stored>& stored, const Array<V>& values,
                    const std::function<std::string(Offset)>& place) {
  if constexpr (sizeof(V) < sizeof(Stored)) {
    FirstPosition lost;
    parallel_ranges(static_cast<Offset>(values.size()), entry_grain, [&](Offset begin, Offset end) {
      for (Offset i = begin; i < end; ++i)
        if (std::isinf(values[i]) && !std::isinf(stored[i])) return lost.report(i);
    });
    if (!lost.found()) return;
    std::array<char, 32> text{};
    std::to_chars(text.begin(), text.end(), stored[lost.get()]);
    refuse(container, "the value '" + std::string(text.data()) + "' " + place(lost.get()) + "is too large for " +
                          std::string(to_string(value_type<V>)));
  }
}

template <Value V>
Csr<V> csr_from_container(const Container& container) {
  if (const Format* format = packed_format(container)) return unpack<V>(container, *format).matrix;
  if (kind_of(container) != csr_kind) refuse(container, "the .weft file holds no csr matrix");
  if (container.has(values_section) && container.type(values_section) == element_type<float>)
    return converted<V>(container, stored_csr<float>(container));
  return converted<V>(container, stored_csr<double>(container));
}

#define WEFT_INSTANTIATE(V)                                                                        \
  template Csr<V> csr_from_container<V>(const Container&);                                         \
  template void require_finite<V, float>(const Container&, const Array<float>&, const Array<V>&,   \
                                         const std::function<std::string(Offset)>&);               \
  template void require_finite<V, double>(const Container&, const Array<double>&, const Array<V>&, \
                                          const std::function<std::string(Offset)>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace io

template <Value V>
Csr<V> read_weft(const std::string& path, const ReadOptions& options) {
  return io::csr_from_container<V>(io::Container::open(path, options.progress));
}

template <Value V>
void write_weft(const std::string& path, const Csr<V>& matrix, Progress progress) {
  const io::MatrixHead head(io::csr_kind, matrix.rows, matrix.cols, matrix.symmetry);
  io::ContainerWriter writer;
  head.add_to(writer);
  writer.add(io::offsets_section, std::span<const Offset>(matrix.offsets));
  writer.add(io::columns_section, std::span<const Index>(matrix.columns));
  writer.add(io::values_section, std::span<const V>(matrix.values));
  writer.write(path, progress);
}

#define WEFT_INSTANTIATE(V)                                             \
  template Csr<V> read_weft<V>(const std::string&, const ReadOptions&); \
  template void write_weft<V>(const std::string&, const Csr<V>&, Progress);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
