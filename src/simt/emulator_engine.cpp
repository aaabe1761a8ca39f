#include "simt/emulator_engine.hpp"

#include <algorithm>
#include <bit>
#include <csignal>
#include <exception>

namespace weft::simt::emulator {
namespace {

constinit thread_local Engine* running_engine = nullptr;

constexpr std::uint32_t bit_of(unsigned lane) { return std::uint32_t{1} << lane; }

unsigned lowest(std::uint32_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); }
unsigned highest(std::uint32_t bits) { return 31 - static_cast<unsigned>(std::countl_zero(bits)); }

unsigned nth(std::uint32_t bits, std::uint64_t n) {
  for (; n > 0; --n) bits &= bits - 1;
  return lowest(bits);
}

}  // namespace

Engine& Engine::of_this_thread() {
  static thread_local Engine engine;
  return engine;
}

Engine* Engine::running() { return running_engine; }

void Engine::begin_launch(const Launch& launch, LaneOrder order) {
  launch_ = &launch;
  order_ = order;
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  if (lane_capacity_ < thread_count_) {
    lanes_ = std::make_unique<Lane[]>(thread_count_);
    lane_capacity_ = thread_count_;
  }
  warps_.resize((thread_count_ + lanes_per_warp - 1) / lanes_per_warp);
  shared_.begin_launch(launch.shared_bytes);
  blockDim = launch.block;
  gridDim = launch.grid;
}

std::string Engine::run_block(std::uint64_t block_number) {
  begin_block(block_number);
  running_engine = this;
  try {
    while (fault_.empty()) {
      if (ready_warps_) {
        resume(pick_ready_thread());
      } else if (exited_count_ == thread_count_) {
        break;
      } else if (!release_block_barrier()) {
        fault_ = describe_stall();
      }
    }
  } catch (...) {  // no memory for another stack
    abandon_waiting_threads();
    running_engine = nullptr;
    throw;
  }
  if (!fault_.empty()) abandon_waiting_threads();
  running_engine = nullptr;
  return std::move(fault_);
}

void Engine::begin_block(std::uint64_t block_number) {
  const Dim3 grid = launch_->grid;
  blockIdx.x = static_cast<unsigned>(block_number % grid.x);
  blockIdx.y = static_cast<unsigned>(block_number / grid.x % grid.y);
  blockIdx.z = static_cast<unsigned>(block_number / grid.x / grid.y);
  random_state_ = order_.seed ^ (block_number * 0x9E3779B97F4A7C15u);
  fault_.clear();
  exited_count_ = 0;
  barrier_count_ = 0;
  ready_warps_ = 0;
  for (unsigned w = 0; w < warps_.size(); ++w) {
    const unsigned lanes = std::min(lanes_per_warp, thread_count_ - w * lanes_per_warp);
    const std::uint32_t existing = lanes == lanes_per_warp ? ~std::uint32_t{0} : bit_of(lanes) - 1;
    warps_[w] = {};
    warps_[w].existing = existing;
    make_ready(w, existing);
  }
  shared_.begin_block(thread_count_);
}

void Engine::make_ready(unsigned warp_number, std::uint32_t lanes) {
  warps_[warp_number].ready |= lanes;
  ready_warps_ |= bit_of(warp_number);
}

// SplitMix64.
std::uint64_t Engine::random() {
  std::uint64_t z = (random_state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

unsigned Engine::pick_ready_thread() {
  unsigned warp = 0, lane = 0;
  switch (order_.kind) {
    case LaneOrder::Kind::forward:
      warp = lowest(ready_warps_);
      lane = lowest(warps_[warp].ready);
      break;
    case LaneOrder::Kind::reverse:
      warp = highest(ready_warps_);
      lane = highest(warps_[warp].ready);
      break;
    case LaneOrder::Kind::random:
      warp = nth(ready_warps_, random() % static_cast<unsigned>(std::popcount(ready_warps_)));
      lane = nth(warps_[warp].ready, random() % static_cast<unsigned>(std::popcount(warps_[warp].ready)));
      break;
  }
  return warp * lanes_per_warp + lane;
}

void Engine::resume(unsigned thread) {
  Lane& lane = lanes_[thread];
  Warp& warp = warps_[thread / lanes_per_warp];
  warp.ready &= ~bit_of(thread % lanes_per_warp);
  if (!warp.ready) ready_warps_ &= ~bit_of(thread / lanes_per_warp);
  if (!lane.stack) {
    if (free_stacks_.empty()) {
      stacks_.push_back(std::make_unique<FiberStack>(stacks_.size()));
      free_stacks_.reserve(stacks_.size());
      free_stacks_.push_back(stacks_.back().get());
    }
    // Taken at the first instruction and given back after the last: threads that never wait share one warm stack.
    lane.stack = free_stacks_.back();
    free_stacks_.pop_back();
    prepare_fiber(lane.context, *lane.stack, &Engine::fiber_main);
  }
  current_ = thread;
  const Dim3 block = launch_->block;
  if (block.y == 1 && block.z == 1) {
    threadIdx = {thread, 0, 0};
  } else {
    threadIdx = {thread % block.x, thread / block.x % block.y, thread / (block.x * block.y)};
  }
  in_fiber_ = true;
  switch_to_fiber(home_, lane.context, *lane.stack);
  in_fiber_ = false;
  if (warp.exited & bit_of(thread % lanes_per_warp)) {
    if (!fault_.empty()) lane.stack->forget_frames();
    free_stacks_.push_back(lane.stack);
    lane.stack = nullptr;
  }
}

void Engine::fiber_main() {
  Engine& engine = *running_engine;
  fiber_entered(engine.home_stack_);
  engine.run_lane();
  engine.leave();
}

void Engine::run_lane() {
  try {
    launch_->call(launch_->bound);
  } catch (const std::exception& exception) {
    record_fault(std::string("threw an exception: ") + exception.what());
  } catch (...) {
    record_fault("threw an exception");
  }
}

void Engine::suspend() {
  switch_home(lanes_[current_].context, home_, home_stack_, false);
  if (abandoning_) leave();
}

void Engine::leave() {
  warps_[current_ / lanes_per_warp].exited |= bit_of(current_ % lanes_per_warp);
  ++exited_count_;
  switch_home(lanes_[current_].context, home_, home_stack_, true);
  std::terminate();  // a thread that has left is never resumed
}

void Engine::abandon_waiting_threads() {
  // Waking them lets each leave by itself, which is what the address sanitizer's bookkeeping of fibers wants.
  abandoning_ = true;
  for (unsigned thread = 0; thread < thread_count_; ++thread)
    if (lanes_[thread].stack) resume(thread);
  abandoning_ = false;
}

void Engine::record_fault(std::string sentence) {
  if (fault_.empty()) fault_ = place_of(current_) + " " + sentence;
}

void Engine::block_barrier(std::source_location site) {
  lanes_[current_].site = site;
  warps_[current_ / lanes_per_warp].at_barrier |= bit_of(current_ % lanes_per_warp);
  ++barrier_count_;
  suspend();
}

bool Engine::release_block_barrier() {
  if (barrier_count_ != thread_count_) return false;
  const std::source_location first = lanes_[0].site;
  for (unsigned thread = 1; thread < thread_count_; ++thread) {
    const std::source_location& site = lanes_[thread].site;
    if (site.line() != first.line() || site.column() != first.column() ||
        (site.file_name() != first.file_name() && std::string(site.file_name()) != first.file_name()))
      return false;
  }
  barrier_count_ = 0;
  for (unsigned w = 0; w < warps_.size(); ++w) {
    warps_[w].at_barrier = 0;
    make_ready(w, warps_[w].existing);
  }
  shared_.block_barrier();
  return true;
}

std::uint64_t Engine::warp_operation(WarpOperation operation, std::uint32_t mask, std::uint64_t value,
                                     unsigned source_lane) {
  const unsigned warp_number = current_ / lanes_per_warp;
  const unsigned lane_number = current_ % lanes_per_warp;
  Warp& warp = warps_[warp_number];
  if (!(mask & bit_of(lane_number)))
    fail([&] { return std::string("is lane ") + std::to_string(lane_number) + ", which is outside of its own mask"; });
  if (const std::uint32_t absent = mask & ~warp.existing)
    fail([&] {
      return "names lane " + std::to_string(lowest(absent)) + " in a mask, but its warp has only " +
             std::to_string(std::popcount(warp.existing)) + " lanes";
    });
  Lane& lane = lanes_[current_];
  lane.operation = operation;
  lane.mask = mask;
  lane.value = value;
  lane.source_lane = static_cast<std::uint8_t>(source_lane);
  warp.at_operation |= bit_of(lane_number);
  if (all_arrived(warp, warp_number * lanes_per_warp, mask)) complete_operation(warp_number, mask);
  suspend();
  return lane.result;
}

bool Engine::all_arrived(const Warp& warp, unsigned first_thread, std::uint32_t mask) const {
  if ((warp.at_operation & mask) != mask) return false;
  const WarpOperation operation = lanes_[current_].operation;
  for (std::uint32_t rest = mask; rest; rest &= rest - 1) {
    const Lane& lane = lanes_[first_thread + lowest(rest)];
    if (lane.mask != mask || lane.operation != operation) return false;
  }
  return true;
}

void Engine::complete_operation(unsigned warp_number, std::uint32_t mask) {
  Lane* const lanes = &lanes_[warp_number * lanes_per_warp];
  const auto for_each = [&](auto&& body) {
    for (std::uint32_t rest = mask; rest; rest &= rest - 1) body(lanes[lowest(rest)], lowest(rest));
  };
  switch (lanes_[current_].operation) {
    case WarpOperation::sync:
      shared_.warp_barrier(warp_number, mask);
      break;
    case WarpOperation::shuffle:
    case WarpOperation::shuffle_up:
    case WarpOperation::shuffle_down:
    case WarpOperation::shuffle_xor:
      // The value of a lane outside of the mask is undefined: a NaN, or -1, shows up if it is used.
      for_each([&](Lane& lane, unsigned) {
        lane.result = mask & bit_of(lane.source_lane) ? lanes[lane.source_lane].value : ~std::uint64_t{0};
      });
      break;
    case WarpOperation::ballot:
    case WarpOperation::any:
    case WarpOperation::all: {
      std::uint32_t votes = 0;
      for_each([&](const Lane& lane, unsigned number) { votes |= lane.value ? bit_of(number) : 0; });
      const WarpOperation operation = lanes_[current_].operation;
      const std::uint32_t result = operation == WarpOperation::ballot ? votes
                                   : operation == WarpOperation::any  ? votes != 0
                                                                      : votes == mask;
      for_each([&](Lane& lane, unsigned) { lane.result = result; });
      break;
    }
    case WarpOperation::match_any:
      for_each([&](Lane& lane, unsigned) {
        lane.result = 0;
        for_each([&](const Lane& other, unsigned number) {
          if (other.value == lane.value) lane.result |= bit_of(number);
        });
      });
      break;
  }
  warps_[warp_number].at_operation &= ~mask;
  make_ready(warp_number, mask);
}

void Engine::fail_after_signal() {
  fail([&] {
    if (signal_ == SIGFPE) return std::string("divided an integer by zero");
    const char* const address = static_cast<const char*>(signal_address_);
    const FiberStack& stack = current_stack();
    if (address < stack.bottom() && address >= stack.bottom() - 65536) return std::string("overflowed its stack");
    return "accessed an address outside of any buffer (" + describe_address(address) + ")";
  });
}

}  // namespace weft::simt::emulator
