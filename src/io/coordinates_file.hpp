#pragma once
#include <weft/partition.hpp>

#include <string>
#include <string_view>

namespace weft::io {

/// What read_coordinates does with a file's text; `name` is for error sentences.
Coordinates parse_coordinates(std::string_view text, const std::string& name);

}  // namespace weft::io
