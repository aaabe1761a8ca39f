#include "simt/emulator_fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>
#include <weft/error.hpp>

#ifdef WEFT_SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#ifndef WEFT_SIMT_UCONTEXT
// Saves the callee-saved registers on the old stack, and takes those of the new fiber from its stack.
extern "C" void weft_simt_switch(void** old_stack_pointer, void* new_stack_pointer);
asm(R"(
.text
.p2align 4
.globl weft_simt_switch
.hidden weft_simt_switch
.type weft_simt_switch,@function
weft_simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size weft_simt_switch,.-weft_simt_switch
)");
#endif

namespace weft::simt::emulator {
namespace {

std::size_t page_bytes() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void switch_contexts(FiberContext& from, FiberContext& to) {
#ifdef WEFT_SIMT_UCONTEXT
  swapcontext(&from.native, &to.native);
#else
  weft_simt_switch(&from.stack_pointer, to.stack_pointer);
#endif
}

}  // namespace

FiberStack::FiberStack(std::size_t number) : number_(number) {
  void* const mapping =
      mmap(nullptr, page_bytes() + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) throw Error(ErrorCode::out_of_memory, "the emulator found no memory for a thread's stack");
  if (mprotect(static_cast<char*>(mapping) + page_bytes(), size, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, page_bytes() + size);
    throw Error(ErrorCode::out_of_memory, "the emulator found no memory for a thread's stack");
  }
  mapping_ = static_cast<char*>(mapping);
}

FiberStack::~FiberStack() {
  if (!mapping_) return;
  forget_frames();
  munmap(mapping_, page_bytes() + size);
}

char* FiberStack::bottom() const { return mapping_ + page_bytes(); }

void FiberStack::forget_frames() const {
#ifdef WEFT_SIMT_ASAN
  __asan_unpoison_memory_region(bottom(), size);
#endif
}

void prepare_fiber(FiberContext& context, const FiberStack& stack, void (*entry)()) {
#ifdef WEFT_SIMT_UCONTEXT
  getcontext(&context.native);
  context.native.uc_stack.ss_sp = stack.bottom();
  context.native.uc_stack.ss_size = FiberStack::size;
  context.native.uc_link = nullptr;
  makecontext(&context.native, entry, 0);
#else
  // As weft_simt_switch leaves a stack: six registers, then where to go. `entry` finds the stack as after a call: an
  // address below a 16-byte boundary, holding the return address 0, where unwinders stop.
  void** slot = reinterpret_cast<void**>(stack.top());
  *--slot = nullptr;
  *--slot = reinterpret_cast<void*>(entry);
  for (int saved_register = 0; saved_register < 6; ++saved_register) *--slot = nullptr;
  context.stack_pointer = slot;
#endif
  context.sanitizer_state = nullptr;
}

void switch_to_fiber(FiberContext& home, FiberContext& fiber, [[maybe_unused]] const FiberStack& stack) {
#ifdef WEFT_SIMT_ASAN
  __sanitizer_start_switch_fiber(&home.sanitizer_state, stack.bottom(), FiberStack::size);
#endif
  switch_contexts(home, fiber);
#ifdef WEFT_SIMT_ASAN
  __sanitizer_finish_switch_fiber(home.sanitizer_state, nullptr, nullptr);
#endif
}

void fiber_entered([[maybe_unused]] HomeStack& home_stack) {
#ifdef WEFT_SIMT_ASAN
  __sanitizer_finish_switch_fiber(nullptr, &home_stack.bottom, &home_stack.size);
#endif
}

void switch_home(FiberContext& fiber, FiberContext& home, [[maybe_unused]] HomeStack& home_stack,
                 [[maybe_unused]] bool for_ever) {
#ifdef WEFT_SIMT_ASAN
  __sanitizer_start_switch_fiber(for_ever ? nullptr : &fiber.sanitizer_state, home_stack.bottom, home_stack.size);
#endif
  switch_contexts(fiber, home);
#ifdef WEFT_SIMT_ASAN
  __sanitizer_finish_switch_fiber(fiber.sanitizer_state, &home_stack.bottom, &home_stack.size);
#endif
}

}  // namespace weft::simt::emulator
