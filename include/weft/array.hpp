#pragma once
#include <weft/error.hpp>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace weft {

namespace detail {

/// "16.0 GB (2000000001 elements of 8 bytes)"
inline std::string memory_text(std::size_t count, std::size_t element_bytes) {
  const double bytes = static_cast<double>(count) * static_cast<double>(element_bytes);
  const bool large = bytes >= 1e8;
  const auto tenths = std::llround(bytes / (large ? 1e8 : 1e5));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + (large ? " GB (" : " MB (") +
         std::to_string(count) + " elements of " + std::to_string(element_bytes) + " bytes)";
}

}  // namespace detail

/// A fixed-size array in host memory that knows its owner: memory of its own, a moved-in std::vector, or a mapped file.
///
/// Copies share the elements (like a NumPy array); `clone()` makes an independent one. Elements of `Array(n)` are not
/// initialised, so that the threads that use them touch them first.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  static constexpr std::size_t alignment = 64;

  Array() = default;

  /// Takes `size` uninitialised elements. Throws Error(out_of_memory) when there is no such amount of memory.
  explicit Array(std::size_t size) : size_(size) {
    if (size == 0) return;
    void* memory = nullptr;
    if (size <= (std::numeric_limits<std::size_t>::max() - alignment) / sizeof(T))
      memory = std::aligned_alloc(alignment, (size * sizeof(T) + alignment - 1) / alignment * alignment);
    if (!memory)
      throw Error(ErrorCode::out_of_memory, "cannot allocate " + detail::memory_text(size, sizeof(T)) +
                                                ": use a smaller matrix or a machine with more free memory");
    owner_ = std::shared_ptr<void>(memory, std::free);
    data_ = static_cast<T*>(memory);
  }

  Array(std::size_t size, T fill) : Array(size) {
    for (std::size_t i = 0; i < size; ++i) data_[i] = fill;
  }

  Array(std::initializer_list<T> elements) : Array(std::vector<T>(elements)) {}

  /// Takes over a vector's memory without a copy.
  explicit Array(std::vector<T>&& elements) : size_(elements.size()) {
    auto keeper = std::make_shared<std::vector<T>>(std::move(elements));
    data_ = keeper->data();
    owner_ = std::move(keeper);
  }

  /// Views `size` elements at `data` that live as long as `owner` (a file mapping, say).
  Array(std::shared_ptr<void> owner, T* data, std::size_t size) : owner_(std::move(owner)), data_(data), size_(size) {}

  static Array copy_of(std::span<const T> elements) {
    Array result(elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) result.data_[i] = elements[i];
    return result;
  }

  Array clone() const { return copy_of(*this); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  std::shared_ptr<void> owner_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace weft
