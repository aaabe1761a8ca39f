#include <weft/csr.hpp>

#include "sparse/group_by_key.hpp"

namespace weft {

template <Value V>
Csr<V> transpose(const Csr<V>& matrix, Array<Offset>* positions) {
  const Offset nonzeros = matrix.nonzeros();
  const std::size_t size = static_cast<std::size_t>(nonzeros);
  Csr<V> result{matrix.cols,        matrix.rows,    Array<Offset>(static_cast<std::size_t>(matrix.cols) + 1),
                Array<Index>(size), Array<V>(size), matrix.symmetry};

  // Entries come row after row, so a stable sort by column leaves the rows inside each column ascending.
  const auto each_entry = [&](Offset begin, Offset end, auto&& body) {
    for_row_parts(matrix.offsets.data(), matrix.rows, begin, end, [&](Index row, Offset first, Offset last) {
      for (Offset i = first; i < last; ++i) body(row, i);
    });
  };
  if (positions) {
    *positions = Array<Offset>(size);
    const auto source = [&](Offset begin, Offset end, auto&& sink) {
      each_entry(begin, end, [&](Index row, Offset i) { sink(matrix.columns[i], row, matrix.values[i], i); });
    };
    group_by_key(source, nonzeros, matrix.cols,
                 Fields<Index, V, Offset>(result.columns.data(), result.values.data(), positions->data()),
                 result.offsets.data());
  } else {
    const auto source = [&](Offset begin, Offset end, auto&& sink) {
      each_entry(begin, end, [&](Index row, Offset i) { sink(matrix.columns[i], row, matrix.values[i]); });
    };
    group_by_key(source, nonzeros, matrix.cols, Fields<Index, V>(result.columns.data(), result.values.data()),
                 result.offsets.data());
  }
  return result;
}

#define WEFT_INSTANTIATE(V) template Csr<V> transpose(const Csr<V>&, Array<Offset>*);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
