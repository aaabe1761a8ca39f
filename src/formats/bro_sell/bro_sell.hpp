#pragma once
#include "core/isa.hpp"
#include "formats/bro_sell/packing.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"
#include "formats/sell/sell.hpp"

namespace weft::bro_sell {

const Format& format();
std::vector<Prediction> predict(const Outlook& outlook);  ///< see Format

/// Which blocks a matrix has: block row R is rows R * b to R * b + b - 1. With b = 1 these are the matrix's own arrays.
/// A block is stored when any of its entries is.
struct Pattern {
  int block = 1;
  Index rows = 0;         ///< block rows
  Array<Offset> offsets;  ///< rows + 1
  Array<Index> columns;   ///< block columns, ascending inside a block row
};

/// How a matrix, or those of its rows that this part holds, is cut.
struct Shape {
  int block = 1;          ///< b: one column number is stored for b x b entries
  Index slice_rows = 32;  ///< C: slots of a slice, which is as wide as the longest of them
  Index window = 1;       ///< sigma: block rows are sorted by length, longest first, in windows of so many
  int threads = 1;        ///< t: a block row is cut into so many pieces of nearly the same length, a slot each
  int pack = 4;           ///< values of a slot that lie together, see place_in_slice
  /// On a GPU short rows are faster where slices are equally wide, since it is known then where one begins.
  bool may_widen = false;
  bool runs = false;  ///< on a CPU: slices whose block rows have blocks at the same distances are stored as runs
  bool operator==(const Shape&) const = default;
};

/// A part of a matrix in slices. Slot i is piece i % t of block row order[i / t]; slice s holds the slots from s * C
/// on. The last slice may have room for more; they hold nothing.
template <class V>
struct Part {
  Shape shape;
  Index rows = 0;      ///< block rows of this part
  Array<Index> order;  ///< empty when the part holds all block rows in their order
  Array<Slice> slices;
  Array<Index> bases;          ///< a group: what is added to its four deltas
  Array<std::uint32_t> words;  ///< what packing.hpp says
  Array<V> values;
  Index masked_slices = 0;
  Offset in_runs = 0;         ///< slots in slices of runs
  bool wide = false;          ///< some widths are 32 bits
  bool equally_wide = false;  ///< slice s begins at s * width * C
};

/// Entries of the whole matrix: in blocks where that takes fewer bytes, the other rows one by one.
template <class V>
struct Storage {
  Part<V> blocks;   ///< no rows when nothing was worth it; its shape is the one that was tried
  Part<V> singles;  ///< no rows when all is in blocks
};

/// The block size of the matrix, see Structure::block_size, or what the user requests if that divides its size.
template <Value V>
int block_for(const MatrixSource<V>& source, const BuildOptions& options);

/// The blocks of a matrix. Linear, parallel.
Pattern find_pattern(Index rows, const Array<Offset>& offsets, const Array<Index>& columns, int block);

/// What the user has not given, by the lengths of the (block) rows.
template <Value V>
Shape choose_shape(int block, const sell::RowsToCut& rows, const BuildOptions& options);
using ShapeChooser = Shape (*)(int block, const sell::RowsToCut& rows, const BuildOptions& options);

/// The width that all slices get if it costs little padding, else 0. `columns` are those of all slices together.
Index equal_width(Index widest, Offset columns, Offset slices);

/// The slices of a part with their widths and marks, nothing more. `order`: the block rows of the part in the order of
/// their slots; empty when it holds all of the pattern, sorted in windows of the shape's size.
template <Value V>
Part<V> measure_part(const Csr<V>& matrix, const Pattern& pattern, const Shape& shape, Array<Index> order);

/// The rest of a part: where everything lies, the packed columns and the values.
template <Value V>
void finish_part(const Csr<V>& matrix, const Pattern& pattern, Part<V>& part, const BuildOptions& options);

/// The whole set-up on the CPU, linear and parallel.
template <Value V>
Storage<V> build_storage(const MatrixSource<V>& source, const BuildOptions& options);

/// Throws Error(unsupported) when a part stores out of proportion. `max_words`: of a slice.
void require_sensible(Offset entries, Offset max_words, Offset nonzeros, std::size_t value_bytes,
                      const BuildOptions& options);

/// The block rows of those slices that take fewer bytes as rows of single entries, and those of all others in the order
/// of their slots.
struct Split {
  Array<Index> blocks;
  Array<Index> singles;  ///< ascending; empty when blocks are fewer bytes everywhere
};

/// Only slices with blocks that are not full are in doubt; their bytes are counted exactly. `part` needs its shape,
/// rows, order and slices only.
template <Value V>
Split split_by_bytes(const Csr<V>& matrix, const Pattern& pattern, const Part<V>& part);

/// The same for slices that have been compared: where `cheaper` is set for a slice, its rows are stored one by one.
Split split_rows(const Shape& shape, Index rows, const Array<Index>& order, const Array<std::uint8_t>& cheaper);

/// How the rows of block rows are cut that are not stored in blocks, and their order. `options` may have numbers of
/// their own for these rows.
struct Singles {
  Shape shape;
  Array<Index> order;
};
Singles cut_singles(const Array<Offset>& offsets, const Array<Index>& block_rows, int block,
                    const BuildOptions& options, ShapeChooser choose);

/// Writes the values, in csr's order, to their places.
template <Value V>
void place_values(const Part<V>& part, const Array<Offset>& offsets, std::span<const V> csr_values, V* values);

/// The parameters that give these shapes, with `single_rows` rows outside of blocks.
std::map<std::string, std::int64_t> numbers_of(const Shape& blocks, const Shape& singles, Index single_rows);

/// "3 x 3 blocks, C = 32, sigma = 1, t = 1, 0.9 bits of index a nonzero"
std::string describe(const Shape& blocks, Index block_rows, const Shape& singles, Index single_rows,
                     std::size_t index_bytes, Offset nonzeros);

/// C on a CPU.
template <class V>
inline constexpr Index cpu_slice_rows = PerWidth<Index>{.f32 = 16, .f64 = 8}.of<V>();

/// What the CPU kernel reads: a Part with pack = 1 and one thread per row.
template <class V>
struct CpuPart {
  int block = 1;
  Index rows = 0;
  Index slice_count = 0;
  const Slice* slices = nullptr;
  const Index* order = nullptr;  // null: all block rows in their order
  const Index* bases = nullptr;
  const std::uint32_t* words = nullptr;
  const V* values = nullptr;
};

WEFT_FOR_EACH_ISA(template <class V> void multiply(const CpuPart<V>& part, const Product<V>& product, int threads);)

}  // namespace weft::bro_sell

WEFT_DECLARE_GPU_BUILDER(bro_sell)
// For tests: the set-up on the GPU, copied back.
WEFT_DECLARE_ON_DEVICES(bro_sell,
                        template <Value V>::weft::bro_sell::Storage<V> build_storage(const MatrixSource<V>& source,
                                                                                     const BuildOptions& options);)
