#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace weft::io {

/// The bytes of a .weft file, as docs/container.md describes them: FileHeader, SectionRecord for each section, then the
/// sections in that order, each beginning at the next multiple of 64. Bytes between them are zero and the file ends at
/// a multiple of 64.
constexpr std::size_t section_alignment = 64;
constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + section_alignment - 1) / section_alignment * section_alignment;
}

constexpr std::array<unsigned char, 8> container_magic = {0x89, 'W', 'E', 'F', 'T', '\r', '\n', 0x1a};
constexpr std::uint32_t container_byte_order = 0x01020304;
constexpr std::uint32_t container_version = 1;
constexpr std::uint32_t max_sections = 4096;

struct FileHeader {
  std::array<unsigned char, 8> magic;
  std::uint32_t byte_order;
  std::uint32_t version;
  std::uint64_t file_bytes;
  std::uint32_t sections;
  std::array<unsigned char, 28> reserved;  ///< zero
  std::uint64_t checksum;                  ///< of this header, with a zero here, and of the section records
};
static_assert(sizeof(FileHeader) == 64);

struct SectionRecord {
  std::array<char, 32> name;  ///< ended by a zero, filled up with zeros
  std::uint32_t type;
  std::uint32_t reserved;  ///< zero
  std::uint64_t count;
  std::uint64_t offset;
  std::uint64_t checksum;
};
static_assert(sizeof(SectionRecord) == 64);

}  // namespace weft::io
