#include <cstdio>

#include "formats/bro_ell/bro_ell.hpp"
#include "formats/padding_limit.hpp"

namespace weft::bro_ell {

Shape choose_shape(const BuildOptions& options) {
  Shape shape;
  shape.slice_rows = static_cast<Index>(options.parameter("h", shape.slice_rows));
  shape.symbol_bits = static_cast<int>(options.parameter("sym", shape.symbol_bits));
  return shape;
}

std::map<std::string, std::int64_t> numbers_of(const Shape& shape) {
  return {{"h", shape.slice_rows}, {"sym", shape.symbol_bits}};
}

void refuse_padding(const Shape& shape, Offset stored, Offset kept, std::size_t value_bytes,
                    const BuildOptions& options) {
  if (shape.is_part())
    require_little_padding_in_part("bro-ell", "bro-hyb", stored, kept, value_bytes, options);
  else
    require_little_padding("bro-ell", stored, kept, value_bytes, options, "bro-hyb");
}

double Savings::eta() const {
  return ellpack_bytes == 0 ? 0 : 1 - static_cast<double>(compressed_bytes) / static_cast<double>(ellpack_bytes);
}

Savings savings_of(Index rows, Index slices, Offset words, Offset widths, Offset longest) {
  constexpr Offset index_bytes = sizeof(Index);
  return {.compressed_bytes = words * 4 + widths + slices * index_bytes,
          .ellpack_bytes = static_cast<Offset>(rows) * longest * index_bytes};
}

template <Value V>
Savings savings_of(const Storage<V>& storage) {
  Offset widths = 0, longest = 0;
  for (const Slice& slice : storage.slices) {
    widths += slice.columns;
    longest = longest < slice.columns ? slice.columns : longest;
  }
  return savings_of(storage.rows, static_cast<Index>(storage.slices.size()), static_cast<Offset>(storage.words.size()),
                    widths, longest);
}

std::string describe(const Shape& shape, const Savings& savings) {
  char eta[32];
  std::snprintf(eta, sizeof eta, "%.1f", 100 * savings.eta());
  return "h = " + std::to_string(shape.slice_rows) + ", " + std::to_string(shape.symbol_bits) +
         "-bit symbols, eta = " + eta + " %";
}

#define WEFT_INSTANTIATE(V) template Savings savings_of<V>(const Storage<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bro_ell
