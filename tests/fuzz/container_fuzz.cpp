// Feeds arbitrary bytes to the .weft reader: as they are, and with checksums made to agree, so that the checks behind
// them are reached too. The result is a canonical matrix or a weft::Error.
#include <weft/csr.hpp>

#include <cstdint>
#include <memory>

#include "forge.hpp"
#include "require.hpp"
#include "store/csr_container.hpp"

namespace {

template <weft::Value V>
void read(std::span<const std::byte> bytes) {
  // 64-byte aligned, as a mapped file is, and an allocation of its own, so that a read past the end is seen.
  const auto memory = std::make_shared<weft::Array<std::byte>>(weft::Array<std::byte>::copy_of(bytes));
  try {
    const weft::io::Container container({memory, {memory->data(), memory->size()}}, "fuzz");
    require(check(weft::io::csr_from_container<V>(container)).empty());
  } catch (const weft::Error& error) {
    require(error.code() == weft::ErrorCode::parse || error.code() == weft::ErrorCode::unsupported);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::set_threads(1);
  weft::Array<std::byte> bytes = weft::Array<std::byte>::copy_of(std::as_bytes(std::span(data, size)));
  read<double>(bytes);
  forge(bytes);
  read<double>(bytes);
  read<float>(bytes);
  return 0;
}
