#pragma once
#include <weft/csr.hpp>

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "store/container.hpp"

namespace weft::io {

/// The sections that matrices of every kind have; "symmetry" and "recipe" only where there is one.
inline constexpr std::string_view kind_section = "kind", shape_section = "shape", symmetry_section = "symmetry",
                                  recipe_section = "recipe", values_section = "values";
inline constexpr std::string_view csr_kind = "csr";

/// Those of them that describe the matrix.
class MatrixHead {
 public:
  MatrixHead(std::string_view kind, Index rows, Index cols, Symmetry symmetry = Symmetry::general,
             std::string recipe = {});
  /// This must live until the container is written.
  void add_to(ContainerWriter& writer) const;

 private:
  std::string kind_;
  std::array<std::int64_t, 2> shape_;
  std::string symmetry_;  // empty: general
  std::string recipe_;    // empty: none
};

/// "csr", or the name of a format.
std::string kind_of(const Container& container);

/// What a section of letters says. Throws Error(parse) when there is none, or it has more than `max_size`.
std::string letters_of(const Container& container, std::string_view section, std::size_t max_size = 4096);

/// Rows and columns. Throws Error(parse) when there are none, Error(unsupported) past 2^31-1.
std::pair<Index, Index> shape_of(const Container& container);

/// The mark that the matrix was written with; general if the file has none, as files of earlier versions of Weft.
/// Throws Error(parse) when it is not a symmetry, or the matrix is not square. Whether the values agree is not
/// verified.
Symmetry symmetry_of(const Container& container);

/// Throws the Error(parse) that names the file and the value, which is at `place` ("at row 3, column 4 "), when a
/// number became infinite on its way to V.
template <Value V, Value Stored>
void require_finite(const Container& container, const Array<Stored>& stored, const Array<V>& values,
                    const std::function<std::string(Offset)>& place);

/// The matrix a container holds, packed or not; of one that is not, columns and offsets are views, values too unless
/// they must be converted. Throws Error(parse) when it does not hold a canonical matrix or a value is too large for V,
/// Error(unsupported) past 2^31-1 rows or columns.
template <Value V>
Csr<V> csr_from_container(const Container& container);

}  // namespace weft::io
