// Tests keep what they measure of this machine to themselves: they run beside one another, and a table made then is
// not one to plan by.
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

const bool own_cache = [] {
  const auto folder = std::filesystem::temp_directory_path() / "weft-tests-cache";
  return setenv("WEFT_CACHE", folder.c_str(), 0) == 0;
}();

}  // namespace
