#include <algorithm>
#include <cstring>

#include "core/atomic_file.hpp"
#include "core/progress_meter.hpp"
#include "store/checksum.hpp"
#include "store/container.hpp"
#include "store/container_layout.hpp"

namespace weft::io {

void ContainerWriter::add(std::string_view name, ElementType type, std::size_t count,
                          std::span<const std::byte> bytes) {
  const bool taken = std::any_of(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == name; });
  if (name.empty() || name.size() > longest_section_name || name.find('\0') != std::string_view::npos || taken)
    throw Error(ErrorCode::invalid_argument, "'" + std::string(name) +
                                                 "' cannot be the name of a section: it must be new and have 1 to " +
                                                 std::to_string(longest_section_name) + " characters");
  if (sections_.size() == max_sections)
    throw Error(ErrorCode::invalid_argument, "a .weft file has at most " + std::to_string(max_sections) + " sections");
  sections_.push_back({std::string(name), type, count, bytes});
}

void ContainerWriter::write(const std::string& path, const Progress& progress) const {
  AtomicFile file(path);  // first, so that a place that cannot be written is reported at once

  std::vector<std::byte> table(sizeof(FileHeader) + sections_.size() * sizeof(SectionRecord));
  std::size_t end = table.size();
  for (std::size_t i = 0; i < sections_.size(); ++i) {
    SectionRecord record{};
    std::copy(sections_[i].name.begin(), sections_[i].name.end(), record.name.begin());
    record.type = static_cast<std::uint32_t>(sections_[i].type);
    record.count = sections_[i].count;
    record.offset = end;
    record.checksum = section_checksum(sections_[i].bytes);
    std::memcpy(table.data() + sizeof(FileHeader) + i * sizeof(SectionRecord), &record, sizeof(record));
    end += padded(sections_[i].bytes.size());
  }
  FileHeader header{};
  header.magic = container_magic;
  header.byte_order = container_byte_order;
  header.version = container_version;
  header.file_bytes = end;
  header.sections = static_cast<std::uint32_t>(sections_.size());
  std::memcpy(table.data(), &header, sizeof(header));
  header.checksum = hash64(table);
  std::memcpy(table.data(), &header, sizeof(header));
  file.write(table);

  ProgressMeter meter(progress, static_cast<std::int64_t>(end - table.size()));
  constexpr std::array<std::byte, section_alignment> zeros{};
  for (const Section& section : sections_) {
    constexpr std::size_t step = std::size_t{8} << 20;
    for (std::size_t at = 0; at < section.bytes.size(); at += step) {
      const auto piece = section.bytes.subspan(at, std::min(step, section.bytes.size() - at));
      file.write(piece);
      meter.add(static_cast<std::int64_t>(piece.size()));
    }
    file.write(std::span(zeros).first(padded(section.bytes.size()) - section.bytes.size()));
  }
  file.commit();
}

}  // namespace weft::io
