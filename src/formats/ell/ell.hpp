#pragma once
#include <optional>

#include "core/isa.hpp"
#include "formats/column_groups.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::ell {

const Format& format();
std::vector<Prediction> predict(const Outlook& outlook);  ///< see Format

/// ELLPACK: a row ends where its columns do. ELLPACK-R: row lengths are stored. ELLR-T: and several threads take a row.
enum class Variant { plain, r, rt };

/// How a matrix is laid out. Entry k of row r is stored at (k / threads) * slots() + r * threads + k % threads: what
/// neighbouring threads read in the same step are neighbours. Row r has its entries first, padding after them.
struct Shape {
  Index rows = 0;
  Index width = 0;  ///< max. entries stored of a row
  Variant variant = Variant::plain;
  int threads = 1;  ///< per row, a power of two up to 32; a row's room is a multiple of it
  Offset kept = 0;  ///< the matrix's own entries among the stored ones

  /// Places of one step: rows * threads, rounded up to whole warps, an odd number of them where there are many. After
  /// an even one, say a multiple of 4 KB, a row's entries would all compete for the same few lines of a CPU's cache.
  Offset slots() const;
  Index steps() const { return width / threads + (width % threads != 0); }
  Offset stored() const { return slots() * steps(); }
  Offset padding() const { return stored() - kept; }
  bool has_lengths() const { return variant != Variant::plain; }
};

/// Chooses what the user has left open. Throws Error(unsupported), with the bytes it would need, when the padding
/// exceeds the limit. `part_width`: only so many entries of each row are stored, see build_part.
Shape choose_shape(const RowLengths& rows, std::size_t value_bytes, const BuildOptions& options,
                   std::optional<Index> part_width = {});

/// The first `width` entries of each row as an operator of its own: the ell part of hyb. New values are those of the
/// whole matrix.
template <Value V>
std::unique_ptr<Operator<V>> build_part(const MatrixSource<V>& source, Index width, const BuildOptions& options);

/// Puts the csr's values, and its columns where `columns` is given, into their places, and padding into all others.
/// Both arrays have shape.stored() elements.
template <Value V>
void fill(const Shape& shape, const Array<Offset>& offsets, const Index* csr_columns, const V* csr_values,
          Index* columns, V* values);

/// What an operator of this shape reports about itself.
OperatorInfo describe(const Shape& shape, std::size_t bytes);

/// What the kernels read.
template <class V>
struct View {
  Index rows = 0;
  Index width = 0;
  int threads = 1;
  Offset slots = 0;
  Index steps = 0;
  const Index* columns = nullptr;  // padding_column<Index>: padding
  const V* values = nullptr;       // 0 in padding
  const Index* lengths = nullptr;  // of the rows; null: a row ends at its first padding
};

/// The CPU works on groups of neighbouring rows, of which `slots` holds whole ones, and on tiles of several groups.
constexpr Index rows_at_once = 16;
constexpr Index rows_per_tile = 256;

/// `chunk_rows`, a multiple of rows_per_tile, are given to a thread at a time.
WEFT_FOR_EACH_ISA(template <class V>
                  void multiply(const View<V>& matrix, const Product<V>& product, Index chunk_rows, int threads);)

}  // namespace weft::ell

WEFT_DECLARE_ON_DEVICES(ell, template <Value V> std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source,
                                                                                   const ::weft::ell::Shape& shape,
                                                                                   Device device);)
