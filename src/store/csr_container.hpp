#pragma once
#include <weft/csr.hpp>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "store/container.hpp"

namespace weft::io {

/// The sections that matrices of every kind have.
inline constexpr std::string_view kind_section = "kind", shape_section = "shape", values_section = "values";
inline constexpr std::string_view csr_kind = "csr";

/// The two of them that say what matrix follows.
class MatrixHead {
 public:
  MatrixHead(std::string_view kind, Index rows, Index cols) : kind_(kind), shape_{rows, cols} {}
  /// This must live until the container is written.
  void add_to(ContainerWriter& writer) const {
    writer.add(kind_section, std::span(reinterpret_cast<const std::uint8_t*>(kind_.data()), kind_.size()));
    writer.add(shape_section, std::span<const std::int64_t>(shape_));
  }

 private:
  std::string kind_;
  std::array<std::int64_t, 2> shape_;
};

/// "csr", or the name of a format.
std::string kind_of(const Container& container);

/// Rows and columns. Throws Error(parse) when there are none, Error(unsupported) past 2^31-1.
std::pair<Index, Index> shape_of(const Container& container);

/// Throws the Error(parse) that names the file and the value, which is at `place` ("at row 3, column 4 "), when a
/// number became infinite on its way to V.
template <Value V, Value Stored>
void require_finite(const Container& container, const Array<Stored>& stored, const Array<V>& values,
                    const std::function<std::string(Offset)>& place);

/// The matrix a container holds, packed or not; of one that is not, columns and offsets are views, values too unless
/// they must be converted. Throws Error(parse) when it holds no canonical matrix or a value is too large for V,
/// Error(unsupported) past 2^31-1 rows or columns.
template <Value V>
Csr<V> csr_from_container(const Container& container);

}  // namespace weft::io
