#pragma once
#include <weft/device.hpp>

#include <functional>
#include <memory>

#include "core/gpu_runtime.hpp"

namespace weft::solve {

/// Queues one piece of work on a device many times: several at once as a CUDA graph where that can be recorded, which
/// takes the host a fraction of the time. On the emulator the work is done when it is queued.
class DeviceQueue {
 public:
  /// `work` queues on the stream it is given and waits for nothing.
  DeviceQueue(Device device, std::function<void(Stream)> work);
  ~DeviceQueue();

  /// As many times as `several`, or once.
  static constexpr int several = 8;
  void push_several();
  void push();

  /// Waits for all of it; throws what went wrong there.
  void finish();
  /// Whether nothing is queued or running; throws what went wrong there.
  bool is_idle() const;

 private:
  enum class Recording { not_yet, done, refused };

  Stream stream() const { return own_ ? own_->get() : Stream(); }

  Device device_;
  std::function<void(Stream)> work_;
  std::unique_ptr<gpu::OwnStream> own_;
  gpu::Graph graph_;
  Recording recording_ = Recording::not_yet;
  bool has_run_ = false;
};

}  // namespace weft::solve
