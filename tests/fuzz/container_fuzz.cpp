// Feeds arbitrary bytes to the .weft reader: as they are, and with checksums made to agree, so that the checks behind
// them are reached too. The result is a canonical matrix or a weft::Error.
#include <weft/csr.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "io/checksum.hpp"
#include "io/container.hpp"
#include "io/container_layout.hpp"
#include "io/csr_container.hpp"

namespace {

using weft::io::FileHeader;
using weft::io::SectionRecord;

void require(bool condition) {
  if (!condition) std::abort();
}

template <weft::Value V>
void read(std::span<const std::byte> bytes) {
  // 64-byte aligned, as a mapped file is, and an allocation of its own, so that a read past the end is seen.
  const auto memory = std::make_shared<weft::Array<std::byte>>(weft::Array<std::byte>::copy_of(bytes));
  try {
    const weft::io::Container container({memory, {memory->data(), memory->size()}}, "fuzz");
    require(check(weft::io::csr_from_container<V>(container)).empty());
  } catch (const weft::Error& error) {
    require(error.code() == weft::ErrorCode::parse || error.code() == weft::ErrorCode::unsupported);
  }
}

void sign(std::span<std::byte> bytes) {
  if (bytes.size() < sizeof(FileHeader)) return;
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  header.magic = weft::io::container_magic;
  header.byte_order = weft::io::container_byte_order;
  header.version = weft::io::container_version;
  header.file_bytes = bytes.size();
  header.reserved = {};
  header.checksum = 0;
  const std::size_t table =
      std::min(bytes.size(), sizeof(header) + std::size_t{header.sections} * sizeof(SectionRecord));
  for (std::size_t at = sizeof(header); at + sizeof(SectionRecord) <= table; at += sizeof(SectionRecord)) {
    SectionRecord record;
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    const std::size_t size = weft::io::element_size(static_cast<weft::io::ElementType>(record.type));
    if (size == 0 || record.offset > bytes.size() || record.count > (bytes.size() - record.offset) / size) continue;
    record.checksum = weft::io::section_checksum(bytes.subspan(record.offset, record.count * size));
    std::memcpy(bytes.data() + at, &record, sizeof(record));
  }
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.checksum = weft::io::hash64(bytes.first(table));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::set_threads(1);
  weft::Array<std::byte> bytes = weft::Array<std::byte>::copy_of(std::as_bytes(std::span(data, size)));
  read<double>(bytes);
  sign(bytes);
  read<double>(bytes);
  read<float>(bytes);
  return 0;
}
