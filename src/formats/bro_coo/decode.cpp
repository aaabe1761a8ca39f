#include <weft/error.hpp>

#include <algorithm>
#include <string>

#include "core/parallel.hpp"
#include "formats/bro_coo/bro_coo.hpp"
#include "sparse/row_parts.hpp"

namespace weft::bro_coo {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::parse, sentence); }

std::string interval_text(Offset interval) { return "interval " + std::to_string(interval + 1); }

/// Writes the rows of an interval's entries; false when the stream leads out of the matrix, or bits that must be 0 are
/// not.
template <class V>
bool unpack_rows(const Storage<V>& storage, Offset interval, Index* rows) {
  const Shape& shape = storage.shape;
  const Offset count = shape.count_in(interval);
  const int steps = shape.steps_of(interval), width = storage.widths[interval];
  std::int64_t row = storage.bounds[2 * interval];
  if (row < 0 || row >= storage.rows) return false;
  if (width == 0) {
    std::fill_n(rows, count, static_cast<Index>(row));
    return true;
  }
  const Offset words = shape.words_per_lane(steps, width);
  for (int lane = 0; lane < lanes; ++lane) {
    DeltaReader reader(storage.symbols.data() + storage.words[interval], lane, shape.words_per_symbol(), width);
    for (int step = 0; step < steps; ++step) {
      const Offset k = static_cast<Offset>(lane) * steps + step;
      const std::uint32_t delta = reader.take();
      if (delta != 0 && (k == 0 || k >= count)) return false;
      row += delta;
      if (row >= storage.rows) return false;
      if (k < count) rows[k] = static_cast<Index>(row);
    }
    if (!reader.rest_is_zero(words, steps)) return false;
  }
  return true;
}

}  // namespace

// 1. The row of every entry, interval by interval; 2. rows never fall from one interval to the next; 3. offsets, from
// where rows change; 4. columns, which must ascend inside a row, and values.
template <Value V>
Csr<V> decode(const Storage<V>& storage) {
  const Shape& shape = storage.shape;
  const Offset intervals = shape.intervals(), entries = shape.entries;
  Array<Index> rows(static_cast<std::size_t>(entries));
  FirstPosition bad;
  parallel_for(intervals, 16, [&](std::int64_t interval) {
    Index* const to = rows.data() + shape.begin_of(interval);
    if (storage.widths[interval] > max_width || !unpack_rows(storage, interval, to) ||
        to[shape.count_in(interval) - 1] != storage.bounds[2 * interval + 1])
      bad.report(interval);
  });
  if (bad.found()) refuse("the row numbers of " + interval_text(bad.get()) + " lead out of the matrix");
  for (Offset interval = 1; interval < intervals; ++interval)
    if (storage.bounds[2 * interval] < storage.bounds[2 * interval - 1])
      refuse("the rows of " + interval_text(interval - 1) + " go on behind those of the next");

  Csr<V> matrix;
  matrix.rows = storage.rows;
  matrix.cols = storage.cols;
  matrix.offsets = Array<Offset>(static_cast<std::size_t>(storage.rows) + 1);
  const auto set_offsets = [&](Offset from_row, Offset to_row, Offset entry) {
    std::fill(matrix.offsets.data() + from_row, matrix.offsets.data() + to_row, entry);
  };
  parallel_ranges(entries, entry_grain, [&](Offset begin, Offset end) {
    for (Offset k = begin; k < end; ++k)
      if (k > 0 && rows[k] != rows[k - 1]) set_offsets(rows[k - 1] + Offset(1), rows[k] + Offset(1), k);
  });
  const Offset first_row = entries == 0 ? storage.rows : rows[0];
  const Offset last_row = entries == 0 ? storage.rows : rows[entries - 1] + Offset(1);
  set_offsets(0, std::min<Offset>(first_row, storage.rows) + 1, 0);
  set_offsets(last_row, storage.rows + Offset(1), entries);

  matrix.columns = Array<Index>(static_cast<std::size_t>(entries));
  matrix.values = Array<V>(static_cast<std::size_t>(entries));
  parallel_for(intervals, 16, [&](std::int64_t interval) {
    const Offset begin = shape.begin_of(interval), count = shape.count_in(interval);
    const int steps = shape.steps_of(interval);
    for (int lane = 0; lane < lanes; ++lane)
      for (int step = 0; step < steps; ++step) {
        const Offset k = static_cast<Offset>(lane) * steps + step;
        const Offset place = begin + static_cast<Offset>(step) * lanes + lane;
        if (k < count) {
          matrix.columns[begin + k] = storage.columns[place];
          matrix.values[begin + k] = storage.values[place];
        } else if (storage.columns[place] != 0) {
          bad.report(interval);
        }
      }
  });
  if (bad.found()) refuse("behind the last entry stand others");
  parallel_ranges(entries, entry_grain, [&](Offset begin, Offset end) {
    for (Offset k = begin; k < end; ++k) {
      const Index column = matrix.columns[k];
      const bool follows = k > 0 && rows[k] == rows[k - 1];
      if (column < 0 || column >= storage.cols || (follows && column <= matrix.columns[k - 1])) return bad.report(k);
    }
  });
  if (bad.found())
    refuse("the columns of row " + std::to_string(rows[bad.get()] + std::int64_t(1)) +
           " are not ascending numbers of the matrix");
  return matrix;
}

#define WEFT_INSTANTIATE(V) template Csr<V> decode<V>(const Storage<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_coo
