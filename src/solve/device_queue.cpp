#include "solve/device_queue.hpp"

#include <utility>

namespace weft::solve {

DeviceQueue::DeviceQueue(Device device, std::function<void(Stream)> work) : device_(device), work_(std::move(work)) {
  if (device.kind() == Device::Kind::gpu)
    own_ = std::make_unique<gpu::OwnStream>(device.index());
  else
    recording_ = Recording::refused;
}

DeviceQueue::~DeviceQueue() {
  try {
    finish();  // what is queued uses vectors that are about to go
  } catch (...) {
  }
}

void DeviceQueue::push_several() {
  const auto work = [this] {
    for (int i = 0; i < several; ++i) work_(stream());
  };
  // Kernels are loaded at their first launch, which cannot be recorded.
  if (recording_ == Recording::not_yet && has_run_)
    recording_ = graph_.record(device_.index(), stream(), work) ? Recording::done : Recording::refused;
  if (recording_ == Recording::done)
    graph_.launch(device_.index(), stream());
  else
    work();
  has_run_ = true;
}

void DeviceQueue::push() {
  work_(stream());
  has_run_ = true;
}

void DeviceQueue::finish() { synchronize(device_, stream()); }

bool DeviceQueue::is_idle() const {
  return device_.kind() != Device::Kind::gpu || gpu::is_done(device_.index(), stream());
}

}  // namespace weft::solve
