#include "store/packed_container.hpp"

#include <weft/io.hpp>

#include <algorithm>

#include "core/parallel.hpp"
#include "core/text_cursor.hpp"
#include "order/partition/coordinates.hpp"
#include "sparse/canonical.hpp"
#include "store/csr_container.hpp"

namespace weft {
namespace io {
namespace {

const Format* storable_format(const std::string& name) {
  const auto found = std::ranges::find_if(
      registry(), [&](const Format* format) { return format->info.storable && format->info.name == name; });
  return found == registry().end() ? nullptr : *found;
}

template <Value V, Value Stored>
Array<V> converted(const Container& container, const Array<Stored>& stored) {
  if constexpr (std::same_as<V, Stored>) {
    return stored;
  } else {
    Array<V> values(stored.size());
    parallel_for(static_cast<std::int64_t>(stored.size()), 1 << 16,
                 [&](std::int64_t i) { values[i] = static_cast<V>(stored[i]); });
    require_finite<V, Stored>(container, stored, values, [](Offset) { return ""; });
    return values;
  }
}

/// All sections a format may look at, values as V.
template <Value V>
StoredArrays arrays_of(const Container& container) {
  StoredArrays arrays;
  for (const std::string& name : container.section_names()) {
    const auto add = [&]<class T>() { arrays.add(name, container.section<T>(name)); };
    switch (container.type(name)) {
      case ElementType::u8:
        add.template operator()<std::uint8_t>();
        break;
      case ElementType::u16:
        add.template operator()<std::uint16_t>();
        break;
      case ElementType::u32:
        add.template operator()<std::uint32_t>();
        break;
      case ElementType::i32:
        add.template operator()<std::int32_t>();
        break;
      case ElementType::i64:
        add.template operator()<std::int64_t>();
        break;
      case ElementType::f32:
        if (name == values_section) arrays.add(name, converted<V>(container, container.section<float>(name)));
        break;
      case ElementType::f64:
        if (name == values_section) arrays.add(name, converted<V>(container, container.section<double>(name)));
        break;
      default:
        break;
    }
  }
  return arrays;
}

}  // namespace

const Format* packed_format(const Container& container) { return storable_format(kind_of(container)); }

std::string recipe_in(const Container& container, const Format& format) {
  if (!container.has(recipe_section)) return {};
  constexpr std::size_t max_letters = 1024;
  const std::string recipe = letters_of(container, recipe_section, max_letters);
  try {
    if (parse_format(recipe).format->name == format.info.name) return recipe;
  } catch (const Error&) {  // it is reported below, without the letters of the file as they are
  }
  throw Error(ErrorCode::parse, container.name() + ": the .weft file's section 'recipe' is not one of " +
                                    format.info.name + ": " + io::quoted(recipe));
}

template <Value V>
Packed<V> unpack(const Container& container, const Format& format) {
  const auto [rows, cols] = shape_of(container);
  const Symmetry symmetry = symmetry_of(container);
  check_offsets_memory(container.name(), rows);
  // One after the other: GCC 12 destroys members twice when a later initializer of the same braces throws.
  Packed<V> packed;
  packed.recipe = recipe_in(container, format);
  packed.arrays = arrays_of<V>(container);
  try {
    packed.matrix = format.storing.get<V>().unpack(packed.arrays, rows, cols);
    packed.matrix.symmetry = symmetry;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse) throw;
    throw Error(ErrorCode::parse,
                container.name() + ": the .weft file holds no " + format.info.name + " matrix: " + error.what());
  }
  return packed;
}

#define WEFT_INSTANTIATE(V) template Packed<V> unpack<V>(const Container&, const Format&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace io

template <Value V>
void write_weft_as(const std::string& path, const Csr<V>& matrix, const std::string& format, Progress progress,
                   const std::shared_ptr<const Partition>& partition, std::optional<Device> device,
                   const std::shared_ptr<const Coordinates>& coordinates) {
  if (partition) require_partition(*partition, matrix.rows);
  const Recipe recipe = parse_recipe(format);
  if (recipe.order != Ordering::none || !recipe.transposed.empty())
    throw Error(
        ErrorCode::unsupported,
        "a .weft file keeps a matrix in its own order, and not the transposed one: it cannot hold '" + format + "'");
  if (coordinates) ordering::require_coordinates_of_nodes(*coordinates, matrix.rows);
  const FormatName name = parse_format(format);
  if (name.format->name == io::csr_kind) return write_weft(path, matrix, std::move(progress));
  const Format* const found = io::storable_format(name.format->name);
  if (!found) {
    std::string names(io::csr_kind);
    for (const FormatInfo& info : formats())
      if (info.storable) names += ", " + info.name;
    throw Error(ErrorCode::unsupported,
                "a .weft file cannot hold format '" + name.format->name + "'; it can hold: " + names);
  }
  const StoredArrays arrays = found->storing.get<V>().store(matrix, {.device = Device::cpu(),
                                                                     .variant = name.variant,
                                                                     .parameters = name.parameters,
                                                                     .partition = partition,
                                                                     .coordinates = coordinates,
                                                                     .store_for = device});
  const io::MatrixHead head(name.format->name, matrix.rows, matrix.cols, matrix.symmetry,
                            recipe_of({found, name.variant, name.parameters}, name.variant, arrays.numbers));
  io::ContainerWriter writer;
  head.add_to(writer);
  for (const auto& [section, elements] : arrays.all())
    std::visit(
        [&]<class T>(const Array<T>& array) { writer.add(section, std::span<const T>(array.data(), array.size())); },
        elements);
  writer.write(path, progress);
}

#define WEFT_INSTANTIATE(V)                                                                       \
  template void write_weft_as<V>(const std::string&, const Csr<V>&, const std::string&, Progress, \
                                 const std::shared_ptr<const Partition>&, std::optional<Device>,  \
                                 const std::shared_ptr<const Coordinates>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
