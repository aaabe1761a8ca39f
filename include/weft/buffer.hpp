#pragma once
#include <weft/array.hpp>
#include <weft/device.hpp>
#include <weft/export.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace weft {

namespace detail {
WEFT_API void* device_allocate(Device device, std::size_t count,
                               std::size_t element_bytes);  // throws Error(out_of_memory)
WEFT_API void device_free(Device device, void* memory) noexcept;
WEFT_API void copy_to_device(Device device, void* to, const void* from, std::size_t bytes, Stream stream);
WEFT_API void copy_to_host(Device device, void* to, const void* from, std::size_t bytes, Stream stream);  // waits
WEFT_API void copy_on_device(Device device, void* to, const void* from, std::size_t bytes,
                             Stream stream);                                // both of it
WEFT_API void copy_on_host(void* to, const void* from, std::size_t bytes);  // in parallel
}  // namespace detail

/// Elements in the memory of a GPU (or of the emulator). Not a std::span and not convertible to one: host code cannot
/// dereference it by mistake, and a std::span cannot be passed where a GPU will read.
template <class T>
class DeviceSpan {
 public:
  constexpr DeviceSpan() = default;
  constexpr DeviceSpan(T* data, std::size_t size, Device device) : data_(data), size_(size), device_(device) {}
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
  constexpr DeviceSpan(DeviceSpan<U> other) : data_(other.data()), size_(other.size()), device_(other.device()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr Device device() const { return device_; }
  constexpr DeviceSpan subspan(std::size_t from, std::size_t count) const { return {data_ + from, count, device_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  Device device_ = Device::gpu();
};

/// Owns elements in the memory of a GPU or of the emulator. Uninitialised until written.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceBuffer() = default;
  DeviceBuffer(Device device, std::size_t size)
      : data_(static_cast<T*>(detail::device_allocate(device, size, sizeof(T)))), size_(size), device_(device) {}
  DeviceBuffer(Device device, std::span<const T> elements) : DeviceBuffer(device, elements.size()) {
    upload(elements);
    synchronize(device);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(device_, other.device_);
    return *this;
  }
  ~DeviceBuffer() {
    if (data_) detail::device_free(device_, data_);
  }

  /// Copies the elements in, queued on `stream`; the sizes must agree.
  void upload(std::span<const T> elements, Stream stream = {}) {
    if (elements.size() != size_) throw Error(ErrorCode::invalid_argument, "upload: the sizes differ");
    detail::copy_to_device(device_, data_, elements.data(), size_ * sizeof(T), stream);
  }

  /// Copies the elements out and waits for them.
  Array<T> download(Stream stream = {}) const {
    Array<T> result(size_);
    detail::copy_to_host(device_, result.data(), data_, size_ * sizeof(T), stream);
    return result;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }
  Device device() const { return device_; }
  operator DeviceSpan<T>() { return {data_, size_, device_}; }
  operator DeviceSpan<const T>() const { return {data_, size_, device_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  Device device_ = Device::gpu();
};

}  // namespace weft
