#include "plan/device_table.hpp"

#include <unistd.h>
#include <weft/array.hpp>
#include <weft/error.hpp>
#include <weft/runtime.hpp>
#include <weft/types.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "plan/cache_file.hpp"

namespace weft {
namespace {

struct Field {
  const char* name;
  double DeviceTable::* number;
};
constexpr Field fields[] = {{"launch", &DeviceTable::launch},
                            {"memory_bandwidth", &DeviceTable::memory_bandwidth},
                            {"cache_bandwidth", &DeviceTable::cache_bandwidth},
                            {"cache_bytes", &DeviceTable::cache_bytes},
                            {"sector", &DeviceTable::sector},
                            {"hit", &DeviceTable::hit},
                            {"latency", &DeviceTable::latency}};

// An H200's, rounded: tests that run kernels on the emulator plan as it would.
constexpr DeviceTable emulated{.launch = 4.2e-6,
                               .memory_bandwidth = 4.4e12,
                               .cache_bandwidth = 8.5e12,
                               .cache_bytes = 62.9e6,
                               .sector = 6.6e-12,
                               .hit = 1.16e-12,
                               .latency = 0.15e-6};

/// The least of a few times that `work` takes.
template <class Work>
double least_seconds(int repeats, Work&& work) {
  double least = 1e30;
  for (int i = 0; i < repeats; ++i) {
    const Stopwatch watch;
    work();
    least = std::min(least, watch.seconds());
  }
  return least;
}

double read_seconds(const Array<std::uint64_t>& data, int repeats) {
  std::atomic<std::uint64_t> checksum{0};
  const double seconds = least_seconds(repeats, [&] {
    parallel_ranges(static_cast<std::int64_t>(data.size()), 1 << 13, [&](std::int64_t begin, std::int64_t end) {
      std::uint64_t sums[8] = {};
      for (std::int64_t i = begin; i + 8 <= end; i += 8)
        for (int lane = 0; lane < 8; ++lane) sums[lane] += data[i + lane];
      checksum += sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
    });
  });
  if (checksum == 1) log(LogLevel::debug, "table checksum");  // keeps the sums alive
  return seconds;
}

/// Seconds per random read of a table of `bytes` bytes by a list of places, as products read x, all threads together.
double gather_seconds(std::size_t bytes) {
  constexpr std::int64_t reads = 1 << 21, listed = 1 << 14;
  const Array<double> from(bytes / sizeof(double), 1.0);
  Array<Index> places(static_cast<std::size_t>(listed));
  std::uint64_t state = 12345;
  for (Index& place : places) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    place = static_cast<Index>((state >> 33) * from.size() >> 31);
  }
  std::atomic<std::int64_t> total{0};
  const double seconds = least_seconds(3, [&] {
    parallel_ranges(reads, listed, [&](std::int64_t begin, std::int64_t end) {
      // Each round reads elsewhere, or a few thousand lines would soon be in the first-level cache.
      const auto shift = static_cast<std::size_t>(begin) * 7919 % from.size();
      double sums[4] = {};
      for (std::int64_t i = 0; i + 4 <= end - begin; i += 4)
        for (int lane = 0; lane < 4; ++lane) {
          std::size_t at = static_cast<std::size_t>(places[i + lane]) + shift;
          if (at >= from.size()) at -= from.size();
          sums[lane] += from[at];
        }
      total += static_cast<std::int64_t>(sums[0] + sums[1] + sums[2] + sums[3]);
    });
  });
  if (total == 1) log(LogLevel::debug, "table checksum");  // keeps the sums alive
  return seconds / static_cast<double>(reads);
}

/// Where reading slows down from the speed of the cache to that of memory: at the size that is read at the geometric
/// mean of both. Clouds report the last-level cache of a whole processor, of which a few threads get a share.
double cache_bytes_of(double second_level, double last_level, double cache_bandwidth, double memory_bandwidth) {
  constexpr double max_share = 16;  // of the second-level caches
  const double largest = std::max(second_level, std::min(last_level, max_share * second_level));
  const double middle = std::sqrt(cache_bandwidth * memory_bandwidth);
  double bytes = second_level, bandwidth = cache_bandwidth;
  while (bytes < largest) {
    const double next = std::min(largest, 1.5 * bytes);
    const double found = next / read_seconds(Array<std::uint64_t>(static_cast<std::size_t>(next / 8), 1), 7);
    if (found < middle) {
      const double share = std::log(bandwidth / middle) / std::log(bandwidth / found);
      return bytes * std::pow(next / bytes, std::clamp(share, 0.0, 1.0));
    }
    bytes = next;
    bandwidth = found;
  }
  return largest;
}

DeviceTable measure_cpu() {
  DeviceTable table;
  const double last = static_cast<double>(std::max<long>(sysconf(_SC_LEVEL3_CACHE_SIZE), 1 << 20));
  const double second = static_cast<double>(std::max<long>(sysconf(_SC_LEVEL2_CACHE_SIZE), 1 << 18)) * threads();
  constexpr int loops = 32;
  table.launch = least_seconds(5,
                               [] {
                                 for (int i = 0; i < loops; ++i)
                                   parallel_ranges(threads(), 1, [](std::int64_t, std::int64_t) {});
                               }) /
                 loops;
  const auto large = static_cast<std::size_t>(std::clamp(4 * last, 128e6, 512e6));
  table.memory_bandwidth = static_cast<double>(large) / read_seconds(Array<std::uint64_t>(large / 8, 1), 3);
  const auto small = static_cast<std::size_t>(second);
  table.cache_bandwidth = std::max(table.memory_bandwidth,
                                   static_cast<double>(small) / read_seconds(Array<std::uint64_t>(small / 8, 1), 9));
  table.cache_bytes = cache_bytes_of(second, last, table.cache_bandwidth, table.memory_bandwidth);
  table.hit = gather_seconds(16 << 10);
  table.sector = std::max(table.hit, gather_seconds(4 * small));
  table.latency = table.sector * threads() * 4;  // about four loads of a core are on their way at a time
  return table;
}

DeviceTable measure(Device device) {
  const Stopwatch watch;
  const DeviceTable table = device.is_cpu() ? measure_cpu() : WEFT_ON_DEVICE(device, table::measure)(device);
  log(LogLevel::info, "measured the table of " + device.name() + " in " + std::to_string(watch.seconds()) + " s");
  return table;
}

std::optional<DeviceTable> read_table(const std::string& path) {
  constexpr std::size_t far_too_long = 4096;
  const std::optional<std::string> text = read_cache_file(path, far_too_long);
  if (!text) return std::nullopt;
  try {
    return parse_device_table(*text);
  } catch (const Error& error) {
    log(LogLevel::warning, path + ": " + error.what() + "; measured again");
    return std::nullopt;
  }
}

/// Tables of this process, by device and threads.
class Tables {
 public:
  const DeviceTable& get(Device device, bool renew) {
    const std::lock_guard lock(mutex_);
    const std::pair key(device.name(), device.is_cpu() ? threads() : 0);
    const auto known = tables_.find(key);
    if (known != tables_.end() && !renew) return known->second;
    return tables_[key] = find(device, renew);
  }

 private:
  static DeviceTable find(Device device, bool renew) {
    if (device.kind() == Device::Kind::emulator) return emulated;
    const std::string path = device_table_file(device);
    if (!renew && !path.empty())
      if (const std::optional<DeviceTable> kept = read_table(path)) return *kept;
    // As they will be read back: predictions of this program and the next are the same to the bit.
    const DeviceTable table = parse_device_table(to_text(measure(device)));
    if (!path.empty()) write_cache_file(path, to_text(table), "the device's table");
    return table;
  }

  std::mutex mutex_;
  std::map<std::pair<std::string, int>, DeviceTable> tables_;
};

Tables& tables() {
  static Tables all;
  return all;
}

}  // namespace

const DeviceTable& device_table(Device device) { return tables().get(device, false); }
const DeviceTable& renew_device_table(Device device) { return tables().get(device, true); }

std::string device_table_file(Device device) { return cache_file(device, ".table"); }

std::string to_text(const DeviceTable& table) {
  std::string text = "# Weft's table of a device, seconds and bytes; renewed by: weft tune\n";
  for (const Field& field : fields) {
    char line[64];
    std::snprintf(line, sizeof line, "%s %.9g\n", field.name, table.*field.number);
    text += line;
  }
  return text;
}

DeviceTable parse_device_table(const std::string& text) {
  std::map<std::string, double> numbers;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string name;
    double number = 0;
    if (words >> name >> number) numbers[name] = number;
  }
  DeviceTable table;
  for (const Field& field : fields) {
    const auto found = numbers.find(field.name);
    if (found == numbers.end() || !(found->second > 0) || !std::isfinite(found->second))
      throw Error(ErrorCode::parse, std::string("no sensible '") + field.name + "'");
    table.*field.number = found->second;
  }
  return table;
}

}  // namespace weft
