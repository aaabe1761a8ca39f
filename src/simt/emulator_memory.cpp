#include <sys/mman.h>
#include <unistd.h>
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "simt/emulator_device.hpp"

namespace weft::simt::emulator {
namespace {

// Wide, because a wrong column index seldom misses by one element only. Unmapped pages cost address space, not memory.
constexpr std::size_t guard_bytes = std::size_t{1} << 20;
constexpr std::size_t alignment = 16;
constexpr std::uintptr_t far_away = std::uintptr_t{1} << 30;

struct Buffer {
  std::size_t bytes = 0;
  std::byte* mapping = nullptr;
  std::size_t mapping_bytes = 0;
};

std::mutex buffers_mutex;
std::map<std::uintptr_t, Buffer>& buffers() {
  static std::map<std::uintptr_t, Buffer> all;
  return all;
}

std::uintptr_t number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

// A NaN as f32 and as f64, a negative int, and not the 0xFF of fresh memory.
std::byte canary_at(const std::byte* address) { return number(address) % 2 == 0 ? std::byte{0xFB} : std::byte{0xFF}; }

void fill_canary(std::byte* begin, std::byte* end) {
  for (; begin != end; ++begin) *begin = canary_at(begin);
}

const std::byte* find_damage(const std::byte* begin, const std::byte* end) {
  // The pattern repeats every two bytes: it is whole when its start is right and it equals itself shifted by two.
  const std::size_t bytes = static_cast<std::size_t>(end - begin);
  if (bytes > 2 && begin[0] == canary_at(begin) && begin[1] == canary_at(begin + 1) &&
      std::memcmp(begin, begin + 2, bytes - 2) == 0)
    return nullptr;
  for (; begin != end; ++begin)
    if (*begin != canary_at(begin)) return begin;
  return nullptr;
}

// The accessible bytes before and after the data, which nobody may write.
struct Slack {
  std::byte *before_begin, *before_end, *after_begin, *after_end;
};
Slack slack_of(std::uintptr_t data, const Buffer& buffer) {
  std::byte* const begin = reinterpret_cast<std::byte*>(data);
  return {buffer.mapping + guard_bytes, begin, begin + buffer.bytes,
          buffer.mapping + buffer.mapping_bytes - guard_bytes};
}

std::string describe_distance(std::uintptr_t address, std::uintptr_t data, const Buffer& buffer) {
  const std::string size = "a buffer of " + std::to_string(buffer.bytes) + " bytes";
  if (address < data) return std::to_string(data - address) + " bytes before the start of " + size;
  if (address < data + buffer.bytes) return "byte " + std::to_string(address - data) + " of " + size;
  return std::to_string(address - data - buffer.bytes) + " bytes past the end of " + size;
}

// Finds and repairs damage, so that it is reported once.
std::string repair(std::uintptr_t data, const Buffer& buffer) {
  const Slack slack = slack_of(data, buffer);
  const std::byte* damage = find_damage(slack.before_begin, slack.before_end);
  if (!damage) damage = find_damage(slack.after_begin, slack.after_end);
  if (!damage) return {};
  fill_canary(slack.before_begin, slack.before_end);
  fill_canary(slack.after_begin, slack.after_end);
  return describe_distance(number(damage), data, buffer);
}

}  // namespace

void* allocate(std::size_t bytes) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const auto fail = [&]() -> Error {
    return Error(ErrorCode::out_of_memory, "the emulator cannot allocate " + std::to_string(bytes) + " bytes");
  };
  // A system that overcommits would give more than it has, and kill the process that writes to it.
  if (bytes / page >= static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES))) throw fail();
  const std::size_t usable = (bytes + page - 1) / page * page;
  const std::size_t mapping_bytes = usable + 2 * guard_bytes;
  void* const mapping = mmap(nullptr, mapping_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw fail();
  std::byte* const first = static_cast<std::byte*>(mapping) + guard_bytes;
  if (usable > 0 && mprotect(first, usable, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, mapping_bytes);
    throw fail();
  }
  std::byte* const data = first + usable - (bytes + alignment - 1) / alignment * alignment;
  const Buffer buffer{bytes, static_cast<std::byte*>(mapping), mapping_bytes};
  if (bytes > 0) std::memset(data, 0xFF, bytes);
  const Slack slack = slack_of(number(data), buffer);
  fill_canary(slack.before_begin, slack.before_end);
  fill_canary(slack.after_begin, slack.after_end);
  try {
    std::lock_guard lock(buffers_mutex);
    buffers().emplace(number(data), buffer);
  } catch (...) {
    munmap(mapping, mapping_bytes);
    throw;
  }
  return data;
}

void deallocate(void* memory) noexcept {
  if (!memory) return;
  try {
    std::string complaint;
    {
      std::lock_guard lock(buffers_mutex);
      const auto found = buffers().find(number(memory));
      if (found == buffers().end()) {
        complaint = "the emulator was asked to free memory it did not allocate";
      } else {
        complaint = repair(found->first, found->second);
        if (!complaint.empty()) complaint = "something was written " + complaint + ", noticed when it was freed";
        munmap(found->second.mapping, found->second.mapping_bytes);
        buffers().erase(found);
      }
    }
    if (!complaint.empty()) log(LogLevel::warning, complaint);
  } catch (...) {
    // Only the report of a bug can fail here, for want of memory; freeing must not.
  }
}

std::string describe_address(const void* address) {
  const std::uintptr_t place = number(address);
  if (place < 65536) return "a null pointer";
  std::lock_guard lock(buffers_mutex);
  const auto after = buffers().upper_bound(place);
  std::uintptr_t best = far_away;
  std::string text = "far from every buffer";
  if (after != buffers().begin()) {
    const auto before = std::prev(after);
    const std::uintptr_t end = before->first + before->second.bytes;
    best = place < end ? 0 : std::min(place - end, far_away);
    if (best < far_away) text = describe_distance(place, before->first, before->second);
  }
  if (after != buffers().end() && after->first - place < best)
    text = describe_distance(place, after->first, after->second);
  return text;
}

std::string find_overrun() {
  std::lock_guard lock(buffers_mutex);
  std::string first;
  for (const auto& [data, buffer] : buffers())
    if (std::string damage = repair(data, buffer); first.empty()) first = std::move(damage);
  return first;
}

}  // namespace weft::simt::emulator
