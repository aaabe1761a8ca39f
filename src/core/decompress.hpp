#pragma once
#include <cstddef>
#include <span>
#include <string>

#include "core/file_bytes.hpp"

namespace weft::io {

enum class Compression { none, gzip, xz, bzip2, zstd };

/// Tells the compression by the first bytes, whatever the file is called.
Compression detect_compression(std::span<const std::byte> bytes);

/// Unpacks all of `packed`; `name` is for error sentences. Memory grows with what really comes out, never with what a
/// header promises. Throws as read_file does.
FileBytes decompress(std::span<const std::byte> packed, Compression compression, const std::string& name);

}  // namespace weft::io
