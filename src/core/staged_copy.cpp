#include "core/staged_copy.hpp"

#ifdef WEFT_HAS_CUDA
#include <omp.h>
#include <weft/runtime.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/cuda_status.hpp"
#include "core/gpu_runtime.hpp"

namespace weft::gpu {
namespace {

constexpr std::size_t chunk_bytes = std::size_t(2) << 20;
constexpr std::size_t min_bytes = std::size_t(32) << 20;           // below, pinning buffers costs more than it brings
constexpr std::size_t bytes_per_lane = std::size_t(16) << 20;      // likewise for one more thread
constexpr std::size_t bytes_per_kept_lane = std::size_t(4) << 20;  // for a thread whose buffers are there already
constexpr int max_lanes = 12;

/// What one thread copies through: while one buffer is on its way to the GPU, the other is filled.
class Lane {
 public:
  Lane() {
    require(cudaHostAlloc(&memory_, 2 * chunk_bytes, cudaHostAllocPortable), "allocating a staging buffer");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
    for (cudaEvent_t& event : sent_)
      require(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "creating an event");
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    for (cudaEvent_t event : sent_)
      if (event) cudaEventDestroy(event);
    if (stream_) cudaStreamDestroy(stream_);
    if (memory_) cudaFreeHost(memory_);
  }

  cudaError_t send(std::size_t number, void* to, const void* from, std::size_t bytes) {
    const std::size_t side = number % 2;
    std::byte* const buffer = static_cast<std::byte*>(memory_) + side * chunk_bytes;
    if (const cudaError_t status = cudaEventSynchronize(sent_[side]); status != cudaSuccess) return status;
    std::memcpy(buffer, from, bytes);
    const cudaError_t status = cudaMemcpyAsync(to, buffer, bytes, cudaMemcpyHostToDevice, stream_);
    return status == cudaSuccess ? cudaEventRecord(sent_[side], stream_) : status;
  }
  cudaError_t finish() { return cudaStreamSynchronize(stream_); }

 private:
  void* memory_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 2> sent_{};
};

/// The lanes of each GPU, kept from copy to copy: pinning memory takes milliseconds. Never destroyed: the CUDA runtime
/// may be gone before static objects are.
struct Lanes {
  std::mutex mutex;
  std::map<int, std::vector<std::unique_ptr<Lane>>> of_gpu;
};
Lanes& lanes() {
  static Lanes* const all = new Lanes;
  return *all;
}

bool is_pinned(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type != cudaMemoryTypeUnregistered;
}

}  // namespace

bool staged_copy_in(int index, void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes < 2 * bytes_per_kept_lane || is_pinned(from)) return false;
  const auto native = static_cast<cudaStream_t>(stream.native());
  cudaStreamCaptureStatus capturing = cudaStreamCaptureStatusNone;
  require(cudaStreamIsCapturing(native, &capturing), "asking about the stream");
  if (capturing != cudaStreamCaptureStatusNone) return false;
  const std::unique_lock lock(lanes().mutex, std::try_to_lock);
  if (!lock) return false;
  std::vector<std::unique_ptr<Lane>>& own = lanes().of_gpu[index];
  const auto max_wanted = static_cast<std::size_t>(std::min(max_lanes, threads()));
  const std::size_t worth_pinning = bytes < min_bytes ? 0 : bytes / bytes_per_lane;
  const std::size_t wanted =
      std::min(std::max(worth_pinning, std::min(own.size(), bytes / bytes_per_kept_lane)), max_wanted);
  if (wanted < 2) return false;
  while (own.size() < wanted) own.push_back(std::make_unique<Lane>());
  require(cudaStreamSynchronize(native), "waiting for the GPU");  // what was queued may still use the target

  std::atomic<std::size_t> next{0};
  std::atomic<cudaError_t> first_error{cudaSuccess};
#pragma omp parallel num_threads(static_cast<int>(wanted))
  {
    Lane& lane = *own[static_cast<std::size_t>(omp_get_thread_num())];
    cudaError_t status = cudaSetDevice(index);
    for (std::size_t sent = 0; status == cudaSuccess; ++sent) {
      const std::size_t begin = next.fetch_add(1) * chunk_bytes;
      if (begin >= bytes) break;
      status = lane.send(sent, static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin,
                         std::min(chunk_bytes, bytes - begin));
    }
    const cudaError_t finished = lane.finish();
    if (status == cudaSuccess) status = finished;
    if (status != cudaSuccess) first_error = status;
  }
  require(first_error, "copying to the GPU");
  return true;
}

}  // namespace weft::gpu

#else

namespace weft::gpu {
bool staged_copy_in(int, void*, const void*, std::size_t, Stream) { return false; }
}  // namespace weft::gpu
#endif
