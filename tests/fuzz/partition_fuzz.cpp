#include <weft/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/partition_file.hpp"
#include "require.hpp"

/// Whatever the bytes are, the reader answers with a partition of the rows it was asked for or with an Error.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace weft;
  if (size == 0) return 0;
  const Index rows = bytes[0] % 32;
  try {
    const Partition partition =
        ordering::parse_partition({reinterpret_cast<const char*>(bytes) + 1, size - 1}, "fuzz.part", rows);
    require_partition(partition, rows);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::parse);
  }
  return 0;
}
