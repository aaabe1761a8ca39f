#pragma once
#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "store/checksum.hpp"
#include "store/container.hpp"
#include "store/container_layout.hpp"

namespace weft::io::testing {

/// Makes the checksums of a .weft file agree after a change, as somebody who forges a file would.
inline void sign(std::span<std::byte> bytes) {
  if (bytes.size() < sizeof(FileHeader)) return;
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::size_t table =
      std::min(bytes.size(), sizeof(FileHeader) + std::size_t{header.sections} * sizeof(SectionRecord));
  for (std::size_t at = sizeof(FileHeader); at + sizeof(SectionRecord) <= table; at += sizeof(SectionRecord)) {
    SectionRecord record;
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    const std::size_t size = element_size(static_cast<ElementType>(record.type));
    if (size == 0 || record.offset > bytes.size() || record.count > (bytes.size() - record.offset) / size) continue;
    record.checksum = section_checksum(bytes.subspan(record.offset, record.count * size));
    std::memcpy(bytes.data() + at, &record, sizeof(record));
  }
  header.checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.checksum = hash64(bytes.first(table));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

/// Every name a matrix can be packed by.
inline std::vector<std::string> names() {
  return {"bro-ell",         "bro-ell:h=32",   "bro-ell:sym=64", "bro-coo",
          "bro-coo:steps=2", "bro-coo:sym=64", "ehyb",           "ehyb:cache=20:padding=100"};
}
inline std::vector<std::string> formats_stored() { return {"bro-ell", "bro-coo", "ehyb"}; }
inline std::string format_of(const std::string& name) { return name.substr(0, name.find(':')); }

}  // namespace weft::io::testing
