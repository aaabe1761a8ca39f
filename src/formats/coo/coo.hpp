#pragma once
#include "core/isa.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::coo {

const Format& format();

/// What the CPU kernel reads: entries sorted by row, cut into chunks of `chunk_entries`. The sums of a chunk's first
/// and last row go to `carries` (two times max_row_major_vectors per chunk), since neighbours may hold more of these
/// rows.
template <class V>
struct CpuMatrix {
  const Index* rows = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
  Offset entries = 0;
  Offset chunk_entries = 0;
  V* carries = nullptr;
};

/// y += alpha A x; y has been scaled by beta before.
WEFT_FOR_EACH_ISA(template <class V>
                  void multiply_add(const CpuMatrix<V>& matrix, const Product<V>& product, int threads);)

}  // namespace weft::coo

WEFT_DECLARE_GPU_BUILDER(coo)
