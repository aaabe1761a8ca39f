#pragma once
#include <cstddef>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace weft::gpu {

/// Where blocks of a GPU's memory come from and go to; null where there is none.
struct MemorySource {
  void* (*take)(std::size_t bytes);
  void (*give)(void* memory);
  void (*wait)();  ///< until nothing uses memory any more that has been released
};

/// Freed blocks of a GPU's memory, for the next allocations of about their size. CUDA takes 30 to 60 microseconds to
/// allocate and as long to free, more than a product of a small matrix; the set-up of a format does both a dozen times.
/// Blocks above `max_block` bytes go straight to the source, and so does what would make the cache hold more than
/// `capacity` bytes. Used by any threads.
class MemoryCache {
 public:
  static constexpr std::size_t max_block = std::size_t(32) << 20;

  MemoryCache(MemorySource source, std::size_t capacity) : source_(source), capacity_(capacity) {}

  /// Null: there is no memory left, even though the cache has given all of its own back.
  void* allocate(std::size_t bytes) {
    if (bytes > max_block || capacity_ == 0) return take(bytes);
    const std::size_t size = rounded(bytes);
    const std::lock_guard lock(mutex_);
    void* memory = nullptr;
    if (const auto found = free_.find(size); found != free_.end() && !found->second.empty()) {
      memory = found->second.back();
      found->second.pop_back();
      held_ -= size;
    } else {
      memory = take_locked(size);
    }
    if (memory) sizes_.emplace(memory, size);
    return memory;
  }

  void release(void* memory) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(memory);
    if (found == sizes_.end()) return source_.give(memory);
    const std::size_t size = found->second;
    sizes_.erase(found);
    if (held_ + size > capacity_) return source_.give(memory);
    source_.wait();
    try {
      free_[size].push_back(memory);
    } catch (...) {  // no memory on the host to remember it by
      return source_.give(memory);
    }
    held_ += size;
  }

  /// Gives all blocks back that nobody has.
  void clear() {
    const std::lock_guard lock(mutex_);
    clear_locked();
  }

  std::size_t held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

  /// Sizes in steps of an eighth of a power of two: at most an eighth of a block is not used.
  static std::size_t rounded(std::size_t bytes) {
    std::size_t step = 512;
    while (16 * step <= bytes) step *= 2;
    return (bytes + step - 1) / step * step;
  }

 private:
  void* take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    return take_locked(bytes);
  }
  void* take_locked(std::size_t bytes) {
    if (void* const memory = source_.take(bytes)) return memory;
    if (held_ == 0) return nullptr;
    clear_locked();
    return source_.take(bytes);
  }
  void clear_locked() {
    for (auto& [size, blocks] : free_)
      for (void* const memory : blocks) source_.give(memory);
    free_.clear();
    held_ = 0;
  }

  MemorySource source_;
  std::size_t capacity_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;  // by size
  std::unordered_map<void*, std::size_t> sizes_;    // of blocks in use that may come back here
  std::size_t held_ = 0;
};

}  // namespace weft::gpu
