#pragma once
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>

namespace weft::io {

/// Tells a Progress callback how much of `total` is done, about a hundred times in all and from one thread at a time.
class ProgressMeter {
 public:
  /// The whole task runs from `begin` to `end` on the callback's scale of 0..1.
  ProgressMeter(const Progress& progress, std::int64_t total, double begin = 0, double end = 1)
      : progress_(progress), total_(std::max<std::int64_t>(total, 1)), begin_(begin), end_(end) {}

  /// Asks whether to stop without having done more: for work of unknown length. From one thread only.
  void poll() {
    if (progress_ && !progress_(begin_ + (end_ - begin_) * static_cast<double>(done_) / static_cast<double>(total_)))
      throw Error(ErrorCode::cancelled, "cancelled");
  }

  /// May be called from several threads. Throws Error(cancelled) when the callback asks to stop.
  void add(std::int64_t amount) {
    if (!progress_) return;
    const std::int64_t done = done_ += amount;
    const std::int64_t step = done * 100 / total_;
    if (step <= told_.load(std::memory_order_relaxed) && !cancelled_) return;
    // Nobody waits to tell a fraction, but the end is always told.
    std::unique_lock lock(mutex_, std::defer_lock);
    if (step >= 100)
      lock.lock();
    else if (!lock.try_lock())
      return;
    if (!cancelled_ && step > told_.load(std::memory_order_relaxed)) {
      told_ = step;
      if (!progress_(begin_ + (end_ - begin_) * static_cast<double>(step) / 100)) cancelled_ = true;
    }
    if (cancelled_) throw Error(ErrorCode::cancelled, "cancelled");
  }

 private:
  const Progress& progress_;
  std::int64_t total_;
  double begin_, end_;
  std::atomic<std::int64_t> done_{0};
  std::atomic<std::int64_t> told_{0};
  std::atomic<bool> cancelled_{false};
  std::mutex mutex_;
};

}  // namespace weft::io
