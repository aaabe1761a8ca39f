#pragma once
#include <weft/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace weft::simt {

/// Memory of a device for steps that need many short-lived arrays: allocating each from CUDA would take longer than the
/// steps. Arrays are given out one after another and taken back together. On the emulator each is a buffer of its own,
/// so that accesses outside of it are found.
class Arena {
 public:
  explicit Arena(Device device) : device_(device) {}

  /// Uninitialised, aligned to 256 bytes.
  template <class T>
  T* take(Offset count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return static_cast<T*>(bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

  struct Mark {
    std::size_t slab = 0, used = 0;
  };
  Mark mark() const { return {slab_, used_}; }
  /// Takes back all that was given out since. Work that uses it may still be queued, on the default stream.
  void release(Mark mark) {
    if (exact()) {
      synchronize(device_);
      slabs_.resize(mark.slab);
    }
    slab_ = mark.slab;
    used_ = mark.used;
  }

 private:
  bool exact() const { return device_.kind() == Device::Kind::emulator; }

  void* bytes(std::size_t count) {
    constexpr std::size_t step = 256, min_slab = std::size_t(64) << 20;
    if (exact()) {
      slabs_.emplace_back(device_, count);
      slab_ = slabs_.size();
      return slabs_.back().data();
    }
    count = (count + step - 1) / step * step;
    while (slab_ < slabs_.size() && used_ + count > slabs_[slab_].size()) {
      ++slab_;
      used_ = 0;
    }
    if (slab_ == slabs_.size()) slabs_.emplace_back(device_, std::max(count, min_slab));
    std::byte* const result = slabs_[slab_].data() + used_;
    used_ += count;
    return result;
  }

  Device device_;
  std::vector<DeviceBuffer<std::byte>> slabs_;
  std::size_t slab_ = 0, used_ = 0;  // the next array is at slabs_[slab_] + used_; on the emulator slab_ counts them
};

}  // namespace weft::simt
