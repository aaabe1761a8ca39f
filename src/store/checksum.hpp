#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/progress_meter.hpp"

namespace weft::io {

/// XXH64 of the bytes with seed 0, after the algorithm's public specification. Little-endian machines only, as the
/// container is.
std::uint64_t hash64(std::span<const std::byte> bytes);

/// The checksum of a container's section: up to 1 MiB its hash64, else the hash64 of the hash64s of its pieces of 1
/// MiB, so that threads can share the work and the result does not depend on their number. `meter` counts the bytes.
std::uint64_t section_checksum(std::span<const std::byte> bytes, ProgressMeter* meter = nullptr);

}  // namespace weft::io
