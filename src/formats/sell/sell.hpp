#pragma once
#include "core/isa.hpp"
#include "formats/column_groups.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::sell {

const Format& format();

/// How a matrix is cut, with the papers' letters.
struct Shape {
  Index slice_rows = 32;  ///< C: the rows of a slice, which is as wide as the longest of them
  Index window = 1;       ///< sigma: rows are sorted by length, longest first, in windows of so many; 1: not at all
  int threads = 1;        ///< t: how many follow a row; the widths are multiples of it
  int group = 4;          ///< columns that lie together, see place_in_slice; t where several threads follow a row
  /// On a GPU it pays to make slices that are nearly equally wide equally wide: then it is known where one begins.
  bool may_widen = false;
};

/// Where a slice lies. Entry k of row r is at `entry` + place_in_slice(r, k, ...), its column, in as many units of 16
/// bits as it has, at `column` + the same.
struct Slice {
  Offset entry = 0;
  Offset column = 0;
  Index base = 0;  ///< columns are 16 bits, relative to it; negative: they are 32 bits, and absolute
  Index width = 0;
  bool operator==(const Slice&) const = default;
};

/// A matrix in slices. Slot i is row order[i]; slice s holds the slots from s * C on, and the last may have room for
/// more rows than there are: that is padding, as is what lies behind a row's end. Slices begin at multiples of 8.
template <class V>
struct Storage {
  Shape shape;
  Index rows = 0;
  Array<Index> order;  ///< empty when rows are not sorted
  Array<Slice> slices;
  Array<Index> shortest;         ///< a slice: columns before this one hold no padding
  Array<std::uint16_t> columns;  ///< in units of 16 bits
  Array<V> values;
  bool equally_wide = false;  ///< slice s begins at s * width * C
  Index short_slices = 0;     ///< those with 16-bit columns
};

constexpr Offset slice_alignment = 8;  // entries: 16 bytes of the shortest columns
constexpr Offset round_up(Offset number, Offset multiple) { return (number + multiple - 1) / multiple * multiple; }

/// What decides how slices are laid out: sums over all of them.
struct Census {
  Index widest = 0;
  Index short_slices = 0;
  Offset entries = 0;  ///< with padding
};

/// Whether to make all slices equally wide. That needs columns of one kind and costs padding: 3 % at most.
bool worth_widening(const Shape& shape, const Census& census, Index slices);

/// Chooses what the user has not given, by the lengths of the rows.
Shape choose_shape(const Array<Offset>& offsets, Index rows, const BuildOptions& options, std::size_t value_bytes);

/// The rows of each window sorted by length, longest first; rows of the same length keep their order. Empty when
/// windows hold one row.
Array<Index> sorted_rows(const Array<Offset>& offsets, Index rows, Index window);

/// The whole set-up on the CPU, linear and parallel.
template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options);

/// Writes the values, in csr's order, to their places; padding is left alone.
template <Value V>
void place_values(const Storage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values, V* values);

/// "C = 32, sigma = 1, t = 1, 16-bit columns"
std::string describe(const Shape& shape, Index short_slices, Index slices, bool equally_wide);

/// What the CPU kernel reads: a Storage with groups of one.
template <class V>
struct CpuMatrix {
  Index rows = 0;
  Index slice_rows = 0;
  Index slice_count = 0;
  const Slice* slices = nullptr;
  const Index* shortest = nullptr;
  const Index* order = nullptr;  // null: not sorted
  const std::uint16_t* columns = nullptr;
  const V* values = nullptr;
};

WEFT_FOR_EACH_ISA(template <class V> void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads);)

}  // namespace weft::sell

WEFT_DECLARE_GPU_BUILDER(sell)
// For tests: the set-up on the GPU, copied back. It leaves `shortest` empty.
namespace weft::on_cuda::sell {
template <Value V>
::weft::sell::Storage<V> build_storage(const Csr<V>& matrix, const ::weft::sell::Shape& shape,
                                       const BuildOptions& options);
}
namespace weft::on_emulator::sell {
template <Value V>
::weft::sell::Storage<V> build_storage(const Csr<V>& matrix, const ::weft::sell::Shape& shape,
                                       const BuildOptions& options);
}
