#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "simt/emulator_device.hpp"
#include "simt/emulator_fiber.hpp"
#include "simt/emulator_kernel.hpp"
#include "simt/emulator_shadow.hpp"

namespace weft::simt::emulator {

/// Runs one block at a time on the calling CPU thread: every thread of the block is a fiber, and the engine decides
/// which goes on. A thread runs until it waits at a block barrier or at a warp operation, or ends.
class Engine {
 public:
  /// The engine of this CPU thread; its stacks are kept for the next launch.
  static Engine& of_this_thread();

  /// The engine whose block runs on this CPU thread now, or nullptr. Used by the functions that kernels call.
  static Engine* running();

  void begin_launch(const Launch& launch, LaneOrder order);

  /// Runs a block to its end. Returns an empty string, or what went wrong, starting with the place.
  std::string run_block(std::uint64_t block_number);

  // Called by the running thread.
  void block_barrier(std::source_location site);
  std::uint64_t warp_operation(WarpOperation operation, std::uint32_t mask, std::uint64_t value, unsigned source_lane);
  SharedShadow& shared() { return shared_; }
  unsigned current_thread() const { return current_; }

  /// Ends the running thread and its block with the sentence that `compose` returns. The thread's frames are left
  /// without unwinding; whatever `compose` needs is gone before that.
  template <class F>
  [[noreturn]] void fail(F compose) {
    record_fault(compose());
    leave();
  }

  // Called by the signal handler, see emulator_signals.cpp.
  bool in_fiber() const { return in_fiber_; }
  const FiberStack& current_stack() const { return *lanes_[current_].stack; }
  void note_signal(int number, const void* address) {
    signal_ = number;
    signal_address_ = address;
  }
  [[noreturn]] void fail_after_signal();

 private:
  static constexpr unsigned lanes_per_warp = 32;

  struct Lane {
    FiberContext context;
    FiberStack* stack = nullptr;  // nullptr before its first instruction and after its last
    std::uint64_t value = 0;
    std::uint64_t result = 0;
    std::uint32_t mask = 0;
    WarpOperation operation{};
    std::uint8_t source_lane = 0;
    std::source_location site;
  };

  /// Which lanes of a warp are where. Every lane that exists is in one of them, or runs.
  struct Warp {
    std::uint32_t existing = 0;
    std::uint32_t ready = 0;
    std::uint32_t at_operation = 0;
    std::uint32_t at_barrier = 0;
    std::uint32_t exited = 0;
  };

  static void fiber_main();
  void run_lane();
  void begin_block(std::uint64_t block_number);
  unsigned pick_ready_thread();
  void resume(unsigned thread);
  void suspend();
  [[noreturn]] void leave();
  void abandon_waiting_threads();
  void record_fault(std::string sentence);

  bool release_block_barrier();
  bool all_arrived(const Warp& warp, unsigned first_thread, std::uint32_t mask) const;
  void complete_operation(unsigned warp_number, std::uint32_t mask);
  void make_ready(unsigned warp_number, std::uint32_t lanes);

  std::string place_of(unsigned thread) const;
  std::string describe_stall() const;
  std::string describe_warp(unsigned warp_number) const;
  std::string describe_lane(unsigned warp_number, unsigned lane) const;

  std::uint64_t random();

  const Launch* launch_ = nullptr;
  LaneOrder order_;
  std::uint64_t random_state_ = 0;
  unsigned thread_count_ = 0;
  unsigned exited_count_ = 0;
  unsigned barrier_count_ = 0;
  std::uint32_t ready_warps_ = 0;
  std::vector<Warp> warps_;
  std::unique_ptr<Lane[]> lanes_;
  unsigned lane_capacity_ = 0;
  std::vector<std::unique_ptr<FiberStack>> stacks_;
  std::vector<FiberStack*> free_stacks_;
  SharedShadow shared_;

  unsigned current_ = 0;
  bool in_fiber_ = false;
  bool abandoning_ = false;
  FiberContext home_;
  HomeStack home_stack_;
  std::string fault_;
  int signal_ = 0;
  const void* signal_address_ = nullptr;
};

/// Makes a bad access of an emulated thread end in Engine::fail_after_signal; other faults go to the handlers that were
/// there before. Installed once, by the first launch.
void install_fault_handler();

/// Gives the calling CPU thread a stack for signal handlers: a fiber that overflowed its own has none left.
class SignalStackScope {
 public:
  SignalStackScope();
  ~SignalStackScope();
  SignalStackScope(const SignalStackScope&) = delete;
  SignalStackScope& operator=(const SignalStackScope&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weft::simt::emulator
