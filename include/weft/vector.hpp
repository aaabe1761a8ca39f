#pragma once
#include <weft/buffer.hpp>
#include <weft/export.hpp>
#include <weft/types.hpp>

#include <span>
#include <type_traits>
#include <utility>

namespace weft {

/// The elements of a vector wherever they are: in host memory, on a GPU or on the emulator. Does not own them.
template <class T>
class VectorView {
 public:
  constexpr VectorView() = default;
  constexpr VectorView(T* data, std::size_t size, Device device) : data_(data), size_(size), device_(device) {}
  constexpr VectorView(std::span<T> host) : VectorView(host.data(), host.size(), Device::cpu()) {}
  constexpr VectorView(DeviceSpan<T> device) : VectorView(device.data(), device.size(), device.device()) {}
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
  constexpr VectorView(VectorView<U> other) : VectorView(other.data(), other.size(), other.device()) {}

  constexpr T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr Device device() const { return device_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  Device device_ = Device::cpu();
};

/// A vector on any device: what solvers, probes and measurements compute with. Owns its elements; not initialised
/// until written. Movable.
template <class T>
class Vector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Vector() = default;
  Vector(Device device, std::size_t size) : device_(device) {
    if (device.is_cpu())
      host_ = Array<T>(size);
    else
      remote_ = DeviceBuffer<T>(device, size);
  }
  Vector(Device device, std::span<const T> elements) : Vector(device, elements.size()) { upload(elements); }

  std::size_t size() const { return device_.is_cpu() ? host_.size() : remote_.size(); }
  std::size_t bytes() const { return size() * sizeof(T); }
  Device device() const { return device_; }
  T* data() { return device_.is_cpu() ? host_.data() : remote_.data(); }  ///< of the device's memory
  const T* data() const { return device_.is_cpu() ? host_.data() : remote_.data(); }
  operator VectorView<T>() { return {data(), size(), device_}; }
  operator VectorView<const T>() const { return {data(), size(), device_}; }

  /// Copies `elements` in; the sizes must agree. The elements may be changed when it returns.
  void upload(std::span<const T> elements) {
    if (elements.size() != size()) throw Error(ErrorCode::invalid_argument, "upload: the sizes differ");
    if (!device_.is_cpu()) {
      remote_.upload(elements);
      synchronize(device_);
    } else if (!elements.empty()) {
      detail::copy_on_host(host_.data(), elements.data(), bytes());
    }
  }

  /// A copy on the host; waits for what is queued on `stream`.
  Array<T> download(Stream stream = {}) const { return device_.is_cpu() ? host_.clone() : remote_.download(stream); }

 private:
  Device device_ = Device::cpu();
  Array<T> host_;
  DeviceBuffer<T> remote_;
};

// All of these work on one device, which the views must share, and on `stream`; they throw Error(invalid_argument) for
// views of different lengths or devices. Results have the same bits every time, for any number of threads.

/// x_i = value
template <Value V>
WEFT_API void fill(VectorView<V> x, std::type_identity_t<V> value, Stream stream = {});
/// to_i = from_i; from one device to another, or to or from the host, it waits, and `stream` belongs to the GPU (of
/// two, to the one of `from`). The vectors may be the same, but must not overlap otherwise.
template <Value V>
WEFT_API void copy(VectorView<const V> from, VectorView<std::type_identity_t<V>> to, Stream stream = {});
/// y_i = alpha x_i + y_i
template <Value V>
WEFT_API void axpy(std::type_identity_t<V> alpha, VectorView<const V> x, VectorView<std::type_identity_t<V>> y,
                   Stream stream = {});
/// y_i = x_i + beta y_i; y is not read when beta is 0, as in products.
template <Value V>
WEFT_API void xpby(VectorView<const V> x, std::type_identity_t<V> beta, VectorView<std::type_identity_t<V>> y,
                   Stream stream = {});
/// x_i = alpha x_i
template <Value V>
WEFT_API void scale(std::type_identity_t<V> alpha, VectorView<V> x, Stream stream = {});
/// The sum of conj(x_i) y_i, accumulated in f64. Waits for the result. On a GPU, the first call of a thread allocates
/// 8 KB there, which the thread keeps.
template <Value V>
WEFT_API typename ValueTraits<V>::Wide dot(VectorView<const V> x, VectorView<const std::type_identity_t<V>> y,
                                           Stream stream = {});
/// The Euclidean norm, accumulated in f64: squares of more than about 1e308 are infinite. Waits and allocates as dot
/// does.
template <Value V>
WEFT_API double norm(VectorView<const V> x, Stream stream = {});

}  // namespace weft
