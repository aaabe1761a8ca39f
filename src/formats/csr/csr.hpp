#pragma once
#include "core/isa.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::csr {

const Format& format();

/// Where a piece of the matrix begins: all entries before `entry` and all rows before `row` belong to earlier pieces.
/// offsets[row] <= entry <= offsets[row + 1].
struct Chunk {
  Index row = 0;
  Offset entry = 0;
};

/// Cuts the matrix into pieces of about `items` rows + entries (Merrill and Garland's merge path), at row borders
/// except inside rows longer than a piece. The cuts depend on the matrix only, so that products have the same bits for
/// any number of threads. Returns the pieces' beginnings and, last, the end.
Array<Chunk> cut_into_chunks(Index rows, const Array<Offset>& offsets, Offset items);

/// The offsets in 32 bits; the caller has made sure that they fit.
Array<std::uint32_t> narrow_offsets(const Array<Offset>& offsets);

struct ChunkShape;  // row_groups.hpp

/// What the CPU kernel reads. O is uint32 where the entries' numbers fit, since offsets are bytes to move too.
/// `carries` has room for max_vectors sums a chunk.
template <class V, class O>
struct CpuMatrix {
  Index rows = 0;
  const O* offsets = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
  const Chunk* chunks = nullptr;
  Offset chunk_count = 0;
  const ChunkShape* shapes = nullptr;    ///< one a chunk
  const std::uint16_t* order = nullptr;  ///< see RowGroups
  bool large_x = false;                  ///< most of x is not in the second-level cache
  V* carries = nullptr;
};

WEFT_FOR_EACH_ISA(template <class V, class O>
                  void multiply(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads);)

}  // namespace weft::csr

WEFT_DECLARE_GPU_BUILDER(csr)
