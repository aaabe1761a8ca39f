#pragma once
#include <weft/export.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// Where a matrix lives and is multiplied: the CPU, a GPU, or the SIMT emulator (a test device that runs the GPU
/// kernels on the CPU and checks what they do; slow on purpose).
class WEFT_API Device {
 public:
  enum class Kind { cpu, gpu, emulator };

  constexpr Device() = default;
  static constexpr Device cpu() { return Device(Kind::cpu, 0); }
  static constexpr Device gpu(int index = 0) { return Device(Kind::gpu, index); }
  static constexpr Device emulator() { return Device(Kind::emulator, 0); }

  /// Reads "cpu", "gpu", "gpu1", "gpu:1" or "emulator"; throws Error(no_device) for anything else.
  static Device parse(std::string_view text);

  constexpr Kind kind() const { return kind_; }
  constexpr int index() const { return index_; }
  constexpr bool is_cpu() const { return kind_ == Kind::cpu; }
  constexpr bool operator==(const Device&) const = default;

  std::string name() const;  ///< "cpu", "gpu0", "emulator"

 private:
  constexpr Device(Kind kind, int index) : kind_(kind), index_(index) {}
  Kind kind_ = Kind::cpu;
  int index_ = 0;
};

/// What one device is, in words and numbers.
struct DeviceInfo {
  Device device;
  std::string description;  ///< "NVIDIA H200", "Intel(R) Xeon(R) Processor"
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;             ///< logical CPUs for a CPU
  std::int64_t l2_bytes = 0;           ///< 0 where unknown
  int compute_capability = 0;          ///< 90 for sm_90; 0 for a CPU
  int threads_per_multiprocessor = 0;  ///< that it holds at once; 0 for a CPU
  std::int64_t shared_bytes = 0;       ///< shared memory that a block of threads may ask for; 0 for a CPU
};

/// Throws Error(no_device), saying why, when the device cannot be used here.
WEFT_API DeviceInfo describe(Device device);

/// Throws Error(no_device), with the reason, unless the device can be used here. Quick: asks for no properties.
WEFT_API void require_usable(Device device);

/// The devices that work here and now, the CPU first. The emulator is listed only by builds that contain it.
WEFT_API std::vector<Device> available_devices();

/// Empty when a GPU can be used, else the reason: built without CUDA, no driver, no device.
WEFT_API std::string why_no_gpu();

/// A queue of work on a GPU. The default one is CUDA's default stream; on other devices a stream means nothing.
class Stream {
 public:
  constexpr Stream() = default;
  constexpr explicit Stream(void* native) : native_(native) {}  ///< wraps a cudaStream_t; the caller keeps it alive
  constexpr void* native() const { return native_; }

 private:
  void* native_ = nullptr;
};

/// Waits until everything queued on `stream` of `device` is done; throws what went wrong there.
WEFT_API void synchronize(Device device, Stream stream = {});

}  // namespace weft
