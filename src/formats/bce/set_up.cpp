// From csr to blocked ELL on the CPU:
//  1. the distribution of the row lengths; rows too long for one thread or sub-block are cut into pieces (layout.cpp),
//  2. the partition into blocks, and these into sub-blocks (partition.cpp, layout.cpp),
//  3. rows and pieces grouped by block, in their order (Algorithm 3 of the paper),
//  4. the width of each sub-block, hence its place,
//  5. columns and values.
#include "facts/source_facts.hpp"
#include "formats/bce/bce.hpp"
#include "sparse/group_by_key.hpp"

namespace weft::bce {
namespace {

constexpr Offset sub_block_grain = 64;

Piece entries_of(Index number, const Array<Offset>& offsets, const Array<Piece>& pieces) {
  if (number >= 0) return {offsets[number], offsets[number + 1]};
  return pieces[~number];
}

std::vector<Piece> find_long_rows(Index rows, const Array<Offset>& offsets, Offset longest) {
  std::vector<std::vector<Piece>> found(static_cast<std::size_t>(rows / entry_grain + 1));
  parallel_ranges(rows, entry_grain, [&](Offset begin, Offset end) {
    for (Offset row = begin; row < end; ++row)
      if (offsets[row + 1] - offsets[row] > longest)
        found[begin / entry_grain].push_back({offsets[row], offsets[row + 1]});
  });
  std::vector<Piece> result;
  for (const auto& part : found) result.insert(result.end(), part.begin(), part.end());
  return result;
}

template <Value V>
void group_rows(const Csr<V>& matrix, Offset longest_row, Storage<V>& storage) {
  const Layout& layout = storage.layout;
  const Offset* widths = layout.partition.widths.data();
  const auto blocks = static_cast<Index>(layout.partition.widths.size());
  const auto rows_and_pieces = [&](Offset begin, Offset end, auto&& sink) {
    for (Offset i = begin; i < end; ++i) {
      const Index number = i < matrix.rows ? static_cast<Index>(i) : ~static_cast<Index>(i - matrix.rows);
      const Piece entries = entries_of(number, matrix.offsets, layout.pieces);
      const Offset length = entries.end - entries.begin;
      sink(length > longest_row ? blocks + 1 : key_of(length, widths, blocks), number);
    }
  };
  const Offset count = layout.numbers(matrix.rows);
  storage.row_numbers = Array<Index>(static_cast<std::size_t>(count));
  group_by_key(rows_and_pieces, count, layout.keys(), Fields<Index>(storage.row_numbers.data()));
}

template <Value V>
void measure_sub_blocks(const Array<Offset>& offsets, Storage<V>& storage) {
  const Layout& layout = storage.layout;
  storage.widths = Array<Index>(layout.threads.size());
  storage.full_widths = Array<Index>(layout.threads.size());
  parallel_for(layout.sub_blocks(), sub_block_grain, [&](Offset s) {
    Offset longest = 0, shortest = std::numeric_limits<Index>::max();
    for (Offset place = layout.block_rows[s]; place < layout.block_rows[s + 1]; ++place) {
      const Piece entries = entries_of(storage.row_numbers[place], offsets, layout.pieces);
      longest = std::max(longest, entries.end - entries.begin);
      shortest = std::min(shortest, entries.end - entries.begin);
    }
    const Index threads = layout.threads[s];
    storage.widths[s] = static_cast<Index>((longest + threads - 1) / threads * threads);
    storage.full_widths[s] = static_cast<Index>(shortest);
  });
}

/// Calls put(to, from) for all entries that are stored, with from = -1 for padding.
template <Value V, class F>
void for_each_entry(const Storage<V>& storage, const Array<Offset>& offsets, F&& put) {
  const Layout& layout = storage.layout;
  parallel_for(layout.sub_blocks(), sub_block_grain, [&](Offset s) {
    const Offset first = layout.block_rows[s], rows = layout.block_rows[s + 1] - first;
    const Index width = storage.widths[s];
    for (Offset r = 0; r < rows; ++r) {
      const Piece entries = entries_of(storage.row_numbers[first + r], offsets, layout.pieces);
      Offset from = entries.begin;
      for (Index column = 0, together = 0; column < width; column += together) {
        together = columns_together(layout.threads[s], layout.group, width - column);
        const Offset to = storage.positions[s] + column * rows + r * together;
        for (int i = 0; i < together; ++i, ++from) put(to + i, from < entries.end ? from : -1);
      }
    }
    for (Offset to = storage.positions[s] + width * rows; to < storage.positions[s + 1]; ++to) put(to, -1);
  });
}

}  // namespace

template <Value V>
Storage<V> set_up(const MatrixSource<V>& source, const Settings& settings) {
  const Csr<V>& matrix = source.host();
  const RowLengths& lengths = row_lengths(source);
  Storage<V> storage;
  storage.rows = matrix.rows;
  std::vector<Piece> long_rows;
  if (lengths.longest_row > settings.longest_row)
    long_rows = find_long_rows(matrix.rows, matrix.offsets, settings.longest_row);
  storage.layout = make_layout(lengths.row_lengths, long_rows, settings);
  group_rows(matrix, settings.longest_row, storage);
  measure_sub_blocks(matrix.offsets, storage);
  storage.positions = place_sub_blocks(storage.layout, storage.widths, settings.alignment);
  const auto stored = static_cast<std::size_t>(storage.positions.back());
  storage.columns = Array<Index>(stored);
  storage.values = Array<V>(stored);
  for_each_entry(storage, matrix.offsets, [&](Offset to, Offset from) {
    storage.columns[to] = from < 0 ? -1 : matrix.columns[from];
    storage.values[to] = from < 0 ? V(0) : matrix.values[from];
  });
  return storage;
}

template <Value V>
void fill_values(Storage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values) {
  for_each_entry(storage, offsets,
                 [&](Offset to, Offset from) { storage.values[to] = from < 0 ? V(0) : csr_values[from]; });
}

#define WEFT_INSTANTIATE(V)                                            \
  template Storage<V> set_up(const MatrixSource<V>&, const Settings&); \
  template void fill_values(Storage<V>&, const Array<Offset>&, std::span<const V>);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bce
