#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <numeric>

#include "core/parallel.hpp"
#include "simt/emulator_engine.hpp"
#include "simt/launch_limits.hpp"

namespace weft::simt::emulator {
namespace {

std::mutex order_mutex;
LaneOrder current_order;

// Every fiber stack is two mappings of the process, which may have some 65000.
constexpr int most_workers = 16;

/// Which block runs as the i-th.
class BlockOrder {
 public:
  BlockOrder(LaneOrder order, std::uint64_t blocks) : kind_(order.kind), blocks_(blocks) {
    // i -> factor * i + shift is a permutation modulo `blocks` when factor and blocks have no common divisor. Past 2^32
    // blocks, which nobody will wait for, the products would overflow.
    if (kind_ == LaneOrder::Kind::random && blocks >> 32) kind_ = LaneOrder::Kind::forward;
    shift_ = order.seed * 0xBF58476D1CE4E5B9u % blocks;
    factor_ = (order.seed * 0x9E3779B97F4A7C15u >> 20) % blocks;
    while (std::gcd(factor_, blocks) != 1) factor_ = (factor_ + 1) % blocks;
  }
  std::uint64_t operator()(std::uint64_t i) const {
    switch (kind_) {
      case LaneOrder::Kind::forward:
        return i;
      case LaneOrder::Kind::reverse:
        return blocks_ - 1 - i;
      case LaneOrder::Kind::random:
        break;
    }
    return (factor_ * i % blocks_ + shift_) % blocks_;
  }

 private:
  LaneOrder::Kind kind_;
  std::uint64_t blocks_;
  std::uint64_t factor_ = 1;
  std::uint64_t shift_ = 0;
};

/// Keeps the fault of the earliest block among those that ran.
class FirstFault {
 public:
  bool any() const { return any_.load(std::memory_order_relaxed); }
  void report(std::uint64_t position, std::string sentence) {
    std::lock_guard lock(mutex_);
    if (position < position_) {
      position_ = position;
      sentence_ = std::move(sentence);
    }
    any_ = true;
  }
  const std::string& sentence() const { return sentence_; }

 private:
  std::atomic<bool> any_{false};
  std::mutex mutex_;
  std::uint64_t position_ = std::numeric_limits<std::uint64_t>::max();
  std::string sentence_;
};

}  // namespace

void set_lane_order(LaneOrder order) {
  std::lock_guard lock(order_mutex);
  current_order = order;
}

LaneOrder lane_order() {
  std::lock_guard lock(order_mutex);
  return current_order;
}

void run(const Launch& launch) {
  const auto kernel_error = [&](const std::string& sentence) {
    return Error(ErrorCode::internal, std::string("kernel ") + launch.name + ": " + sentence);
  };
  if (Engine::running()) throw kernel_error("launched from inside a kernel");
  check_launch_limits(launch.name, launch.grid, launch.block, launch.shared_bytes);
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
  if (blocks == 0) return;
  install_fault_handler();

  // Waking another CPU thread costs more than a few blocks do.
  constexpr std::uint64_t threads_per_worker = 8192;
  const std::uint64_t block_threads = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  const std::uint64_t useful = std::min(blocks, blocks / (threads_per_worker / block_threads) + 1);
  const int workers =
      static_cast<int>(std::min<std::uint64_t>(useful, static_cast<unsigned>(std::min(threads(), most_workers))));
  // Small enough to balance, large enough not to be noticed.
  const std::uint64_t chunk = std::clamp<std::uint64_t>(blocks / (8 * static_cast<unsigned>(workers)), 1, 64);
  const LaneOrder order = lane_order();
  const BlockOrder block_at(order, blocks);
  FirstFault fault;
  ExceptionCarrier carrier;
  std::atomic<std::uint64_t> next{0};
#pragma omp parallel num_threads(workers)
  carrier.run([&] {
    const SignalStackScope signal_stack;
    Engine& engine = Engine::of_this_thread();
    engine.begin_launch(launch, order);
    while (!fault.any()) {
      const std::uint64_t begin = next.fetch_add(chunk, std::memory_order_relaxed);
      if (begin >= blocks) break;
      const std::uint64_t end = std::min(blocks, begin + chunk);
      for (std::uint64_t i = begin; i < end && !fault.any(); ++i)
        if (std::string sentence = engine.run_block(block_at(i)); !sentence.empty())
          fault.report(i, std::move(sentence));
    }
  });
  // Also after a fault, which says more: what this kernel wrote must not be blamed on the next.
  const std::string damage = find_overrun();
  carrier.rethrow();
  if (fault.any()) throw kernel_error(fault.sentence());
  if (!damage.empty()) throw kernel_error("wrote " + damage);
}

}  // namespace weft::simt::emulator
