// Multiplies with one thread for `tools/count-instructions`, which watches one function of this program. Nothing is
// timed, and nothing here depends on the machine but the instruction set, which WEFT_ISA names. With --step the program
// counts by itself: for instruction sets that the watching tool does not know.
#include <fmt/format.h>
#include <weft/error.hpp>
#include <weft/io.hpp>
#include <weft/plan.hpp>
#include <weft/runtime.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "run.hpp"
#include "workspace.hpp"

/// What is counted: the instructions from entering this function to leaving it. It has a plain name and is called
/// through a pointer nobody can see through, so that the counter finds it in the program.
extern "C" void weft_counted_product(void (*product)(void*), void* argument);
void weft_counted_product(void (*product)(void*), void* argument) {
  product(argument);
  asm volatile("");  // else the call would be a jump, and the function left before the product
}

namespace {

volatile std::int64_t steps = 0;
void count_step(int) { steps = steps + 1; }

}  // namespace

namespace weft::bench {
namespace {

void (*volatile counted_product)(void (*)(void*), void*) = weft_counted_product;

/// How many instructions a call takes that the CPU executes one by one, with a signal after each: exact for whatever it
/// can execute, and some thousand times slower.
std::int64_t count_steps(void (*product)(void*), void* argument) {
#if defined(__x86_64__)
  struct sigaction action = {}, before = {};
  action.sa_handler = count_step;
  sigaction(SIGTRAP, &action, &before);
  steps = 0;
  // The trap flag, past what a function may keep below its stack pointer.
  asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                   : "memory", "cc");
  product(argument);
  asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                   : "memory", "cc");
  sigaction(SIGTRAP, &before, nullptr);
  return steps;
#else
  static_cast<void>(product), static_cast<void>(argument);
  throw Error(ErrorCode::unsupported, "instructions are counted by steps on x86-64 only: leave out --step");
#endif
}

template <Value V>
struct CountedProduct {
  Plan<V>& plan;
  std::span<const V> x;
  std::span<V> y;

  static void run(void* self) {
    auto* product = static_cast<CountedProduct*>(self);
    product->plan.apply(product->x, product->y);
  }
};

/// A line about the build, then one for each format that takes the matrix, in the order in which their products are
/// counted: its name, what that came to, the number of nonzeros and, with --step, of instructions. Those that refuse
/// are told on standard error.
template <Value V>
void count(const std::string& source, const std::vector<std::string>& formats, bool step) {
  // What switching the steps on and off takes is not the product's.
  const std::int64_t without = step ? count_steps([](void*) {}, nullptr) : 0;
  const Csr<V> matrix = read_matrix<V>(source);
  const Array<V> x = random_vector<V>(static_cast<std::size_t>(matrix.cols), 1);
  Array<V> y(static_cast<std::size_t>(matrix.rows), V(0));
  for (const std::string& format : formats) {
    try {
      Plan<V> planned = plan(matrix, {.device = Device::cpu(), .format = format, .allow_nondeterministic = true});
      CountedProduct<V> product{planned, x, y};
      CountedProduct<V>::run(&product);  // whatever the first product does beside multiplying is not counted
      std::string counted;
      if (step)
        counted = fmt::format(" {}", count_steps(&CountedProduct<V>::run, &product) - without);
      else
        counted_product(&CountedProduct<V>::run, &product);
      fmt::print("{} {} {}{}\n", format, planned.info().format, matrix.nonzeros(), counted);
    } catch (const Error& refusal) {
      std::fprintf(stderr, "weft_count_products: %s\n", refusal.what());
    }
  }
}

int run(std::vector<std::string> arguments) {
  const bool step = !arguments.empty() && arguments.front() == "--step";
  if (step) arguments.erase(arguments.begin());
  if (arguments.size() < 2 || (arguments[1] != "f64" && arguments[1] != "f32")) {
    std::fputs(
        "usage: weft_count_products [--step] SOURCE f64|f32 [FORMAT...], for example: gen:poisson2d:30 f64 csr sell\n",
        stderr);
    return 2;
  }
  set_threads(1);
  const Machine machine = this_machine();
  std::printf("%s, %s, %s\n", machine.compiler.c_str(), machine.build_type.c_str(), machine.isa.c_str());
  std::vector<std::string> formats(arguments.begin() + 2, arguments.end());
  if (formats.empty()) formats = formats_for(Device::cpu());
  if (arguments[1] == "f64")
    count<double>(arguments[0], formats, step);
  else
    count<float>(arguments[0], formats, step);
  return 0;
}

}  // namespace
}  // namespace weft::bench

int main(int argc, char** argv) {
  try {
    return weft::bench::run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "weft_count_products: %s\n", error.what());
    return 1;
  }
}
