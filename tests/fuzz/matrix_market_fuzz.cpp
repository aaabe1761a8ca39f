// Feeds arbitrary bytes to the Matrix Market reader. Whatever they are, the result is a canonical matrix or a
// weft::Error whose sentence is one line, for both value types and the vector reader; a marked matrix is symmetric. Two
// threads that share the text in small chunks make the same of it as one that reads it whole.
#include <weft/io.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/decompress.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_header.hpp"
#include "require.hpp"

namespace {

/// A valid file may claim 2^31-1 rows, and their offsets are then 16 GiB: legitimate, but nothing to fuzz with.
bool is_small(std::string_view text) {
  try {
    const auto header = weft::io::parse_matrix_market_header(text, "fuzz");
    return header.rows <= 1 << 20;
  } catch (const weft::Error&) {
    return true;
  }
}

template <class Read>
std::string attempt(Read&& read) {
  try {
    read();
    return {};
  } catch (const weft::Error& error) {
    const std::string sentence = error.what();
    require(!sentence.empty() && sentence.find('\n') == std::string::npos);
    require(error.code() != weft::ErrorCode::internal);
    return sentence;
  }
}

template <class T>
bool same_bits(const weft::Array<T>& a, const weft::Array<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.bytes()) == 0);
}

/// Whether the matrix is what its mark promises.
template <weft::Value V>
bool keeps_promise(const weft::Csr<V>& matrix) {
  if (matrix.symmetry == weft::Symmetry::general) return true;
  const weft::Csr<V> other = weft::transpose(matrix);
  if (!same_bits(other.offsets, matrix.offsets) || !same_bits(other.columns, matrix.columns)) return false;
  const V sign = matrix.symmetry == weft::Symmetry::skew ? V(-1) : V(1);
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    if (other.values[i] != sign * matrix.values[i] && matrix.values[i] == matrix.values[i]) return false;  // sums: NaN
  return true;
}

/// The sentence, and the matrix where there is none.
template <weft::Value V>
std::pair<std::string, weft::Csr<V>> read_matrix(std::string_view text, weft::Duplicates duplicates,
                                                 std::size_t chunk_bytes = weft::io::usual_chunk_bytes) {
  weft::Csr<V> matrix;
  std::string sentence = attempt([&] {
    matrix = weft::io::parse_matrix_market<V>(text, "fuzz", {.duplicates = duplicates}, chunk_bytes);
    require(check(matrix).empty());
    require(keeps_promise(matrix));
  });
  return {sentence, matrix};
}

void read_all(std::string_view text) {
  if (!is_small(text)) return;
  weft::set_threads(1);
  const auto [one_sentence, one] = read_matrix<double>(text, weft::Duplicates::sum);
  read_matrix<float>(text, weft::Duplicates::refuse);
  attempt([&] { weft::io::parse_vector<double>(text, "fuzz"); });
  weft::set_threads(2);
  const auto [two_sentence, two] = read_matrix<double>(text, weft::Duplicates::sum, 16);
  require(two_sentence == one_sentence);
  require(two.rows == one.rows && two.cols == one.cols && same_bits(two.offsets, one.offsets));
  require(same_bits(two.columns, one.columns) && same_bits(two.values, one.values));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto bytes = std::as_bytes(std::span(text));
  const weft::io::Compression packing = weft::io::detect_compression(bytes);
  if (packing == weft::io::Compression::none) {
    read_all(text);
  } else {
    attempt([&] { read_all(weft::io::decompress(bytes, packing, "fuzz").text()); });
  }
  return 0;
}
