#pragma once
#include <weft/error.hpp>

#include <memory>

#include "formats/registry.hpp"

// A format's gpu.cu is compiled up to twice: by nvcc in namespace weft::on_cuda and for the emulator in
// weft::on_emulator. WEFT_DECLARE_GPU_BUILDER(csr) declares both builds' `csr::build`, WEFT_GPU_BUILDER(csr, V, device)
// is the one for a device.
#define WEFT_DECLARE_GPU_BUILDER(FORMAT)                                                 \
  namespace weft::on_cuda::FORMAT {                                                      \
  template <Value V>                                                                     \
  std::unique_ptr<Operator<V>> build(const Csr<V>& matrix, const BuildOptions& options); \
  }                                                                                      \
  namespace weft::on_emulator::FORMAT {                                                  \
  template <Value V>                                                                     \
  std::unique_ptr<Operator<V>> build(const Csr<V>& matrix, const BuildOptions& options); \
  }

// The same for `load`, which makes an operator of a storage on the host: WEFT_DECLARE_GPU_LOADER(csr, csr::Storage<V>).
#define WEFT_DECLARE_GPU_LOADER(FORMAT, ...)                                                                  \
  namespace weft::on_cuda::FORMAT {                                                                           \
  template <Value V>                                                                                          \
  std::unique_ptr<Operator<V>> load(const ::weft::__VA_ARGS__& storage, const Csr<V>& matrix, Device device); \
  }                                                                                                           \
  namespace weft::on_emulator::FORMAT {                                                                       \
  template <Value V>                                                                                          \
  std::unique_ptr<Operator<V>> load(const ::weft::__VA_ARGS__& storage, const Csr<V>& matrix, Device device); \
  }

#ifdef WEFT_HAS_CUDA
#define WEFT_CUDA_LOADER(FORMAT, V) &::weft::on_cuda::FORMAT::load<V>
#else
#define WEFT_CUDA_LOADER(FORMAT, V) nullptr
#endif
#ifdef WEFT_HAS_EMULATOR
#define WEFT_EMULATOR_LOADER(FORMAT, V) &::weft::on_emulator::FORMAT::load<V>
#else
#define WEFT_EMULATOR_LOADER(FORMAT, V) nullptr
#endif
#define WEFT_GPU_LOADER(FORMAT, V, STORAGE, DEVICE)                                            \
  ::weft::choose_gpu_function<::weft::Loader<V, STORAGE>>(DEVICE, WEFT_CUDA_LOADER(FORMAT, V), \
                                                          WEFT_EMULATOR_LOADER(FORMAT, V))

#ifdef WEFT_HAS_CUDA
#define WEFT_CUDA_BUILDER(FORMAT, V) &::weft::on_cuda::FORMAT::build<V>
#else
#define WEFT_CUDA_BUILDER(FORMAT, V) nullptr
#endif
#ifdef WEFT_HAS_EMULATOR
#define WEFT_EMULATOR_BUILDER(FORMAT, V) &::weft::on_emulator::FORMAT::build<V>
#else
#define WEFT_EMULATOR_BUILDER(FORMAT, V) nullptr
#endif
#define WEFT_GPU_BUILDER(FORMAT, V, DEVICE) \
  ::weft::choose_gpu_builder<V>(DEVICE, WEFT_CUDA_BUILDER(FORMAT, V), WEFT_EMULATOR_BUILDER(FORMAT, V))

namespace weft {

template <Value V, class Storage>
using Loader = std::unique_ptr<Operator<V>> (*)(const Storage& storage, const Csr<V>& matrix, Device device);

template <class Function>
Function choose_gpu_function(Device device, Function cuda, Function emulator) {
  const Function function = device.kind() == Device::Kind::gpu ? cuda : emulator;
  if (!function) describe(device);  // throws, saying what this build lacks
  if (!function) throw Error(ErrorCode::no_device, "this build cannot use " + device.name());
  return function;
}
template <Value V>
Builder<V> choose_gpu_builder(Device device, Builder<V> cuda, Builder<V> emulator) {
  return choose_gpu_function<Builder<V>>(device, cuda, emulator);
}

}  // namespace weft
