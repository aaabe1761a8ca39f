#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace weft::io {

/// The bytes of a file, mapped or unpacked into memory, for as long as `owner` lives.
struct FileBytes {
  std::shared_ptr<void> owner;
  std::span<std::byte> bytes;  ///< may be written without touching the file

  std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

/// Maps a regular file. Throws Error(io) when there is no such file, it is a directory, a pipe or a device, or may not
/// be read. An empty file gives no bytes.
FileBytes map_file(const std::string& path);

/// Maps a file and, when its first bytes say that it is .gz or .xz, unpacks it. Throws as map_file does, Error(parse)
/// for a cut or damaged archive, Error(unsupported) for other compressions, Error(out_of_memory) past this machine's
/// memory.
FileBytes read_file(const std::string& path);
/// The same for a file that is mapped already.
FileBytes unpacked(FileBytes file, const std::string& path);

/// The physical memory of this machine in bytes: a bound for what a file's header may ask for.
std::size_t machine_memory();

/// "WHAT PATH: REASON", where the reason is the operating system's word for `error_number`.
std::string system_sentence(const std::string& what, const std::string& path, int error_number);

}  // namespace weft::io
