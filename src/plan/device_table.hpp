#pragma once
#include <weft/device.hpp>

#include <string>

#include "core/device_table.hpp"
#include "simt/on_device.hpp"

namespace weft {

/// What predictions are made from. Measured when it is first wanted, which takes some hundredths of a second (on a CPU
/// tenths), and kept in the user's cache folder, so that every later program on this machine predicts the same. Where
/// that cannot be written each program measures for itself. The emulator has fixed numbers.
const DeviceTable& device_table(Device device);

/// Measures again, and keeps that.
const DeviceTable& renew_device_table(Device device);

/// Where it is kept: a file in $WEFT_CACHE, else in weft below $XDG_CACHE_HOME or ~/.cache. Empty: nowhere.
std::string device_table_file(Device device);

/// The table's text, and back: a line per number. Throws Error(parse) unless all are there and sensible.
std::string to_text(const DeviceTable& table);
DeviceTable parse_device_table(const std::string& text);

}  // namespace weft

WEFT_DECLARE_ON_DEVICES(table, DeviceTable measure(Device device);)
