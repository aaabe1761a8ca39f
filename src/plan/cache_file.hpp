#pragma once
#include <weft/device.hpp>

#include <optional>
#include <string>

// Small text files about a device in the user's cache folder: $WEFT_CACHE, else weft below $XDG_CACHE_HOME or ~/.cache.
namespace weft {

/// The file about this device with this ending. Empty: there is no folder, or the device is the emulator.
std::string cache_file(Device device, const char* ending);

/// Its text, or the first `max_bytes` of it; none if it is not there.
std::optional<std::string> read_cache_file(const std::string& path, std::size_t max_bytes);

/// Writes it, and its folder if need be. Where that fails the logger hears that `what` is not kept.
void write_cache_file(const std::string& path, const std::string& text, const std::string& what);

}  // namespace weft
