#include "machine.hpp"

#include <weft/runtime.hpp>
#include <weft/version.hpp>

#include <fstream>

#include "commit.hpp"

namespace weft::bench {
namespace {

/// "560.35.03" out of "NVRM version: NVIDIA UNIX x86_64 Kernel Module  560.35.03  Fri Aug 16 ...".
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  for (std::string word; file >> word;) {
    const bool digits = word.find_first_not_of("0123456789.") == std::string::npos;
    if (digits && word.find('.') != std::string::npos) return word;
  }
  return {};
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.version = WEFT_VERSION;
  machine.commit = commit();
  machine.compiler = WEFT_COMPILER;
  machine.build_type = WEFT_BUILD_TYPE;
  const DeviceInfo cpu = describe(Device::cpu());
  machine.cpu = cpu.description;
  machine.cores = cpu.multiprocessors;
  machine.memory_bytes = cpu.memory_bytes;
  machine.threads = threads();
  machine.isa = to_string(isa());
  for (Device device : available_devices())
    if (device.kind() == Device::Kind::gpu) machine.gpus.push_back(describe(device));
  machine.driver = driver_version();
  machine.why_no_gpu = why_no_gpu();
  return machine;
}

}  // namespace weft::bench
