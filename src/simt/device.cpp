#include <unistd.h>
#include <weft/buffer.hpp>
#include <weft/device.hpp>
#include <weft/runtime.hpp>

#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>

#include "core/gpu_runtime.hpp"
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

DeviceInfo describe(Device device) {
  if (device.kind() == Device::Kind::gpu) {
    require_gpu(device.index());
    return gpu::describe(device.index());
  }
  if (device.kind() == Device::Kind::emulator) require_emulator();
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

namespace detail {

void* device_allocate(Device device, std::size_t count, std::size_t element_bytes) {
  if (count > std::numeric_limits<std::size_t>::max() / element_bytes)
    throw Error(ErrorCode::out_of_memory, "cannot allocate " + std::to_string(count) + " elements of " +
                                              std::to_string(element_bytes) + " bytes");
  const std::size_t bytes = count * element_bytes;
  switch (device.kind()) {
    case Device::Kind::gpu:
      require_gpu(device.index());
      return gpu::allocate(device.index(), bytes);
    case Device::Kind::emulator:
      require_emulator();
#ifdef WEFT_HAS_EMULATOR
      return simt::emulator::allocate(bytes);
#endif
    case Device::Kind::cpu:
      break;
  }
  throw Error(ErrorCode::invalid_argument, "a DeviceBuffer lives on a GPU; use weft::Array on the CPU");
}

void device_free(Device device, void* memory) noexcept {
  if (device.kind() == Device::Kind::gpu) gpu::release(device.index(), memory);
#ifdef WEFT_HAS_EMULATOR
  if (device.kind() == Device::Kind::emulator) simt::emulator::deallocate(memory);
#endif
}

void copy_to_device(Device device, void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  if (device.kind() == Device::Kind::gpu)
    gpu::copy_in(device.index(), to, from, bytes, stream);
  else
    std::memcpy(to, from, bytes);
}

void copy_to_host(Device device, void* to, const void* from, std::size_t bytes, Stream stream) {
  if (bytes == 0) return;
  if (device.kind() == Device::Kind::gpu)
    gpu::copy_out(device.index(), to, from, bytes, stream);
  else
    std::memcpy(to, from, bytes);
}

}  // namespace detail
}  // namespace weft
