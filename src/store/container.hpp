#pragma once
#include <weft/array.hpp>
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/file_bytes.hpp"
#include "core/progress_meter.hpp"

namespace weft::io {

/// The .weft file: named arrays of numbers, each 64-byte aligned and checksummed, so that a file can be mapped and used
/// in place. docs/container.md describes the bytes.
enum class ElementType : std::uint32_t { u8 = 1, i8, u16, i16, u32, i32, u64, i64, f32, f64 };

std::size_t element_size(ElementType type);  ///< 0 for a type this version does not know
std::string_view to_string(ElementType type);

template <class T>
constexpr ElementType element_type = [] {
  static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? ElementType::f32 : ElementType::f64;
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return is_signed ? ElementType::i8 : ElementType::u8;
    case 2:
      return is_signed ? ElementType::i16 : ElementType::u16;
    case 4:
      return is_signed ? ElementType::i32 : ElementType::u32;
    default:
      return is_signed ? ElementType::i64 : ElementType::u64;
  }
}();

constexpr std::size_t longest_section_name = 31;

/// True when the bytes begin as a container does, sound or not.
bool is_container(std::span<const std::byte> bytes);

/// A container that was read. Its header and section table have been verified with every bound in them; a section's
/// checksum is verified when it is first used, or with all others by `verify`, and never twice. For one thread.
class Container {
 public:
  /// Maps the file and verifies all of it. Throws Error(io) as map_file does, Error(parse) for a file that was cut,
  /// altered or made up, Error(unsupported) for one of a later version.
  static Container open(const std::string& path, const Progress& progress = {});

  /// Bytes in memory, 64-byte aligned, of which only the header and the section table are read; `name` is for
  /// sentences.
  Container(FileBytes file, std::string name);

  /// Verifies every section that has not been used yet. Throws Error(parse) for the first that is damaged.
  void verify(const Progress& progress = {}) const;

  bool has(std::string_view section) const { return find(section) != nullptr; }
  ElementType type(std::string_view section) const { return get(section).type; }

  /// A view of a section that keeps the file mapped. It may be written to; the file does not change. Throws
  /// Error(parse) when there is no such section, it has other elements or it is damaged.
  template <class T>
  Array<T> section(std::string_view name) const {
    const Section& found = get(name, element_type<T>);
    verify(found);
    return Array<T>(file_.owner, reinterpret_cast<T*>(file_.bytes.data() + found.offset), found.count);
  }

  std::vector<std::string> section_names() const;

  const std::string& name() const { return name_; }

 private:
  struct Section {
    std::string name;
    ElementType type = ElementType::u8;
    std::size_t count = 0;
    std::size_t offset = 0;
    std::uint64_t checksum = 0;
    mutable bool verified = false;
    std::size_t bytes() const { return count * element_size(type); }
  };

  [[noreturn]] void refuse(const std::string& sentence) const;
  std::size_t check_header() const;
  void read_table(std::size_t sections);
  void verify(const Section& section, ProgressMeter* meter = nullptr) const;
  const Section* find(std::string_view section) const;
  const Section& get(std::string_view section) const;
  const Section& get(std::string_view section, ElementType type) const;

  FileBytes file_;
  std::string name_;
  std::vector<Section> sections_;
};

/// Collects sections and writes them. The arrays are not copied and must live until `write` returns.
class ContainerWriter {
 public:
  /// Throws Error(invalid_argument) for a name that is empty, longer than 31 characters or taken, and past 4096
  /// sections.
  template <class T>
  void add(std::string_view name, std::span<const T> elements) {
    add(name, element_type<std::remove_const_t<T>>, elements.size(), std::as_bytes(elements));
  }

  /// Writes all sections in the order they were added; atomic. Throws Error(io).
  void write(const std::string& path, const Progress& progress = {}) const;

 private:
  struct Section {
    std::string name;
    ElementType type;
    std::size_t count;
    std::span<const std::byte> bytes;
  };
  void add(std::string_view name, ElementType type, std::size_t count, std::span<const std::byte> bytes);

  std::vector<Section> sections_;
};

}  // namespace weft::io
