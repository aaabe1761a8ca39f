#include "plan/bandwidth.hpp"

#include <unistd.h>
#include <weft/array.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/timer.hpp"

namespace weft {
namespace {

double measure_cpu() {
  // Four times the last-level cache, within 256 MB .. 1 GB.
  const long cache = std::max<long>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
  const std::size_t bytes = std::clamp<std::size_t>(static_cast<std::size_t>(cache) * 4, 256u << 20, 1u << 30);
  const auto count = static_cast<std::int64_t>(bytes / sizeof(std::uint64_t));
  Array<std::uint64_t> data(static_cast<std::size_t>(count));
  constexpr std::int64_t grain = 1 << 18;
  parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) data[i] = static_cast<std::uint64_t>(i);
  });
  std::atomic<std::uint64_t> checksum{0};
  double best = 0;
  for (int repeat = 0; repeat < 8; ++repeat) {
    // A core gets more out of memory when it follows several streams at once, as a product does.
    const std::int64_t streams = repeat % 2 == 0 ? 2 : 4;
    const Stopwatch watch;
    parallel_ranges(count, grain, [&](std::int64_t from, std::int64_t to) {
      const std::int64_t length = (to - from) / streams / 8 * 8;
      std::uint64_t sums[8] = {};
      for (std::int64_t i = from; i < from + length; i += 8)
        for (std::int64_t stream = 0; stream < streams; ++stream)
          for (int lane = 0; lane < 8; ++lane) sums[lane] += data[i + stream * length + lane];
      for (std::int64_t i = from + streams * length; i < to; ++i) sums[0] += data[i];
      for (int lane = 1; lane < 8; ++lane) sums[0] += sums[lane];
      checksum += sums[0];
    });
    best = std::max(best, static_cast<double>(bytes) / watch.seconds());
  }
  if (checksum == 1) log(LogLevel::debug, "bandwidth checksum");  // keeps the sums alive
  return best;
}

}  // namespace

CacheSweep::CacheSweep(Device device) : device_(device) {
  constexpr std::int64_t least = 32 << 20;
  const DeviceInfo info = describe(device);
  const std::int64_t most = std::max(least, std::min<std::int64_t>(512 << 20, info.memory_bytes / 16));
  if (device.is_cpu()) {
    const std::int64_t cache = std::max<long>(sysconf(_SC_LEVEL3_CACHE_SIZE), 0);
    words_ = static_cast<std::size_t>(std::clamp(2 * cache, least, most)) / sizeof(std::uint64_t) / 2 * 2;
    host_ = Array<std::uint64_t>(words_, 1);  // one buffer is enough where it is read to its end before the product
  } else if (device.kind() == Device::Kind::gpu) {
    words_ = static_cast<std::size_t>(std::clamp(2 * info.l2_bytes, least, most)) / 16 * 2;
    on_device_ = DeviceBuffer<std::uint64_t>(device, 2 * words_);
  }
}

void CacheSweep::queue() {
  if (device_.is_cpu()) {
    std::atomic<std::uint64_t> sum{0};
    parallel_ranges(static_cast<std::int64_t>(words_), 1 << 16, [&](std::int64_t from, std::int64_t to) {
      std::uint64_t part = 0;
      for (std::int64_t i = from; i < to; i += 8) part += host_[i];
      sum += part;
    });
    checksum_ += sum;
  } else if (device_.kind() == Device::Kind::gpu) {
#ifdef WEFT_HAS_CUDA
    on_cuda::read_through(device_, on_device_.data() + (second_ ? words_ : 0), words_ * sizeof(std::uint64_t));
    second_ = !second_;
#endif
  }
}

double measure_bandwidth(Device device) {
  switch (device.kind()) {
    case Device::Kind::cpu:
      return measure_cpu();
    case Device::Kind::gpu:
#ifdef WEFT_HAS_CUDA
      return on_cuda::measure_read_bandwidth(device);
#endif
    case Device::Kind::emulator:
      break;
  }
  describe(device);  // throws for a GPU that is not there
  return 0;
}

}  // namespace weft
