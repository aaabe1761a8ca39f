#pragma once
#include <weft/runtime.hpp>

// CPU kernels (src/formats/*/cpu.cpp) are compiled once per instruction set, each time inside another namespace,
// weft::WEFT_ISA_NAMESPACE. A header declares them in all of them with WEFT_FOR_EACH_ISA(declaration), and callers
// reach one of them with WEFT_CALL_ISA(isa, function)(arguments). Isa::avx512_gather has no kernels of its own: those
// of AVX-512 are told by a flag of the matrix to gather by hardware.
//
// Such a file must not instantiate inline functions of others (std::vector, std::min, ...): the linker keeps one copy
// of them for the whole program, and it might be the one with AVX-512 instructions.
#ifdef WEFT_X86
#define WEFT_FOR_EACH_ISA(...) \
  namespace isa_baseline {     \
  __VA_ARGS__                  \
  }                            \
  namespace isa_avx2 {         \
  __VA_ARGS__                  \
  }                            \
  namespace isa_avx512 {       \
  __VA_ARGS__                  \
  }
#define WEFT_CALL_ISA(isa, ...)                            \
  ((isa) >= ::weft::Isa::avx512 ? &isa_avx512::__VA_ARGS__ \
   : (isa) == ::weft::Isa::avx2 ? &isa_avx2::__VA_ARGS__   \
                                : &isa_baseline::__VA_ARGS__)
#else
#define WEFT_FOR_EACH_ISA(...) \
  namespace isa_baseline {     \
  __VA_ARGS__                  \
  }
#define WEFT_CALL_ISA(isa, ...) (&isa_baseline::__VA_ARGS__)
#endif

namespace weft {

/// Whether WEFT_ISA or set_isa named the instruction set: then all kernels have that one.
bool isa_is_forced();

}  // namespace weft
