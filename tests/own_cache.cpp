// Tests keep what they measure of this machine to themselves: they run beside one another, and a table made then is
// not one to plan by.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace {

class OwnCache {
 public:
  OwnCache() { setenv("WEFT_CACHE", folder_.c_str(), 0); }
  OwnCache(const OwnCache&) = delete;
  OwnCache& operator=(const OwnCache&) = delete;
  ~OwnCache() {
    if (getpid() != process_) return;  // a test's child
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  const pid_t process_ = getpid();
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("weft-tests-cache-" + std::to_string(process_));
};

const OwnCache own_cache;

}  // namespace
