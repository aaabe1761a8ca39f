#pragma once
#include <cstdint>
#include <optional>
#include <string>

// Names of what is measured that say more than a format.
namespace weft::bench {

/// The name under which `auto` is measured when it plans for other than RunOptions::products: "auto@100".
std::string auto_for(std::int64_t products);
/// The number in such a name; none in any other.
std::optional<std::int64_t> products_in(const std::string& name);

}  // namespace weft::bench
