#pragma once
#include "core/isa.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::csr {

const Format& format();
std::vector<Prediction> predict(const Outlook& outlook);  ///< see Format

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

struct ChunkShape;  // row_groups.hpp

/// What the CPU kernel reads. O is uint32 where the entries' numbers fit, since offsets are bytes to move too.
/// `carries` has room for max_row_major_vectors sums per chunk.
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
  bool far = false;                      ///< the matrix comes from memory, not from a cache
  const Offset* carried = nullptr;       ///< chunks that end inside a row, in order
  Offset carried_count = 0;
  V* carries = nullptr;
};

/// A tile of csr:speculative that holds an empty row: rows [start, stop) end in it, and the sums of those that have
/// entries wait in the places from `start` on. skip is 1 when the first sum is in the synchronizer instead.
struct Dirty {
  Index start = 0;
  Index stop = 0;
  int skip = 0;
};
constexpr int most_tiles_a_bunch = 31;  // S: each lane finds one of the S + 1 boundaries

/// Cuts arrays out of one piece of memory, each aligned for any use. Without memory it only counts.
class Carver {
 public:
  explicit Carver(std::byte* memory = nullptr) : memory_(memory) {}
  template <class T>
  T* take(Offset count) {
    std::byte* const taken = memory_ ? memory_ + bytes_ : nullptr;
    constexpr std::size_t alignment = 256;
    bytes_ += (static_cast<std::size_t>(count) * sizeof(T) + alignment - 1) / alignment * alignment;
    return reinterpret_cast<T*>(taken);
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* memory_;
  std::size_t bytes_ = 0;
};

/// What the GPU kernels read. O is uint32 where the entries' numbers fit.
template <class V, class O>
struct View {
  Index rows = 0;
  Offset entries = 0;
  const O* offsets = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
};

WEFT_FOR_EACH_ISA(template <class V, class O>
                  void multiply(const CpuMatrix<V, O>& matrix, const Product<V>& product, int threads);)

}  // namespace weft::csr

WEFT_DECLARE_GPU_BUILDER(csr)
