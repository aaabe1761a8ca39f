#include "facts/source_facts.hpp"

#include <atomic>

#include "core/parallel.hpp"
#include "facts/blocks.hpp"
#include "sparse/row_parts.hpp"

namespace weft {

template <Value V>
const RowLengths& row_lengths(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  return state.fact(state.row_lengths, [&] { return analyze_rows(state.host()); });
}

template <Value V>
const BlockFacts& blocks(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  return state.fact(state.blocks, [&] {
    const Csr<V>& matrix = state.host();
    const Blocks found = find_blocks(matrix.rows, matrix.cols, matrix.offsets.data(), matrix.columns.data());
    return BlockFacts{found.size, found.fill};
  });
}

#define WEFT_INSTANTIATE(V)                                       \
  template const RowLengths& row_lengths(const MatrixSource<V>&); \
  template const BlockFacts& blocks(const MatrixSource<V>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
