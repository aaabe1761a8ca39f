#pragma once
#include <weft/io.hpp>

#include <string>
#include <string_view>

#include "io/line_chunks.hpp"
#include "sparse/as_stored.hpp"

namespace weft::io {

/// read_matrix_market that gives a symmetric or skew-symmetric file as its lower half, and never takes the memory of
/// the whole matrix. Entries above the diagonal are moved to their mirror image; duplicates are those of the whole
/// matrix.
template <Value V>
AsStored<V> read_matrix_market_as_stored(const std::string& path, const ReadOptions& options = {});

/// The same on text in memory; `name` is used in sentences in place of the file's name. The result does not depend on
/// `chunk_bytes`, how much text a thread takes at once.
template <Value V>
AsStored<V> parse_matrix_market_as_stored(std::string_view text, const std::string& name,
                                          const ReadOptions& options = {}, std::size_t chunk_bytes = usual_chunk_bytes);

/// The whole matrix of such text.
template <Value V>
Csr<V> parse_matrix_market(std::string_view text, const std::string& name, const ReadOptions& options = {},
                           std::size_t chunk_bytes = usual_chunk_bytes) {
  return whole(parse_matrix_market_as_stored<V>(text, name, options, chunk_bytes));
}

/// read_vector on text in memory.
template <Value V>
Array<V> parse_vector(std::string_view text, const std::string& name);

}  // namespace weft::io
