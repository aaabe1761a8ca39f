#pragma once
#include <weft/io.hpp>

#include <string>
#include <string_view>

#include "io/line_chunks.hpp"

namespace weft::io {

/// read_matrix_market on text in memory; `name` stands in sentences where the file's name would. The result does not
/// depend on `chunk_bytes`, how much text a thread takes at once.
template <Value V>
Csr<V> parse_matrix_market(std::string_view text, const std::string& name, const ReadOptions& options = {},
                           std::size_t chunk_bytes = usual_chunk_bytes);

/// read_vector on text in memory.
template <Value V>
Array<V> parse_vector(std::string_view text, const std::string& name);

}  // namespace weft::io
