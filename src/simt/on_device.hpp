#pragma once
#include <weft/device.hpp>
#include <weft/error.hpp>

// The one run-time dispatch over devices. What a .cu file defines exists up to twice: built by nvcc in namespace
// weft::on_cuda, and for the emulator in weft::on_emulator.
//
//   WEFT_DECLARE_ON_DEVICES(csr, template <Value V> Space make_space(Index rows, Device device);)
//     declares weft::on_cuda::csr::make_space and weft::on_emulator::csr::make_space;
//   WEFT_ON_DEVICE(device, csr::make_space<V>)(rows, device)
//     calls the one for `device`, or throws Error(no_device) with the reason why this build or machine has none.
#define WEFT_DECLARE_ON_DEVICES(NAMESPACE, ...) \
  namespace weft::on_cuda::NAMESPACE {          \
  __VA_ARGS__                                   \
  }                                             \
  namespace weft::on_emulator::NAMESPACE {      \
  __VA_ARGS__                                   \
  }

#ifdef WEFT_HAS_CUDA
#define WEFT_IN_CUDA(...) &::weft::on_cuda::__VA_ARGS__
#else
#define WEFT_IN_CUDA(...) nullptr
#endif
#ifdef WEFT_HAS_EMULATOR
#define WEFT_IN_EMULATOR(...) &::weft::on_emulator::__VA_ARGS__
#else
#define WEFT_IN_EMULATOR(...) nullptr
#endif
#define WEFT_ON_DEVICE(DEVICE, ...)                                                                       \
  ::weft::simt::on_device<decltype(&::weft::on_emulator::__VA_ARGS__)>(DEVICE, WEFT_IN_CUDA(__VA_ARGS__), \
                                                                       WEFT_IN_EMULATOR(__VA_ARGS__))

namespace weft::simt {

template <class Function>
Function on_device(Device device, Function cuda, Function emulator) {
  const Function function = device.kind() == Device::Kind::gpu        ? cuda
                            : device.kind() == Device::Kind::emulator ? emulator
                                                                      : nullptr;
  if (function) return function;
  require_usable(device);
  throw Error(ErrorCode::internal, "a kernel was requested on " + device.name());
}

}  // namespace weft::simt
