#pragma once
#include <weft/buffer.hpp>

#include <memory>
#include <utility>

namespace weft {

/// Elements in the memory of a GPU that are only read. Copies share them; whoever holds one keeps them alive, unless
/// they are a caller's, who does.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(DeviceBuffer<T> buffer) : size_(buffer.size()) {
    auto owner = std::make_shared<const DeviceBuffer<T>>(std::move(buffer));
    data_ = owner->data();
    owner_ = std::move(owner);
  }
  /// Borrows a caller's.
  explicit DeviceArray(DeviceSpan<const T> callers) : data_(callers.data()), size_(callers.size()), set_(true) {}

  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  bool is_set() const { return owner_ || set_; }
  bool is_borrowed() const { return set_; }

 private:
  std::shared_ptr<const void> owner_;
  const T* data_ = nullptr;
  std::size_t size_ = 0;
  bool set_ = false;
};

}  // namespace weft
