#pragma once
#include <weft/buffer.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "simt/simt.hpp"

// For self-tests: code of the tests that launches kernels alone, compiled for a GPU and for the emulator.
namespace weft::WEFT_SIMT_NAMESPACE::selftest {

#ifdef WEFT_SIMT_EMULATED
inline constexpr Device device = Device::emulator();
#else
inline constexpr Device device = Device::gpu();
#endif

/// An array on the host with a twin on the device.
template <class T>
class TestArray {
 public:
  explicit TestArray(std::size_t size) : host_(size, T(0)), device_(device, size) {}

  T& operator[](std::size_t i) { return host_[i]; }
  T* begin() { return host_.begin(); }
  T* end() { return host_.end(); }

  /// The device's elements, now with the host's values.
  T* sent() {
    device_.upload(host_);
    return device_.data();
  }
  /// Waits for the device and takes its values.
  void fetch() { host_ = device_.download(); }

 private:
  Array<T> host_;
  DeviceBuffer<T> device_;
};

/// The names of the checks that failed.
class Report {
 public:
  void expect(bool holds, const std::string& name) {
    if (!holds && std::find(failed.begin(), failed.end(), name) == failed.end()) failed.push_back(name);
  }
  std::vector<std::string> failed;
};

}  // namespace weft::WEFT_SIMT_NAMESPACE::selftest
