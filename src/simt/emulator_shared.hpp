#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// Shared memory as emulated kernels see it: arrays whose elements are proxies, so that every access can be checked.
namespace weft::simt::emulator {

enum class SharedAccess : std::uint8_t { read, write, atomic };

class SharedRegion;  // the bytes and what is known about them, see emulator_shadow.hpp

/// An array in shared memory: which bytes of which region, and what the kernel calls it.
struct SharedView {
  SharedRegion* region = nullptr;
  const char* name = "";
  std::size_t byte_offset = 0;
  std::int64_t count = 0;
};

SharedView declare_static_shared(const void* key, const char* name, std::size_t element_bytes, std::int64_t count);
SharedView declare_dynamic_shared(const char* name, std::size_t element_bytes, std::size_t alignment,
                                  std::int64_t count, std::int64_t byte_offset);

/// Checks one access of the running thread and gives the element's address; ends the thread with a fault if it is
/// wrong.
std::byte* access_shared(const SharedView& view, std::size_t element_bytes, std::int64_t index, SharedAccess kind);

template <class T>
class SharedPointer;

/// What `array[i]` gives. It can only be used on the spot: `auto v = array[i]` compiles, but no use of v does. Write
/// the type: `float v = array[i]`.
template <class T>
class SharedElement {
 public:
  SharedElement(const SharedView& view, std::int64_t index) : view_(view), index_(index) {}
  SharedElement(const SharedElement&) = delete;

  operator T() && { return load(SharedAccess::read); }
  T operator=(T value) && { return store(value, SharedAccess::write); }
  T operator=(SharedElement&& other) && { return store(other.load(SharedAccess::read), SharedAccess::write); }
  SharedPointer<T> operator&() &&;

  template <class U>
  T operator+=(U value) && {
    return update([&](T old) { return static_cast<T>(old + value); });
  }
  template <class U>
  T operator-=(U value) && {
    return update([&](T old) { return static_cast<T>(old - value); });
  }
  template <class U>
  T operator*=(U value) && {
    return update([&](T old) { return static_cast<T>(old * value); });
  }
  template <class U>
  T operator|=(U value) && {
    return update([&](T old) { return static_cast<T>(old | value); });
  }
  template <class U>
  T operator&=(U value) && {
    return update([&](T old) { return static_cast<T>(old & value); });
  }
  T operator++() && {
    return update([](T old) { return static_cast<T>(old + T(1)); });
  }
  T operator--() && {
    return update([](T old) { return static_cast<T>(old - T(1)); });
  }

  /// Replaces the element by change(old) in one indivisible step and gives the old value.
  template <class F>
  T atomically(F change) && {
    const T old = load(SharedAccess::atomic);
    store(change(old), SharedAccess::atomic);
    return old;
  }

 private:
  T load(SharedAccess kind) const {
    T value;
    std::memcpy(&value, access_shared(view_, sizeof(T), index_, kind), sizeof(T));
    return value;
  }
  T store(T value, SharedAccess kind) const {
    std::memcpy(access_shared(view_, sizeof(T), index_, kind), &value, sizeof(T));
    return value;
  }
  template <class F>
  T update(F change) const {
    return store(change(load(SharedAccess::read)), SharedAccess::write);
  }

  SharedView view_;
  std::int64_t index_;
};

/// A shared array, or a position in one. It stands where CUDA code has a T*: copied, advanced and indexed.
template <class T>
class SharedPointer {
  static_assert(std::is_trivially_copyable_v<T>, "shared memory holds plain bytes");

 public:
  explicit SharedPointer(const SharedView& view, std::int64_t position = 0) : view_(view), position_(position) {}

  template <std::integral I>
  SharedElement<T> operator[](I index) const {
    return SharedElement<T>(view_, position_ + static_cast<std::int64_t>(index));
  }
  SharedElement<T> operator*() const { return (*this)[0]; }
  template <std::integral I>
  SharedPointer operator+(I elements) const {
    return SharedPointer(view_, position_ + static_cast<std::int64_t>(elements));
  }

 private:
  SharedView view_;
  std::int64_t position_;
};

template <class T>
SharedPointer<T> SharedElement<T>::operator&() && {
  return SharedPointer<T>(view_, index_);
}

}  // namespace weft::simt::emulator
