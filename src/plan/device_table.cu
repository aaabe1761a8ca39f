// What predictions need to know of a GPU, measured in some hundredths of a second.
#include "plan/device_table.hpp"

#include <weft/buffer.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "core/timer.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::table {
namespace {

using ::weft::simt::block_threads;

/// Writes only if the words add up to an unlikely number, so that the loads are not dropped.
__device__ void keep_alive(unsigned sum, unsigned* sink) {
  if (sum == 0x9E3779B9u) *sink = sum;
}

/// As large as the parameters of a product, which are sent with each launch.
struct Parameters {
  const unsigned* numbers[16];
};

/// Nothing but being there, on every multiprocessor, as a product is.
__global__ void __launch_bounds__(block_threads) do_nothing(Parameters /*of nothing*/) {}

__global__ void __launch_bounds__(block_threads) fill_words(std::size_t count, unsigned* words) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::size_t>(simt::global_thread_id()); i < count; i += step)
    words[i] = static_cast<unsigned>(i);
}

__global__ void __launch_bounds__(block_threads) read_words(const unsigned* words, std::size_t packs, unsigned* sink) {
  unsigned sum = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::size_t>(simt::global_thread_id()); i < packs; i += step) {
    const auto word = simt::load_pack<4>(words + 4 * i);
    sum += word[0] ^ word[1] ^ word[2] ^ word[3];
  }
  keep_alive(sum, sink);
}

/// Each thread reads `count` words anywhere among 2^bits.
__global__ void __launch_bounds__(block_threads)
    gather_words(const unsigned* words, int bits, int count, unsigned* sink) {
  auto state = static_cast<unsigned>(simt::global_thread_id()) * 2654435761u + 12345u;
  unsigned sum = 0;
  for (int i = 0; i < count; i += 4) {
    unsigned place[4];
    for (unsigned& at : place) {
      state = state * 1664525u + 1013904223u;
      at = state >> (32 - bits);
    }
    for (const unsigned at : place) sum += simt::load_readonly(words + at);
  }
  keep_alive(sum, sink);
}

/// One thread follows a chain of places, each of which is only known when the one before has been read.
__global__ void chase_words(const unsigned* words, int bits, int count, unsigned* sink) {
  unsigned at = 1;
  for (int i = 0; i < count; ++i) at = (simt::load_fresh(words + at) * 1664525u + 1013904223u) >> (32 - bits);
  keep_alive(at, sink);
}

class Meter {
 public:
  explicit Meter(Device device) : device_(device), timer_(device) {}

  /// The median seconds of one `work` among a few groups of `group`: for what varies by itself, as launches do.
  template <class Work>
  double typical_seconds(int group, Work&& work) {
    constexpr int repeats = 15;
    std::array<double, repeats> found;
    seconds(group, work);  // warms up
    for (double& one : found) one = seconds_of_group(group, work);
    std::ranges::nth_element(found, found.begin() + repeats / 2);
    return found[repeats / 2];
  }

  /// The least seconds of one `work` among a few groups of `group`.
  template <class Work>
  double seconds(int group, Work&& work) {
    double least = 1e30;
    for (int repeat = 0; repeat < 6; ++repeat) {
      const double found = seconds_of_group(group, work);
      if (repeat > 0) least = std::min(least, found);  // the first warms up
    }
    return least;
  }

 private:
  template <class Work>
  double seconds_of_group(int group, Work&& work) {
    timer_.start();
    for (int i = 0; i < group; ++i) work();
    timer_.stop();
    return timer_.seconds() / group;
  }

  Device device_;
  Timer timer_;
};

}  // namespace

DeviceTable measure(Device device) {
  const gpu::CurrentDevice current(device);
  const DeviceInfo info = describe(device);
  DeviceTable found;
  found.cache_bytes = static_cast<double>(std::max<std::int64_t>(info.l2_bytes, 1 << 20));
  Meter meter(device);
  const auto multiprocessors = static_cast<unsigned>(info.multiprocessors);
  found.launch = meter.typical_seconds(
      32, [&] { simt::launch(WEFT_KERNEL(do_nothing), multiprocessors, block_threads, 0, {}, Parameters{}); });

  // Far more than the cache holds, but never more than an eighth of the memory.
  const std::size_t bytes = std::min<std::size_t>(static_cast<std::size_t>(16 * found.cache_bytes),
                                                  static_cast<std::size_t>(info.memory_bytes / 8)) /
                            256 * 256;
  const std::size_t small = static_cast<std::size_t>(found.cache_bytes / 2) / 256 * 256;
  DeviceBuffer<unsigned> words(device, bytes / sizeof(unsigned)), sink(device, 1);
  const unsigned blocks = 8 * multiprocessors;
  simt::launch(WEFT_KERNEL(fill_words), blocks, block_threads, 0, {}, words.size(), words.data());
  const unsigned* const from = std::as_const(words).data();
  const auto read = [&](std::size_t some) {
    simt::launch(WEFT_KERNEL(read_words), blocks, block_threads, 0, {}, from, some / 16, sink.data());
  };
  // What a kernel takes besides its bytes cancels out in differences.
  const double all = meter.seconds(1, [&] { read(bytes); }), half = meter.seconds(1, [&] { read(bytes / 2); });
  found.memory_bandwidth = 0.5 * static_cast<double>(bytes) / std::max(all - half, 1e-9);
  const double whole = meter.seconds(32, [&] { read(small * 5 / 4); }),
               part = meter.seconds(32, [&] { read(small * 3 / 4); });
  found.cache_bandwidth =
      std::max(found.memory_bandwidth, 0.5 * static_cast<double>(small) / std::max(whole - part, 1e-9));

  int bits = 10;
  while ((std::size_t(8) << bits) <= small) ++bits;  // 2^bits words are a quarter to half of the cache
  const double threads = static_cast<double>(blocks) * block_threads;
  constexpr int reads = 64;
  const auto gather = [&](int table_bits, int count) {
    return meter.seconds(2, [&] {
      simt::launch(WEFT_KERNEL(gather_words), blocks, block_threads, 0, {}, from, table_bits, count, sink.data());
    });
  };
  found.sector = (gather(bits, 2 * reads) - gather(bits, reads)) / (threads * reads);
  constexpr int first_level_bits = 12;  // 16 KB
  found.hit = (gather(first_level_bits, 4 * reads) - gather(first_level_bits, reads)) / (threads * 3 * reads);
  constexpr int steps = 512;
  const auto chase = [&](int count) {
    return meter.seconds(1,
                         [&] { simt::launch(WEFT_KERNEL(chase_words), 1, 1, 0, {}, from, bits, count, sink.data()); });
  };
  found.latency = (chase(2 * steps) - chase(steps)) / steps;
  found.sector = std::max(found.sector, 1e-15);
  found.hit = std::max(found.hit, 1e-15);
  found.latency = std::max(found.latency, 1e-9);
  return found;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::table
