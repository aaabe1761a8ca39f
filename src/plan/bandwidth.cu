#include "plan/bandwidth.hpp"

#include <weft/buffer.hpp>

#include <algorithm>
#include <utility>

#include "core/timer.hpp"
#include "simt/simt.hpp"
#include "simt/warp.cuh"

namespace weft::WEFT_SIMT_NAMESPACE {
namespace {

/// Reads `count` times 16 bytes; writes only if they add up to an unlikely number, so that the loads are not dropped.
__global__ void read_kernel(const unsigned* words, std::size_t count, unsigned* sink) {
  unsigned sum = 0;
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    const auto word = simt::load_pack<4>(words + 4 * i);
    sum += word[0] ^ word[1] ^ word[2] ^ word[3];
  }
  if (sum == 0x9E3779B9u && sink) *sink = sum;
}

}  // namespace

void read_through(Device device, const void* from, std::size_t bytes) {
  gpu::CurrentDevice current(device);
  simt::launch(WEFT_KERNEL(read_kernel), static_cast<unsigned>(describe(device).multiprocessors * 4), 512, 0, Stream(),
               static_cast<const unsigned*>(from), bytes / 16, static_cast<unsigned*>(nullptr));
}

double measure_read_bandwidth(Device device) {
  gpu::CurrentDevice current(device);
  const DeviceInfo info = describe(device);
  // Far more than the L2 cache holds, but never more than an eighth of the memory.
  const std::size_t bytes =
      std::min<std::size_t>(std::size_t(4) << 30, static_cast<std::size_t>(info.memory_bytes / 8)) / 16 * 16;
  DeviceBuffer<unsigned> words(device, bytes / sizeof(unsigned));
  DeviceBuffer<unsigned> sink(device, 1);
  Timer timer(device);
  double best = 0;
  for (int blocks_each : {4, 8, 16})
    for (int repeat = 0; repeat < 8; ++repeat) {
      timer.start();
      simt::launch(WEFT_KERNEL(read_kernel), static_cast<unsigned>(info.multiprocessors * blocks_each), 512, 0,
                   Stream(), std::as_const(words).data(), bytes / 16, sink.data());
      timer.stop();
      best = std::max(best, static_cast<double>(bytes) / timer.seconds());
    }
  return best;
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
