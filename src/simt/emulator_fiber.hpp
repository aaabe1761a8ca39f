#pragma once
#include <cstddef>

// One emulated thread runs on one fiber. On x86-64 a switch is fifteen instructions; elsewhere, or when
// WEFT_SIMT_UCONTEXT is defined, it is POSIX swapcontext.
#if !defined(__x86_64__) && !defined(WEFT_SIMT_UCONTEXT)
#define WEFT_SIMT_UCONTEXT
#endif
#ifdef WEFT_SIMT_UCONTEXT
#include <ucontext.h>
#endif

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_SIMT_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_SIMT_ASAN
#endif
#endif

namespace weft::simt::emulator {

/// Memory for one fiber's stack, with an unmapped page below it.
class FiberStack {
 public:
  /// Stacks with different numbers begin in different cache lines, else those of a whole block would share a few.
  /// Throws Error(out_of_memory).
  explicit FiberStack(std::size_t number);
  ~FiberStack();
  FiberStack(const FiberStack&) = delete;
  FiberStack& operator=(const FiberStack&) = delete;

  char* bottom() const;
  char* top() const { return bottom() + size - number_ % 32 * 128; }

  /// Forgets what the address sanitizer noted about frames that were left without returning.
  void forget_frames() const;

#ifdef WEFT_SIMT_ASAN
  static constexpr std::size_t size = 256 * 1024;
#else
  static constexpr std::size_t size = 64 * 1024;
#endif

 private:
  char* mapping_ = nullptr;
  std::size_t number_;
};

/// Where a stopped fiber goes on. It must stay in its place in memory.
struct FiberContext {
#ifdef WEFT_SIMT_UCONTEXT
  ucontext_t native{};
#else
  void* stack_pointer = nullptr;
#endif
  void* sanitizer_state = nullptr;
};

/// Makes `context` begin in `entry` on `stack`. The entry function calls fiber_entered first and never returns.
void prepare_fiber(FiberContext& context, const FiberStack& stack, void (*entry)());

/// The scheduler's side: runs a fiber until it calls switch_home.
void switch_to_fiber(FiberContext& home, FiberContext& fiber, const FiberStack& stack);

/// The fiber's side. `home_stack` is where the address sanitizer's knowledge of the scheduler's stack is kept.
struct HomeStack {
  const void* bottom = nullptr;
  std::size_t size = 0;
};
void fiber_entered(HomeStack& home_stack);
void switch_home(FiberContext& fiber, FiberContext& home, HomeStack& home_stack, bool for_ever);

}  // namespace weft::simt::emulator
