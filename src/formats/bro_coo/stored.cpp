#include "formats/bro_coo/bro_coo.hpp"

namespace weft::bro_coo {

template <Value V>
StoredArrays to_arrays(const Storage<V>& storage) {
  StoredArrays arrays;
  arrays.numbers = numbers_of(storage.shape);
  arrays.add("layout", Array<std::int64_t>{storage.shape.entries, storage.shape.steps, storage.shape.symbol_bits});
  arrays.add("bounds", storage.bounds);
  arrays.add("widths", storage.widths);
  arrays.add("symbols", storage.symbols);
  arrays.add("columns", storage.columns);
  arrays.add("values", storage.values);
  return arrays;
}

template <Value V>
Storage<V> from_arrays(const StoredArrays& arrays, Index rows, Index cols) {
  const auto refuse = [](const char* sentence) { throw Error(ErrorCode::parse, sentence); };
  Storage<V> storage;
  storage.rows = rows;
  storage.cols = cols;
  const Array<std::int64_t>& layout = arrays.get<std::int64_t>("layout", 3);
  storage.columns = arrays.get<Index>("columns");
  // Before anything is reckoned with the number of entries.
  if (layout[0] < 0 || layout[0] > static_cast<std::int64_t>(storage.columns.size()))
    refuse("its 'layout' does not fit the number of its columns");
  if (layout[1] < 1 || layout[1] > max_steps || (layout[2] != 32 && layout[2] != 64))
    refuse("its 'layout' is none that there is");
  storage.shape = {layout[0], static_cast<int>(layout[1]), static_cast<int>(layout[2])};
  storage.columns = arrays.get<Index>("columns", storage.shape.places());
  storage.values = arrays.get<V>("values", storage.shape.places());
  storage.bounds = arrays.get<Index>("bounds", 2 * storage.shape.intervals());
  storage.widths = arrays.get<std::uint8_t>("widths", storage.shape.intervals());
  for (const std::uint8_t width : storage.widths)
    if (width > max_width) refuse("its 'widths' are more than 31 bits");
  storage.words = place_words(storage.shape, storage.widths);
  storage.symbols = arrays.get<std::uint32_t>("symbols", storage.words.back());
  return storage;
}

#define WEFT_INSTANTIATE(V)                              \
  template StoredArrays to_arrays<V>(const Storage<V>&); \
  template Storage<V> from_arrays<V>(const StoredArrays&, Index, Index);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_coo
