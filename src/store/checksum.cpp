#include "store/checksum.hpp"

#include <bit>
#include <cstring>
#include <vector>

#include "core/parallel.hpp"

namespace weft::io {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87, prime_2 = 0xC2B2AE3D27D4EB4F, prime_3 = 0x165667B19E3779F9,
                        prime_4 = 0x85EBCA77C2B2AE63, prime_5 = 0x27D4EB2F165667C5;

template <class Word>
Word load(const std::byte* at) {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

std::uint64_t mix(std::uint64_t lane, std::uint64_t word) { return std::rotl(lane + word * prime_2, 31) * prime_1; }

}  // namespace

std::uint64_t hash64(std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t hash = prime_5;
  if (left >= 32) {
    std::uint64_t lanes[4] = {prime_1 + prime_2, prime_2, 0, 0 - prime_1};
    for (; left >= 32; left -= 32)
      for (std::uint64_t& lane : lanes) {
        lane = mix(lane, load<std::uint64_t>(at));
        at += 8;
      }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes) hash = (hash ^ mix(0, lane)) * prime_1 + prime_4;
  }
  hash += bytes.size();
  for (; left >= 8; left -= 8, at += 8)
    hash = std::rotl(hash ^ mix(0, load<std::uint64_t>(at)), 27) * prime_1 + prime_4;
  if (left >= 4) {
    hash = std::rotl(hash ^ load<std::uint32_t>(at) * prime_1, 23) * prime_2 + prime_3;
    at += 4;
    left -= 4;
  }
  for (; left > 0; --left) hash = std::rotl(hash ^ static_cast<std::uint64_t>(*at++) * prime_5, 11) * prime_1;
  hash = (hash ^ (hash >> 33)) * prime_2;
  hash = (hash ^ (hash >> 29)) * prime_3;
  return hash ^ (hash >> 32);
}

std::uint64_t section_checksum(std::span<const std::byte> bytes, ProgressMeter* meter) {
  constexpr std::int64_t piece = 1 << 20;
  const auto size = static_cast<std::int64_t>(bytes.size());
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>((size + piece - 1) / piece));
  parallel_ranges(size, piece, [&](std::int64_t begin, std::int64_t end) {
    hashes[static_cast<std::size_t>(begin / piece)] =
        hash64(bytes.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin)));
    if (meter) meter->add(end - begin);
  });
  if (size <= piece) return size == 0 ? hash64({}) : hashes[0];
  return hash64(std::as_bytes(std::span(hashes)));
}

}  // namespace weft::io
