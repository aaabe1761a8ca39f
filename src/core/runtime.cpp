#include <omp.h>
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "core/isa.hpp"

namespace weft {
namespace {

std::atomic<int> requested_threads{0};

std::recursive_mutex logger_mutex;  // a logger may log, or replace itself
Logger current_logger;

std::atomic<bool> isa_forced{false};

// AVX-512 is for kernels that were measured to gain from it on this machine: see plan/kernel_isa.hpp.
Isa best_isa() {
  if (isa_available(Isa::avx2)) return Isa::avx2;
  return Isa::baseline;
}

Isa isa_from_environment() {
  const char* wanted = std::getenv("WEFT_ISA");
  if (!wanted || !*wanted) return best_isa();
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_gather}) {
    if (wanted != to_string(isa)) continue;
    if (isa_available(isa)) {
      isa_forced = true;
      return isa;
    }
    log(LogLevel::warning, "WEFT_ISA=" + std::string(wanted) + ": this CPU or build lacks it; using " +
                               std::string(to_string(best_isa())));
    return best_isa();
  }
  log(LogLevel::warning, "WEFT_ISA=" + std::string(wanted) +
                             " is not one of baseline, avx2, avx512, avx512-gather; using " +
                             std::string(to_string(best_isa())));
  return best_isa();
}

std::atomic<Isa>& current_isa() {
  static std::atomic<Isa> isa{isa_from_environment()};
  return isa;
}

}  // namespace

void set_threads(int count) {
  if (count < 0) throw Error(ErrorCode::invalid_argument, "the number of threads must be 0 (default) or more");
  requested_threads = count;
}

int threads() {
  const int requested = requested_threads;
  return requested > 0 ? requested : omp_get_max_threads();
}

bool isa_available(Isa isa) {
  if (isa == Isa::baseline) return true;
#ifdef WEFT_X86
  // What the kernels are compiled with, see cmake/WeftLibrary.cmake. A virtual machine may hide some of it.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (isa == Isa::avx2) return avx2;
  return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#else
  return false;
#endif
}

Isa isa() { return current_isa(); }

void set_isa(Isa isa) {
  if (!isa_available(isa))
    throw Error(ErrorCode::unsupported, "this CPU or this build has no " + std::string(to_string(isa)) + " kernels");
  current_isa() = isa;
  isa_forced = true;
}

bool isa_is_forced() {
  current_isa();  // has read the environment
  return isa_forced;
}

std::string_view to_string(Isa isa) {
  switch (isa) {
    case Isa::avx512_gather:
      return "avx512-gather";
    case Isa::avx512:
      return "avx512";
    case Isa::avx2:
      return "avx2";
    case Isa::baseline:
      break;
  }
  return "baseline";
}

void set_logger(Logger logger) {
  std::lock_guard lock(logger_mutex);
  current_logger = std::move(logger);
}

void log(LogLevel level, std::string_view sentence) {
  std::lock_guard lock(logger_mutex);
  const Logger logger = current_logger;
  if (logger) logger(level, sentence);
}

}  // namespace weft
