#pragma once
#include <weft/export.hpp>

#include <functional>
#include <string_view>

namespace weft {

/// The number of CPU threads Weft uses: OpenMP's default (OMP_NUM_THREADS) unless set here. 0 goes back to that
/// default.
WEFT_API void set_threads(int count);
WEFT_API int threads();

/// The instruction set of CPU kernels: the one named by the environment variable WEFT_ISA, else avx2 where the CPU has
/// it, else the baseline. On a CPU with AVX-512, a format that was measured to be faster with it there uses that
/// instead (PlanInfo::isa), with the same bits as AVX2's. avx512_gather is avx512 with the processor's own instruction
/// for reading elements anywhere, where a format has kernels with it.
enum class Isa { baseline, avx2, avx512, avx512_gather };
WEFT_API Isa isa();
/// All plans made from now on use this one. For tests and comparisons; throws Error(unsupported) when this CPU or build
/// lacks it.
WEFT_API void set_isa(Isa isa);
WEFT_API bool isa_available(Isa isa);
WEFT_API std::string_view to_string(Isa isa);

/// Weft never prints. What it would like to say goes to this callback, if any; called from any thread, one at a time.
enum class LogLevel { debug, info, warning };
using Logger = std::function<void(LogLevel, std::string_view)>;
WEFT_API void set_logger(Logger logger);
WEFT_API void log(LogLevel level, std::string_view sentence);

/// Told how far a long task is, 0..1, from one thread at a time. Returning false asks for Error(cancelled).
using Progress = std::function<bool(double fraction)>;

}  // namespace weft
