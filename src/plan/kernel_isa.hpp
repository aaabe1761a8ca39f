#pragma once
#include <weft/runtime.hpp>
#include <weft/types.hpp>

#include <string>
#include <vector>

#include "formats/registry.hpp"

// Which instruction set a format's CPU kernels are compiled for that run fastest here. AVX-512 is twice as wide as
// AVX2, and slower on some CPUs and for some kernels: that is measured, never known by a CPU's name.
namespace weft {

/// The instruction set that was forced (WEFT_ISA, set_isa); else, where the CPU has AVX-512, the one that was measured
/// to be faster when it was first needed, which takes some milliseconds and is kept beside the device's table; else
/// isa().
Isa kernel_isa(const Format& format, ValueType type);

/// One that was measured.
struct KernelIsa {
  std::string format;
  ValueType type = ValueType::f64;
  Isa isa = Isa::avx2;
  bool operator==(const KernelIsa&) const = default;
};

/// Measures all formats anew, and keeps that. Empty where there is nothing to choose.
std::vector<KernelIsa> renew_kernel_isas();

/// The text that is kept, a line per kernel, and back. Lines that make no sense are left out: these are measured again.
std::string to_text(const std::vector<KernelIsa>& all);
std::vector<KernelIsa> parse_kernel_isas(const std::string& text);

}  // namespace weft
