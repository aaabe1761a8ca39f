#include "store/container.hpp"

#include <algorithm>
#include <cstring>

#include "core/progress_meter.hpp"
#include "core/text_cursor.hpp"
#include "store/checksum.hpp"
#include "store/container_layout.hpp"

namespace weft::io {
namespace {

constexpr std::array<std::string_view, 11> type_names = {"unknown", "u8",  "i8",  "u16", "i16", "u32",
                                                         "i32",     "u64", "i64", "f32", "f64"};
constexpr std::array<std::size_t, 11> type_sizes = {0, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};

std::size_t type_position(ElementType type) {
  const auto number = static_cast<std::uint32_t>(type);
  return number < type_names.size() ? number : 0;
}

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

std::size_t element_size(ElementType type) { return type_sizes[type_position(type)]; }
std::string_view to_string(ElementType type) { return type_names[type_position(type)]; }

bool is_container(std::span<const std::byte> bytes) {
  return bytes.size() >= container_magic.size() &&
         std::memcmp(bytes.data(), container_magic.data(), container_magic.size()) == 0;
}

Container Container::open(const std::string& path, const Progress& progress) {
  Container container(map_file(path), path);
  container.verify(progress);
  return container;
}

// Untrusted input, verified in this order: 1. the header by itself and against the file's size, 2. its checksum, which
// covers the section records, 3. the records, whose sections must follow one another, 4. each section's content.
Container::Container(FileBytes file, std::string name) : file_(std::move(file)), name_(std::move(name)) {
  read_table(check_header());
}

void Container::refuse(const std::string& sentence) const { throw Error(ErrorCode::parse, name_ + ": " + sentence); }

std::size_t Container::check_header() const {
  if (!is_container(file_.bytes)) refuse("this is no .weft file: its first bytes are others");
  if (file_.bytes.size() < sizeof(FileHeader)) refuse("the .weft file is cut inside its header");
  FileHeader header;
  std::memcpy(&header, file_.bytes.data(), sizeof(header));
  if (header.byte_order != container_byte_order) {
    if (header.byte_order == __builtin_bswap32(container_byte_order))
      throw Error(ErrorCode::unsupported,
                  name_ + ": the .weft file was written on a machine with the other byte order");
    refuse("the header of the .weft file is damaged");
  }
  if (header.version != container_version)
    throw Error(ErrorCode::unsupported, name_ + ": the .weft file has format version " +
                                            std::to_string(header.version) + ", but this Weft reads version " +
                                            std::to_string(container_version) + "; a newer Weft may read it");
  if (header.file_bytes != file_.bytes.size())
    refuse("the .weft file should have " + std::to_string(header.file_bytes) + " bytes but has " +
           std::to_string(file_.bytes.size()) + ": it was cut or altered");
  const std::size_t table_bytes = sizeof(FileHeader) + std::size_t{header.sections} * sizeof(SectionRecord);
  if (header.sections > max_sections || table_bytes > file_.bytes.size())
    refuse("the .weft file claims " + std::to_string(header.sections) + " sections, more than it can hold");
  std::vector<std::byte> table(file_.bytes.begin(), file_.bytes.begin() + static_cast<std::ptrdiff_t>(table_bytes));
  std::memset(table.data() + offsetof(FileHeader, checksum), 0, sizeof(header.checksum));
  if (hash64(table) != header.checksum || !all_zero(std::as_bytes(std::span(header.reserved))))
    refuse("the header of the .weft file is damaged: its checksum does not agree");
  return header.sections;
}

void Container::read_table(std::size_t sections) {
  std::size_t end = sizeof(FileHeader) + sections * sizeof(SectionRecord);
  for (std::size_t i = 0; i < sections; ++i) {
    SectionRecord record;
    std::memcpy(&record, file_.bytes.data() + sizeof(FileHeader) + i * sizeof(SectionRecord), sizeof(record));
    const auto name_end = std::find(record.name.begin(), record.name.end(), '\0');
    const std::string section_name(record.name.begin(), name_end);
    const bool named = !section_name.empty() && name_end != record.name.end() &&
                       all_zero(std::as_bytes(std::span(name_end, record.name.end())));
    const auto type = static_cast<ElementType>(record.type);
    const std::size_t size = element_size(type);
    if (!named || size == 0 || record.reserved != 0 || find(section_name))
      refuse("section " + std::to_string(i + 1) + " of the .weft file is not described as the format demands");
    const std::size_t room = file_.bytes.size() - end;
    if (record.offset != end || record.count > room / size)
      refuse("section " + quoted(section_name) + " of the .weft file lies outside the file");
    sections_.push_back({.name = section_name,
                         .type = type,
                         .count = static_cast<std::size_t>(record.count),
                         .offset = end,
                         .checksum = record.checksum});
    end += record.count * size;
    const std::size_t next = padded(end);
    if (next > file_.bytes.size() || !all_zero(file_.bytes.subspan(end, next - end)))
      refuse("the .weft file is damaged behind section " + quoted(section_name));
    end = next;
  }
  if (end != file_.bytes.size()) refuse("the .weft file has bytes that belong to no section");
}

void Container::verify(const Progress& progress) const {
  std::size_t total = 0;
  for (const Section& section : sections_)
    if (!section.verified) total += section.bytes();
  ProgressMeter meter(progress, static_cast<std::int64_t>(total));
  for (const Section& section : sections_) verify(section, &meter);
}

void Container::verify(const Section& section, ProgressMeter* meter) const {
  if (section.verified) return;
  if (section_checksum(file_.bytes.subspan(section.offset, section.bytes()), meter) != section.checksum)
    refuse("section " + quoted(section.name) + " of the .weft file is damaged: its checksum does not agree");
  section.verified = true;
}

std::vector<std::string> Container::section_names() const {
  std::vector<std::string> names;
  for (const Section& section : sections_) names.push_back(section.name);
  return names;
}

const Container::Section* Container::find(std::string_view section) const {
  const auto found =
      std::find_if(sections_.begin(), sections_.end(), [&](const Section& s) { return s.name == section; });
  return found == sections_.end() ? nullptr : &*found;
}

const Container::Section& Container::get(std::string_view section) const {
  const Section* const found = find(section);
  if (!found) refuse("the .weft file has no section " + quoted(section));
  return *found;
}

const Container::Section& Container::get(std::string_view section, ElementType type) const {
  const Section& found = get(section);
  if (found.type != type)
    refuse("section " + quoted(section) + " of the .weft file holds " + std::string(to_string(found.type)) + " where " +
           std::string(to_string(type)) + " belongs");
  return found;
}

}  // namespace weft::io
