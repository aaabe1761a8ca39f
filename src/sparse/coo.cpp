#include <weft/coo.hpp>

#include "sparse/canonical.hpp"
#include "sparse/group_by_key.hpp"

namespace weft {
namespace {

template <Value V>
void check_entries(const Coo<V>& entries) {
  check_dimensions(entries.rows, entries.cols);
  if (entries.row_indices.size() != entries.values.size() || entries.column_indices.size() != entries.values.size())
    throw Error(ErrorCode::invalid_matrix, "the entries have " + std::to_string(entries.row_indices.size()) +
                                               " rows, " + std::to_string(entries.column_indices.size()) +
                                               " columns and " + std::to_string(entries.values.size()) + " values");
  const auto outside = [](Index index, Index size) { return index < 0 || index >= size; };
  FirstPosition first;
  parallel_ranges(entries.entries(), entry_grain, [&](Offset begin, Offset end) {
    for (Offset i = begin; i < end; ++i)
      if (outside(entries.row_indices[i], entries.rows) || outside(entries.column_indices[i], entries.cols))
        return first.report(i);
  });
  if (!first.found()) return;
  throw Error(ErrorCode::invalid_matrix, "entry " + std::to_string(first.get()) + " stands at row " +
                                             std::to_string(entries.row_indices[first.get()]) + ", column " +
                                             std::to_string(entries.column_indices[first.get()]) +
                                             ", outside the matrix of " + std::to_string(entries.rows) + " x " +
                                             std::to_string(entries.cols) + " (counted from 0)");
}

bool rows_ascend(const Array<Index>& rows) {
  std::atomic<bool> ascend{true};
  parallel_ranges(static_cast<Offset>(rows.size()), entry_grain, [&](Offset begin, Offset end) {
    if (!ascend.load(std::memory_order_relaxed)) return;
    if (!std::is_sorted(rows.begin() + std::max<Offset>(begin - 1, 0), rows.begin() + end))
      ascend.store(false, std::memory_order_relaxed);
  });
  return ascend;
}

/// Offsets of entries whose rows ascend: entry i opens the rows after its predecessor's, up to its own.
Array<Offset> offsets_of(Index rows, const Array<Index>& row_indices) {
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  const Offset entries = static_cast<Offset>(row_indices.size());
  parallel_for(entries, entry_grain, [&](Offset i) {
    for (Index row = i == 0 ? 0 : row_indices[i - 1] + 1; row <= row_indices[i]; ++row) offsets[row] = i;
  });
  const Offset after = entries == 0 ? 0 : Offset(row_indices.back()) + 1;
  std::fill(offsets.begin() + after, offsets.end(), entries);
  return offsets;
}

template <Value V>
std::string duplicate_refusal(const Coo<V>& entries, Index row, Index column) {
  std::string first;
  for (Offset i = 0; i < entries.entries(); ++i) {
    if (entries.row_indices[i] != row || entries.column_indices[i] != column) continue;
    if (!first.empty())
      return "entries " + first + " and " + std::to_string(i) + " both stand at row " + std::to_string(row) +
             ", column " + std::to_string(column) + ", and duplicates are refused";
    first = std::to_string(i);
  }
  return {};
}

}  // namespace

// 1. Refuse indices outside the matrix.
// 2. Group the entries by row, keeping their order; nothing moves when they are in order of rows already.
// 3. Sort each row by column, keeping the order of duplicates, and merge those.
// Peak memory besides `entries`: the grouped entries (8 or 12 bytes each) with 4 bytes a key for step 2 and room for
// the largest bucket of rows, then the grouped entries with the merged ones.
template <Value V>
Csr<V> to_csr(const Coo<V>& entries, Duplicates duplicates) {
  check_entries(entries);
  const bool by_rows = rows_ascend(entries.row_indices);
  Csr<V> loose{entries.rows, entries.cols, {}, entries.column_indices, entries.values};
  if (by_rows) {
    loose.offsets = offsets_of(entries.rows, entries.row_indices);
  } else {
    loose.offsets = Array<Offset>(static_cast<std::size_t>(entries.rows) + 1);
    loose.columns = Array<Index>(entries.column_indices.size());
    loose.values = Array<V>(entries.values.size());
    const auto source = [&](Offset begin, Offset end, auto&& sink) {
      for (Offset i = begin; i < end; ++i) sink(entries.row_indices[i], entries.column_indices[i], entries.values[i]);
    };
    group_by_key(source, entries.entries(), entries.rows, Fields<Index, V>(loose.columns.data(), loose.values.data()),
                 loose.offsets.data());
  }
  return make_canonical(std::move(loose), !by_rows, duplicates,
                        [&](Index row, Index column) { return duplicate_refusal(entries, row, column); });
}

template <Value V>
Coo<V> to_coo(const Csr<V>& matrix) {
  Coo<V> result{matrix.rows, matrix.cols, Array<Index>(matrix.columns.size()), matrix.columns, matrix.values};
  parallel_row_parts(matrix.offsets.data(), matrix.rows, [&](Index row, Offset begin, Offset end) {
    std::fill(result.row_indices.begin() + begin, result.row_indices.begin() + end, row);
  });
  return result;
}

#define WEFT_INSTANTIATE(V)                          \
  template Csr<V> to_csr(const Coo<V>&, Duplicates); \
  template Coo<V> to_coo(const Csr<V>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
