#include <weft/partition.hpp>

#include "core/file_bytes.hpp"
#include "generate/fem.hpp"
#include "io/coordinates_file.hpp"

namespace weft {

Coordinates read_coordinates(const std::string& source) {
  constexpr std::string_view fem = "fem:";
  if (source.starts_with(fem)) return generation::fem_coordinates(std::string_view(source).substr(fem.size()));
  const io::FileBytes file = io::read_file(source);
  return io::parse_coordinates(file.text(), source);
}

}  // namespace weft
