#pragma once
#include <weft/partition.hpp>

#include <string>
#include <string_view>

namespace weft::ordering {

/// What read_partition does with a file's text; `name` is for error sentences.
Partition parse_partition(std::string_view text, const std::string& name, Index rows);

}  // namespace weft::ordering
