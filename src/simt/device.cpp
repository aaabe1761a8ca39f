#include <unistd.h>
#include <weft/buffer.hpp>
#include <weft/device.hpp>
#include <weft/runtime.hpp>

#include <atomic>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <unordered_map>

#include "core/gpu_runtime.hpp"
#include "core/parallel.hpp"
#include "simt/memory_use.hpp"
#ifdef WEFT_HAS_EMULATOR
#include "simt/emulator_device.hpp"
#endif

namespace weft {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      const auto colon = line.find(": ");
      if (colon != std::string::npos) return line.substr(colon + 2);
    }
  return "CPU";
}

void require_emulator() {
#ifndef WEFT_HAS_EMULATOR
  throw Error(ErrorCode::no_device, "this build has no emulator; configure with -DWEFT_EMULATOR=ON");
#endif
}

void require_gpu(int index) {
  const int devices = gpu::count();
  if (devices == 0) throw Error(ErrorCode::no_device, "no GPU: " + gpu::why_none());
  if (index < 0 || index >= devices)
    throw Error(ErrorCode::no_device, "there is no gpu" + std::to_string(index) + "; this machine has " +
                                          std::to_string(devices) + ", counted from gpu0");
}

}  // namespace

Device Device::parse(std::string_view text) {
  if (text == "cpu") return cpu();
  if (text == "emulator") return emulator();
  if (text == "gpu") return gpu(0);
  if (text.starts_with("gpu")) {
    std::string_view digits = text.substr(3);
    if (digits.starts_with(':')) digits.remove_prefix(1);
    int index = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error == std::errc() && end == digits.data() + digits.size() && index >= 0) return gpu(index);
  }
  throw Error(ErrorCode::no_device,
              "'" + std::string(text) + "' is no device; use cpu, gpu, gpu0, gpu1, ... or emulator");
}

std::string Device::name() const {
  switch (kind_) {
    case Kind::gpu:
      return "gpu" + std::to_string(index_);
    case Kind::emulator:
      return "emulator";
    case Kind::cpu:
      break;
  }
  return "cpu";
}

void require_usable(Device device) {
  if (device.kind() == Device::Kind::gpu) require_gpu(device.index());
  if (device.kind() == Device::Kind::emulator) require_emulator();
}

DeviceInfo describe(Device device) {
  require_usable(device);
  if (device.kind() == Device::Kind::gpu) return gpu::describe(device.index());
  DeviceInfo info;
  info.device = device;
  info.memory_bytes = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  info.multiprocessors = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  if (device.is_cpu()) {
    info.description = cpu_name();
    const long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);
    info.l2_bytes = l2 > 0 ? l2 : 0;
  } else {
    info.description = "SIMT emulator (runs the GPU kernels on the CPU for tests; its times mean nothing)";
    info.threads_per_multiprocessor = 2048;  // as most GPUs have
    info.shared_bytes = 227 * 1024;          // as much as any has
  }
  return info;
}

std::vector<Device> available_devices() {
  std::vector<Device> devices{Device::cpu()};
  for (int index = 0; index < gpu::count(); ++index) devices.push_back(Device::gpu(index));
#ifdef WEFT_HAS_EMULATOR
  devices.push_back(Device::emulator());
#endif
  return devices;
}

std::string why_no_gpu() { return gpu::count() > 0 ? "" : gpu::why_none(); }

void synchronize(Device device, Stream stream) {
  if (device.kind() != Device::Kind::gpu) return;
  require_gpu(device.index());
  gpu::synchronize(device.index(), stream);
}

namespace {

/// Counts what is moved and allocated. The sizes of buffers are kept here, since freeing one does not say how large it
/// was.
class Ledger {
 public:
  void moved_in(std::size_t bytes) { uploaded_ += bytes; }
  void moved_out(std::size_t bytes) { downloaded_ += bytes; }
  void allocated(void* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[memory] = bytes;
    now_ += bytes;
    peak_ = std::max(peak_, now_);
  }
  void freed(void* memory) {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return;
    now_ -= found->second;
    sizes_.erase(found);
  }
  void reset_peak() {
    const std::lock_guard lock(mutex_);
    peak_ = now_;
  }
  simt::MemoryUse use() {
    const std::lock_guard lock(mutex_);
    return {uploaded_, downloaded_, now_, peak_};
  }

 private:
  std::atomic<std::size_t> uploaded_{0}, downloaded_{0};
  std::mutex mutex_;
  std::unordered_map<void*, std::size_t> sizes_;
  std::size_t now_ = 0, peak_ = 0;
};

Ledger& ledger() {
  static Ledger* const only = new Ledger;  // never destroyed: buffers of static duration may outlive it
  return *only;
}

}  // namespace

simt::MemoryUse simt::memory_use() { return ledger().use(); }
void simt::reset_peak() { ledger().reset_peak(); }

namespace detail {

void* device_allocate(Device device, std::size_t count, std::size_t element_bytes) {
  if (count > std::numeric_limits<std::size_t>::max() / element_bytes)
    throw Error(ErrorCode::out_of_memory, "cannot allocate " + std::to_string(count) + " elements of " +
                                              std::to_string(element_bytes) + " bytes");
  const std::size_t bytes = count * element_bytes;
  require_usable(device);
  void* memory = nullptr;
  switch (device.kind()) {
    case Device::Kind::gpu:
      memory = gpu::allocate(device.index(), bytes);
      break;
    case Device::Kind::emulator:
#ifdef WEFT_HAS_EMULATOR
      memory = simt::emulator::allocate(bytes);
#endif
      break;
    case Device::Kind::cpu:
      throw Error(ErrorCode::invalid_argument, "a DeviceBuffer lives on a GPU; use weft::Array on the CPU");
  }
  ledger().allocated(memory, bytes);
  return memory;
}

void device_free(Device device, void* memory) noexcept {
  ledger().freed(memory);
  if (device.kind() == Device::Kind::gpu) gpu::release(device.index(), memory);
#ifdef WEFT_HAS_EMULATOR
  if (device.kind() == Device::Kind::emulator) simt::emulator::deallocate(memory);
#endif
}

void copy_to_device(Device device, void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  ledger().moved_in(bytes);
  if (device.kind() == Device::Kind::gpu)
    gpu::copy_in(device.index(), to, from, bytes, stream);
  else
    std::memcpy(to, from, bytes);
}

void copy_to_host(Device device, void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  ledger().moved_out(bytes);
  if (device.kind() == Device::Kind::gpu)
    gpu::copy_out(device.index(), to, from, bytes, stream);
  else
    std::memcpy(to, from, bytes);
}

void copy_on_device(Device device, void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  if (device.kind() == Device::Kind::gpu)
    gpu::copy_inside(device.index(), to, from, bytes, stream);
  else
    std::memcpy(to, from, bytes);
}

void copy_on_host(void* to, const void* from, std::size_t bytes) {
  parallel_ranges(static_cast<std::int64_t>(bytes), 1 << 20, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<std::size_t>(end - begin));
  });
}

}  // namespace detail
}  // namespace weft
