#include "facts/source_facts.hpp"

#include <algorithm>
#include <atomic>

#include "core/parallel.hpp"
#include "facts/access.hpp"
#include "facts/blocks.hpp"
#include "facts/device_facts.hpp"
#include "facts/runs.hpp"
#include "facts/symmetry.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

template <Value V>
DevicePattern pattern_of(SourceState<V>& state) {
  const Device device = state.nearest();
  return {device,
          state.rows(),
          state.cols(),
          state.nonzeros(),
          state.offsets64(device).data(),
          nullptr,
          state.on_device(device).columns.data()};
}

BlockFacts find_blocks_on_device(const DevicePattern& pattern) {
  if (pattern.entries == 0) return {};
  return largest_blocks(pattern.rows, pattern.cols, [&](int block) {
    const Offset room = block * block;
    // With more blocks than this, more than what is tolerated is empty, rounding or not.
    const Offset limit = (pattern.entries + static_cast<Offset>(tolerated_waste(pattern.entries))) / room + 1;
    const Offset touched = WEFT_ON_DEVICE(pattern.device, facts::count_blocks)(pattern, block, limit);
    return block_fill_of(pattern.entries, touched * room - pattern.entries);
  });
}

/// Sums of integers: the order in which threads add does not matter.
template <Value V>
Array<Index> count_columns(const Csr<V>& matrix) {
  Array<Index> counts(static_cast<std::size_t>(matrix.cols));
  parallel_ranges(matrix.cols, entry_grain,
                  [&](Offset begin, Offset end) { std::fill(counts.begin() + begin, counts.begin() + end, Index(0)); });
  parallel_for(matrix.nonzeros(), entry_grain, [&](Offset i) {
    std::atomic_ref<Index>(counts[matrix.columns[i]]).fetch_add(1, std::memory_order_relaxed);
  });
  return counts;
}

template <Value V>
constexpr int sector_elements = static_cast<int>(32 / sizeof(V));

/// Rows of a slice on a CPU: a line of values.
template <Value V>
constexpr auto rows_of_line = static_cast<Index>(std::max<std::size_t>(4, 64 / sizeof(V)));

template <Value V>
AccessFacts look_at_host(SourceState<V>& state, sampling::Effort effort) {
  const Csr<V>& matrix = state.host();
  return sampling::summarize(
      sampling::look_at(matrix.rows, matrix.offsets.data(), matrix.columns.data(), sector_elements<V>, effort),
      state.nonzeros());
}

}  // namespace

template <Value V>
const RowLengths& row_lengths(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  return state.fact(state.row_lengths, [&] {
    if (state.nearest().is_cpu()) return analyze_rows(state.host());
    return summarize(state.rows(), state.cols(), state.nonzeros(),
                     WEFT_ON_DEVICE(state.nearest(), facts::tally_lengths)(pattern_of(state)));
  });
}

template <Value V>
const BlockFacts& blocks(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  return state.fact(state.blocks, [&] {
    if (!state.nearest().is_cpu()) return find_blocks_on_device(pattern_of(state));
    const Csr<V>& matrix = state.host();
    return find_blocks(matrix.rows, matrix.cols, matrix.offsets.data(), matrix.columns.data(), true);
  });
}

template <Value V>
const SymmetryFacts& symmetry(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  return state.fact(state.symmetry_facts, [&] {
    if (state.nearest().is_cpu()) return find_symmetry(state.host());
    return WEFT_ON_DEVICE(state.nearest(), facts::find_symmetry<V>)(pattern_of(state),
                                                                    state.on_device(state.nearest()).values.data());
  });
}

template <Value V>
const Array<Index>& column_use(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  return state.fact(state.column_use, [&] {
    if (state.nearest().is_cpu()) return count_columns(state.host());
    return WEFT_ON_DEVICE(state.nearest(), facts::column_use)(pattern_of(state));
  });
}

template <Value V>
const AccessFacts& access(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  return state.fact(state.access, [&] {
    const Device device = state.nearest();
    if (device.is_cpu()) return look_at_host(state, sampling::Effort::full);
    return sampling::summarize(WEFT_ON_DEVICE(device, facts::look_at)(pattern_of(state), sector_elements<V>),
                               state.nonzeros());
  });
}

template <Value V>
const AccessFacts& quick_access(const MatrixSource<V>& source) {
  SourceState<V>& state = source.state();
  if (state.access || !state.nearest().is_cpu()) return access(source);
  return state.fact(state.quick_access, [&] {
    AccessFacts found = look_at_host(state, sampling::Effort::quick);
    found.in_runs = facts::share_in_runs(state.host(), rows_of_line<V>);
    return found;
  });
}

template <Value V>
BallFacts balls(const MatrixSource<V>& source, int block, Index nodes) {
  SourceState<V>& state = source.state();
  const sampling::BallRequest request{block, nodes};
  std::optional<BallFacts> found;
  return state.fact(found, [&] {
    if (!state.nearest().is_cpu())
      return sampling::summarize(WEFT_ON_DEVICE(state.nearest(), facts::grow_balls)(pattern_of(state), request),
                                 request);
    const Csr<V>& matrix = state.host();
    return sampling::summarize(sampling::grow_balls(matrix.rows, matrix.offsets.data(), matrix.columns.data(), request),
                               request);
  });
}

#define WEFT_INSTANTIATE(V)                                         \
  template const RowLengths& row_lengths(const MatrixSource<V>&);   \
  template const BlockFacts& blocks(const MatrixSource<V>&);        \
  template const SymmetryFacts& symmetry(const MatrixSource<V>&);   \
  template const Array<Index>& column_use(const MatrixSource<V>&);  \
  template const AccessFacts& access(const MatrixSource<V>&);       \
  template const AccessFacts& quick_access(const MatrixSource<V>&); \
  template BallFacts balls(const MatrixSource<V>&, int, Index);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
