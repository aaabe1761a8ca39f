// Feeds arbitrary bytes to the Matrix Market reader. Whatever they are, the result is a canonical matrix or a
// weft::Error whose sentence is one line; both value types, one and two threads and the vector reader must agree on
// that.
#include <weft/io.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/decompress.hpp"
#include "io/matrix_market.hpp"
#include "io/matrix_market_header.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

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

template <weft::Value V>
std::string read_matrix(std::string_view text, weft::Duplicates duplicates) {
  weft::ReadOptions options;
  options.duplicates = duplicates;
  return attempt([&] { require(check(weft::io::parse_matrix_market<V>(text, "fuzz", options)).empty()); });
}

void read_all(std::string_view text) {
  if (!is_small(text)) return;
  weft::set_threads(1);
  const std::string one = read_matrix<double>(text, weft::Duplicates::sum);
  read_matrix<float>(text, weft::Duplicates::refuse);
  attempt([&] { weft::io::parse_vector<double>(text, "fuzz"); });
  weft::set_threads(2);
  require(read_matrix<double>(text, weft::Duplicates::sum) == one);
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
