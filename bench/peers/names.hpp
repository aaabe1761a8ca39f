#pragma once
#include <algorithm>
#include <string>
#include <vector>

namespace weft::bench {

/// The names of a list such as "csr,coo:x"; empty ones are left out.
inline std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

}  // namespace weft::bench
