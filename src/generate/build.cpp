#include "generate/build.hpp"

#include <string>

#include "core/file_bytes.hpp"

namespace weft::generation {

void require_memory(double bytes) {
  const auto memory = static_cast<double>(io::machine_memory());
  if (bytes <= memory) return;
  constexpr double gigabyte = 1e9;
  throw Error(ErrorCode::out_of_memory, "the matrix needs about " +
                                            std::to_string(static_cast<std::int64_t>(bytes / gigabyte) + 1) +
                                            " GB of memory and this machine has " +
                                            std::to_string(static_cast<std::int64_t>(memory / gigabyte)) + " GB");
}

}  // namespace weft::generation
