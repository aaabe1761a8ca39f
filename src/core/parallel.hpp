#pragma once
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <vector>

#include "core/team.hpp"

namespace weft {

/// Carries the first exception out of the bodies of a parallel loop, which must not throw.
class ExceptionCarrier {
 public:
  template <class F>
  void run(F&& body) noexcept {
    if (failed_.load(std::memory_order_relaxed)) return;
    try {
      body();
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
      failed_.store(true, std::memory_order_relaxed);
    }
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
  std::atomic<bool> failed_{false};
};

/// Calls body(begin, end) on consecutive ranges that together cover 0..count, in parallel. Ranges hold about `grain`
/// items; which ranges there are depends on count and grain only, never on the number of threads.
template <class F>
void parallel_ranges(std::int64_t count, std::int64_t grain, F&& body) {
  if (count <= 0) return;
  const std::int64_t ranges = (count + grain - 1) / grain;
  if (ranges == 1 || threads() == 1) {
    for (std::int64_t r = 0; r < ranges; ++r) body(r * grain, std::min(count, (r + 1) * grain));
    return;
  }
  ExceptionCarrier carrier;
  auto run = [&](std::int64_t r) { carrier.run([&] { body(r * grain, std::min(count, (r + 1) * grain)); }); };
  run_pieces(
      ranges, threads(), [](void* context, int, std::int64_t r) { (*static_cast<decltype(run)*>(context))(r); }, &run);
  carrier.rethrow();
}

/// Calls body(i) for i in 0..count, in parallel, `grain` neighbours on one thread.
template <class F>
void parallel_for(std::int64_t count, std::int64_t grain, F&& body) {
  parallel_ranges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) body(i);
  });
}

/// Replaces counts[0..n) by their running sums and counts[n] by the total: exclusive prefix sum, in parallel.
/// `counts` has n + 1 elements; the last is overwritten.
template <class T>
void prefix_sum(T* counts, std::int64_t n) {
  constexpr std::int64_t grain = 1 << 16;
  const std::int64_t ranges = (n + grain - 1) / grain;
  std::vector<T> totals(static_cast<std::size_t>(ranges) + 1, T(0));
  parallel_ranges(n, grain, [&](std::int64_t begin, std::int64_t end) {
    T sum = 0;
    for (std::int64_t i = begin; i < end; ++i) sum += counts[i];
    totals[begin / grain + 1] = sum;
  });
  for (std::int64_t r = 0; r < ranges; ++r) totals[r + 1] += totals[r];
  parallel_ranges(n, grain, [&](std::int64_t begin, std::int64_t end) {
    T sum = totals[begin / grain];
    for (std::int64_t i = begin; i < end; ++i) {
      const T count = counts[i];
      counts[i] = sum;
      sum += count;
    }
  });
  counts[n] = totals[ranges];
}

}  // namespace weft
