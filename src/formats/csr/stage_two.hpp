#pragma once
#include <weft/array.hpp>

#include <functional>

#include "formats/csr/csr.hpp"

namespace weft::csr {

/// What stage 1 of csr:speculative leaves for the CPU, in memory that both see. See speculative.cuh for the words.
template <class V>
struct StageTwo {
  Offset tiles = 0;
  int tiles_a_bunch = 0;
  Offset bunches = 0;
  const Offset* offsets = nullptr;     // of the matrix
  const Dirty* speculator = nullptr;   // one a tile, with start -1 if clean; null: no row is empty
  V* sums = nullptr;                   // in: of dirty tiles, compactly; out: each at its row, 0 for empty ones
  const Index* joined_rows = nullptr;  // the synchronizer: one a bunch
  const V* joined_values = nullptr;
  Index* added_rows = nullptr;  // out: the same, with all of a row in its first place
  V* added_values = nullptr;
};

/// Does what the paper's CPU does: re-places the sums of dirty tiles and adds up the synchronizer, in parallel and in
/// the order of the matrix. `wait(bunch)` returns when stage 1 has finished that bunch, so that this begins while the
/// GPU still works on others.
template <class V>
void finish_on_cpu(const StageTwo<V>& work, const std::function<void(Offset)>& wait);

}  // namespace weft::csr
