#pragma once
#include <weft/device.hpp>

#include <chrono>
#include <optional>

#include "core/gpu_runtime.hpp"

namespace weft {

/// Wall-clock seconds since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count(); }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// A clock for work on any device: CUDA events on a GPU, the steady clock elsewhere.
class Timer {
 public:
  explicit Timer(Device device) {
    if (device.kind() == Device::Kind::gpu) events_.emplace(device.index());
  }
  void start(Stream stream = {}) {
    if (events_) return events_->start(stream);
    begin_ = std::chrono::steady_clock::now();
  }
  void stop(Stream stream = {}) {
    if (events_) return events_->stop(stream);
    end_ = std::chrono::steady_clock::now();
  }
  /// Between start and stop; waits for a GPU to get there.
  double seconds() {
    if (events_) return events_->seconds();
    return std::chrono::duration<double>(end_ - begin_).count();
  }

 private:
  std::optional<gpu::EventTimer> events_;
  std::chrono::steady_clock::time_point begin_, end_;
};

}  // namespace weft
