#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <weft/error.hpp>

#include <cstdint>
#include <mutex>

#include "simt/emulator_engine.hpp"

namespace weft::simt::emulator {
namespace {

constexpr int handled_signals[] = {SIGSEGV, SIGBUS, SIGFPE};
struct sigaction previous_actions[3];

// Where a fiber goes on after a bad access: on its own stack, from its top, as what stood there is of no use any more.
[[noreturn]] void after_signal() { Engine::running()->fail_after_signal(); }

// False on a processor for which nobody has written down how to leave the faulty instruction.
bool redirect(ucontext_t& context, const FiberStack& stack) {
#if defined(__x86_64__)
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(&after_signal);
  context.uc_mcontext.gregs[REG_RSP] = reinterpret_cast<greg_t>(stack.top() - 8);
  context.uc_mcontext.gregs[REG_RBP] = 0;
  return true;
#elif defined(__aarch64__)
  context.uc_mcontext.pc = reinterpret_cast<std::uint64_t>(&after_signal);
  context.uc_mcontext.sp = reinterpret_cast<std::uint64_t>(stack.top());
  return true;
#else
  (void)context;
  (void)stack;
  return false;
#endif
}

void pass_on(int number, siginfo_t* info, void* context) {
  for (int i = 0; i < 3; ++i) {
    if (handled_signals[i] != number) continue;
    const struct sigaction& previous = previous_actions[i];
    if (previous.sa_flags & SA_SIGINFO) {
      previous.sa_sigaction(number, info, context);
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
      // The faulty instruction runs again and the default action follows.
      signal(number, SIG_DFL);
    } else {
      previous.sa_handler(number);
    }
  }
}

void handle(int number, siginfo_t* info, void* context) {
  Engine* const engine = Engine::running();
  const bool synchronous = info->si_code > 0;  // from an instruction, not from kill()
  if (engine && engine->in_fiber() && synchronous) {
    engine->current_stack().forget_frames();
    if (redirect(*static_cast<ucontext_t*>(context), engine->current_stack())) {
      engine->note_signal(number, info->si_addr);
      return;
    }
  }
  pass_on(number, info, context);
}

}  // namespace

void install_fault_handler() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (int i = 0; i < 3; ++i) {
      struct sigaction action = {};
      action.sa_sigaction = &handle;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&action.sa_mask);
      if (sigaction(handled_signals[i], &action, &previous_actions[i]) != 0)
        throw Error(ErrorCode::internal, "the emulator could not install its signal handler");
    }
  });
}

struct SignalStackScope::State {
  alignas(16) char memory[64 * 1024];
  stack_t previous;
};

SignalStackScope::SignalStackScope() : state_(new State) {
  stack_t own = {};
  own.ss_sp = state_->memory;
  own.ss_size = sizeof state_->memory;
  if (sigaltstack(&own, &state_->previous) != 0)
    throw Error(ErrorCode::internal, "the emulator could not install its signal stack");
}

SignalStackScope::~SignalStackScope() { sigaltstack(&state_->previous, nullptr); }

}  // namespace weft::simt::emulator
