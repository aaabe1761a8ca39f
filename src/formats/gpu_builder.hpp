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

template <Value V>
Builder<V> choose_gpu_builder(Device device, Builder<V> cuda, Builder<V> emulator) {
  const Builder<V> builder = device.kind() == Device::Kind::gpu ? cuda : emulator;
  if (!builder) describe(device);  // throws, saying what this build lacks
  if (!builder) throw Error(ErrorCode::no_device, "this build cannot use " + device.name());
  return builder;
}

}  // namespace weft
