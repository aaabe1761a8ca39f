#include "sparse/canonical.hpp"

#include <mutex>

#include "core/file_bytes.hpp"
#include "sparse/group_by_key.hpp"

namespace weft {
namespace {

/// Rows past this are sorted by all threads together.
constexpr Offset long_row = 1 << 17;

template <class V>
void insertion_sort(Index* columns, V* values, Offset length) {
  for (Offset i = 1; i < length; ++i) {
    const Index column = columns[i];
    const V value = values[i];
    Offset at = i;
    for (; at > 0 && columns[at - 1] > column; --at) {
      columns[at] = columns[at - 1];
      values[at] = values[at - 1];
    }
    columns[at] = column;
    values[at] = value;
  }
}

/// Sorts one row on the calling thread; `keys` and `ordered` are scratch that lives from row to row.
template <class V>
void sort_row(Index* columns, V* values, Offset length, std::vector<std::uint64_t>& keys, std::vector<V>& ordered) {
  if (std::is_sorted(columns, columns + length)) return;
  if (length <= 24) return insertion_sort(columns, values, length);
  keys.resize(static_cast<std::size_t>(length));
  ordered.resize(static_cast<std::size_t>(length));
  // The position under the column makes each key unique, hence an unstable sort stable.
  for (Offset i = 0; i < length; ++i)
    keys[i] = static_cast<std::uint64_t>(columns[i]) << 32 | static_cast<std::uint64_t>(i);
  std::sort(keys.begin(), keys.end());
  for (Offset i = 0; i < length; ++i) ordered[i] = values[keys[i] & 0xffffffffu];
  for (Offset i = 0; i < length; ++i) {
    columns[i] = static_cast<Index>(keys[i] >> 32);
    values[i] = ordered[i];
  }
}

template <class V>
void sort_long_row(Index cols, Index* columns, V* values, Offset length) {
  FieldArrays<Index, V> ordered(length);
  const auto source = [&](Offset begin, Offset end, auto&& sink) {
    for (Offset i = begin; i < end; ++i) sink(columns[i], columns[i], values[i]);
  };
  group_by_key(source, length, cols, ordered.fields());
  parallel_for(length, entry_grain, [&](Offset i) {
    ordered.fields().get(i, [&](Index column, V value) {
      columns[i] = column;
      values[i] = value;
    });
  });
}

enum class Order { unique, duplicates, unsorted };

template <Value V>
Order order_of(const Csr<V>& matrix) {
  std::atomic<bool> unsorted{false}, repeated{false};
  parallel_row_parts(matrix.offsets.data(), matrix.rows, [&](Index row, Offset begin, Offset end) {
    if (unsorted.load(std::memory_order_relaxed)) return;
    bool falls = false, stays = false;
    for (Offset i = std::max(begin, matrix.offsets[row] + 1); i < end; ++i) {
      falls |= matrix.columns[i] < matrix.columns[i - 1];
      stays |= matrix.columns[i] == matrix.columns[i - 1];
    }
    if (falls) unsorted.store(true, std::memory_order_relaxed);
    if (stays) repeated.store(true, std::memory_order_relaxed);
  });
  return unsorted ? Order::unsorted : repeated ? Order::duplicates : Order::unique;
}

/// The first entry at the place of the one before it; FirstPosition::none when there is none.
template <Value V>
Offset first_duplicate(const Csr<V>& sorted) {
  FirstPosition first;
  parallel_row_parts(sorted.offsets.data(), sorted.rows, [&](Index row, Offset begin, Offset end) {
    for (Offset i = std::max(begin, sorted.offsets[row] + 1); i < end; ++i)
      if (sorted.columns[i] == sorted.columns[i - 1]) return first.report(i);
  });
  return first.get();
}

/// Sums the entries at one place, first to last.
/// 1. Each range of entries counts its heads: entries that do not repeat their predecessor's place.
/// 2. The prefix sum of the counts says where a range writes.
/// 3. Each range writes its heads, with the sum of the run a head leads, even where that runs past the range's end.
template <Value V>
Csr<V> merge_duplicates(const Csr<V>& sorted) {
  const Offset* offsets = sorted.offsets.data();
  const Offset entries = sorted.nonzeros();
  const Offset ranges = (entries + entry_grain - 1) / entry_grain;
  const auto is_head = [&](Index row, Offset i) {
    return i == offsets[row] || sorted.columns[i] != sorted.columns[i - 1];
  };

  std::vector<Offset> heads(static_cast<std::size_t>(ranges) + 1);
  parallel_ranges(entries, entry_grain, [&](Offset begin, Offset end) {
    Offset count = 0;
    for_row_parts(offsets, sorted.rows, begin, end, [&](Index row, Offset first, Offset last) {
      for (Offset i = first; i < last; ++i) count += is_head(row, i);
    });
    heads[begin / entry_grain] = count;
  });
  prefix_sum(heads.data(), ranges);

  const std::size_t size = static_cast<std::size_t>(heads.back());
  Csr<V> result{sorted.rows, sorted.cols, Array<Offset>(sorted.offsets.size()), Array<Index>(size), Array<V>(size)};
  parallel_ranges(entries, entry_grain, [&](Offset begin, Offset end) {
    Offset next = heads[begin / entry_grain];
    Index row = static_cast<Index>(std::lower_bound(offsets, offsets + sorted.rows, begin) - offsets);
    for_row_parts(offsets, sorted.rows, begin, end, [&](Index part_row, Offset first, Offset last) {
      for (; row <= part_row; ++row) result.offsets[row] = next;
      for (Offset i = first; i < last; ++i) {
        if (!is_head(part_row, i)) continue;
        V sum = sorted.values[i];
        for (Offset j = i + 1; j < offsets[part_row + 1] && sorted.columns[j] == sorted.columns[i]; ++j)
          sum += sorted.values[j];
        result.columns[next] = sorted.columns[i];
        result.values[next++] = sum;
      }
    });
  });
  const Index after = static_cast<Index>(std::lower_bound(offsets, offsets + sorted.rows + 1, entries) - offsets);
  std::fill(result.offsets.begin() + after, result.offsets.end(), heads.back());
  return result;
}

}  // namespace

template <class V>
void sort_rows(Index rows, Index cols, const Offset* offsets, Index* columns, V* values) {
  std::mutex mutex;
  std::vector<Index> long_rows;
  const Offset ranges = offsets[rows] / entry_grain + 1;
  parallel_ranges(ranges, 1, [&](Offset range, Offset) {
    std::vector<std::uint64_t> keys;
    std::vector<V> ordered;
    for_rows_beginning_in(offsets, rows, range * entry_grain, [&](Index row, Offset begin, Offset end) {
      if (end - begin <= long_row) return sort_row(columns + begin, values + begin, end - begin, keys, ordered);
      std::lock_guard lock(mutex);
      long_rows.push_back(row);
    });
  });
  for (Index row : long_rows)
    sort_long_row(cols, columns + offsets[row], values + offsets[row], offsets[row + 1] - offsets[row]);
}

template <Value V>
Csr<V> make_canonical(Csr<V> loose, bool own_arrays, Duplicates duplicates,
                      const std::function<std::string(Index row, Index column)>& refusal) {
  const Order order = order_of(loose);
  if (order == Order::unique) return loose;
  if (order == Order::unsorted) {
    if (!own_arrays) {
      Array<Index> columns(loose.columns.size());
      Array<V> values(loose.values.size());
      parallel_copy(loose.columns.data(), loose.nonzeros(), columns.data());
      parallel_copy(loose.values.data(), loose.nonzeros(), values.data());
      loose.columns = std::move(columns);
      loose.values = std::move(values);
    }
    sort_rows(loose.rows, loose.cols, loose.offsets.data(), loose.columns.data(), loose.values.data());
  }
  const Offset duplicate = first_duplicate(loose);
  if (duplicate == FirstPosition::none) return loose;
  if (duplicates == Duplicates::refuse) {
    const Index row = row_of(loose.offsets.data(), loose.rows, duplicate);
    throw Error(ErrorCode::invalid_matrix, refusal(row, loose.columns[duplicate]));
  }
  return merge_duplicates(loose);
}

void check_dimensions(std::int64_t rows, std::int64_t cols) {
  const std::string size = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows < 0 || cols < 0)
    throw Error(ErrorCode::invalid_matrix, "a matrix of " + size + " cannot be: rows and columns must be 0 or more");
  constexpr std::int64_t limit = std::numeric_limits<Index>::max();
  if (rows > limit || cols > limit)
    throw Error(ErrorCode::unsupported,
                "a matrix of " + size + " is too large: at most 2147483647 rows and columns are supported");
}

void check_offsets_memory(const std::string& name, Index rows) {
  const std::size_t needed = (static_cast<std::size_t>(rows) + 1) * sizeof(Offset);
  if (needed > io::machine_memory())
    throw Error(ErrorCode::out_of_memory, name + ": " + std::to_string(rows) + " rows need " +
                                              std::to_string(needed >> 30) + " GiB, more memory than this machine has");
}

#define WEFT_INSTANTIATE(V)                                         \
  template void sort_rows(Index, Index, const Offset*, Index*, V*); \
  template Csr<V> make_canonical(Csr<V>, bool, Duplicates, const std::function<std::string(Index row, Index column)>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
template void sort_rows(Index, Index, const Offset*, Index*, Offset*);
#undef WEFT_INSTANTIATE

}  // namespace weft
