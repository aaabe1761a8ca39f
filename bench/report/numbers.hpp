#pragma once
#include <weft/types.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace weft::bench {

std::string count_text(std::int64_t count);  ///< "1,234,567"
std::string seconds_text(double seconds);    ///< "1.23 ms"
std::string bytes_text(double bytes);        ///< "12.3 MB" (10^6)
std::string percent_text(double share);      ///< "12.3 %"
/// What is stored besides the entries, in percent of them: "0 %", "12.3 %"; from 1000 % on as a multiple, "25x".
std::string padding_text(std::int64_t padding, std::int64_t entries);
std::string with_noun(std::int64_t count, const std::string& noun);  ///< "1 row", "2 rows"
std::string one_of(const std::vector<std::string>& names);           ///< "a, b or c"
std::string one_of_orderings();                                      ///< the names of all orderings, so
std::string layout_name(Layout layout);                              ///< "column" or "row"
std::string vectors_text(int vectors, Layout layout);                ///< ", 8 vectors, row-major"; empty for one

}  // namespace weft::bench
