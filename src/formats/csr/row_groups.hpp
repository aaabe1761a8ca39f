#pragma once
#include "formats/csr/csr.hpp"

namespace weft::csr {

/// Lengths up to this one have code of their own for chunks of rows that are alike.
constexpr Offset longest_alike = 16;

/// Lengths up to this one have a loop of their own in grouped chunks.
constexpr int longest_group = 16;

/// A grouped chunk has at most this many entries: their products wait in the first-level cache for being summed.
constexpr Offset most_staged = 4096;

/// How the CPU kernel goes through the rows of a chunk, for one vector.
struct ChunkShape {
  enum class Kind : std::uint8_t {
    in_order,  ///< row by row
    alike,     ///< row by row, where most have `length` entries, 1 to longest_alike
    equal,     ///< the same, and all have
    grouped,   ///< all products first, then the sums of all rows of no entry, of one, of two, ...
  };

  Kind kind = Kind::in_order;
  std::uint8_t length = 0;
  /// Of a grouped chunk: how many rows have 0, 1, ... longest_group entries; the chunk's other rows have more.
  std::uint16_t counts[longest_group + 1] = {};
};

/// The shapes of all chunks. `order`, empty where no chunk is grouped, has an element for each row of the matrix: those
/// at the places of a grouped chunk's rows are these rows, counted from the chunk's first, the shorter ones before the
/// longer ones and otherwise ascending. Depends on the matrix only.
struct RowGroups {
  Array<ChunkShape> shapes;
  Array<std::uint16_t> order;
};

RowGroups group_rows(Index rows, const Array<Offset>& offsets, const Array<Chunk>& chunks);

}  // namespace weft::csr
