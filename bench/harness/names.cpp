#include "names.hpp"

#include <charconv>
#include <string_view>
#include <system_error>

namespace weft::bench {

std::string auto_for(std::int64_t products) { return "auto@" + std::to_string(products); }

std::optional<std::int64_t> products_in(const std::string& name) {
  constexpr std::string_view prefix = "auto@";
  if (!name.starts_with(prefix)) return std::nullopt;
  std::int64_t products = 0;
  const char* const end = name.data() + name.size();
  const auto [last, error] = std::from_chars(name.data() + prefix.size(), end, products);
  if (error != std::errc() || last != end || products < 1) return std::nullopt;
  return products;
}

}  // namespace weft::bench
