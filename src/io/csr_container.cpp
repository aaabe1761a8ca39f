#include "io/csr_container.hpp"

#include <weft/io.hpp>

#include <limits>
#include <string>

namespace weft {
namespace io {
namespace {

constexpr std::string_view kind_section = "kind", shape_section = "shape", offsets_section = "offsets",
                           columns_section = "columns", values_section = "values";
constexpr std::string_view csr_kind = "csr";

template <Value V>
Csr<V> csr_of_type(const Container& container) {
  const auto refuse = [&](const std::string& sentence) {
    throw Error(ErrorCode::parse, container.name() + ": " + sentence);
  };
  const Array<std::int64_t> shape = container.section<std::int64_t>(shape_section);
  constexpr std::int64_t most = std::numeric_limits<Index>::max();
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > most || shape[1] > most)
    refuse("the .weft file's section 'shape' is not the size of a matrix");
  Csr<V> matrix{static_cast<Index>(shape[0]), static_cast<Index>(shape[1]), container.section<Offset>(offsets_section),
                container.section<Index>(columns_section), container.section<V>(values_section)};
  if (matrix.offsets.size() != static_cast<std::size_t>(matrix.rows) + 1)
    refuse("the .weft file holds no matrix: there are " + std::to_string(matrix.offsets.size()) + " offsets for " +
           std::to_string(matrix.rows) + " rows");
  if (const std::string wrong = check(matrix); !wrong.empty()) refuse("the .weft file holds no matrix: " + wrong);
  return matrix;
}

}  // namespace

template <Value V>
Csr<V> csr_from_container(const Container& container) {
  const Array<std::uint8_t> kind = container.section<std::uint8_t>(kind_section);
  const std::string found(kind.begin(), kind.end());
  if (found != csr_kind) throw Error(ErrorCode::parse, container.name() + ": the .weft file holds no csr matrix");
  if (container.has(values_section) && container.type(values_section) == element_type<float>) {
    Csr<float> matrix = csr_of_type<float>(container);
    if constexpr (std::same_as<V, float>)
      return matrix;
    else
      return convert<V>(matrix);
  }
  Csr<double> matrix = csr_of_type<double>(container);
  if constexpr (std::same_as<V, double>)
    return matrix;
  else
    return convert<V>(matrix);
}

#define WEFT_INSTANTIATE(V) template Csr<V> csr_from_container<V>(const Container&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace io

template <Value V>
Csr<V> read_weft(const std::string& path, const ReadOptions& options) {
  return io::csr_from_container<V>(io::Container::open(path, options.progress));
}

template <Value V>
void write_weft(const std::string& path, const Csr<V>& matrix, Progress progress) {
  const std::int64_t shape[2] = {matrix.rows, matrix.cols};
  const std::span<const std::uint8_t> kind(reinterpret_cast<const std::uint8_t*>(io::csr_kind.data()),
                                           io::csr_kind.size());
  io::ContainerWriter writer;
  writer.add(io::kind_section, kind);
  writer.add(io::shape_section, std::span<const std::int64_t>(shape));
  writer.add(io::offsets_section, std::span<const Offset>(matrix.offsets));
  writer.add(io::columns_section, std::span<const Index>(matrix.columns));
  writer.add(io::values_section, std::span<const V>(matrix.values));
  writer.write(path, progress);
}

#define WEFT_INSTANTIATE(V)                                             \
  template Csr<V> read_weft<V>(const std::string&, const ReadOptions&); \
  template void write_weft<V>(const std::string&, const Csr<V>&, Progress);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
