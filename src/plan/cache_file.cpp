#include "plan/cache_file.hpp"

#include <weft/runtime.hpp>

#include <cctype>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>

#include "core/atomic_file.hpp"

namespace weft {
namespace {

/// Letters and digits of a device's description, and what else decides its numbers.
std::string key_of(Device device) {
  const DeviceInfo info = describe(device);
  std::string key;
  for (const char c : info.description) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (!key.empty() && key.back() != '-')
      key += '-';
  }
  while (!key.empty() && key.back() == '-') key.pop_back();
  return key + "-" + std::to_string(device.is_cpu() ? threads() : info.multiprocessors);
}

std::string cache_folder() {
  const auto variable = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value ? value : "";
  };
  if (const std::string own = variable("WEFT_CACHE"); !own.empty()) return own;
  if (const std::string caches = variable("XDG_CACHE_HOME"); !caches.empty()) return caches + "/weft";
  if (const std::string home = variable("HOME"); !home.empty()) return home + "/.cache/weft";
  return "";
}

}  // namespace

std::string cache_file(Device device, const char* ending) {
  const std::string folder = cache_folder();
  if (folder.empty() || device.kind() == Device::Kind::emulator) return "";
  return folder + "/" + key_of(device) + ending;
}

std::optional<std::string> read_cache_file(const std::string& path, std::size_t max_bytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::string text(max_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

void write_cache_file(const std::string& path, const std::string& text, const std::string& what) {
  try {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    io::AtomicFile file(path);
    file.write(text);
    file.commit();
  } catch (const std::exception& error) {
    log(LogLevel::info, what + " is not kept: " + error.what());
  }
}

}  // namespace weft
