#pragma once
#include "formats/registry.hpp"
#include "simt/on_device.hpp"

// A format's gpu.cu defines `build` for its GPU operator: WEFT_DECLARE_GPU_BUILDER(csr) declares it for all devices,
// and WEFT_ON_DEVICE(device, csr::build<V>) is the one to call.
#define WEFT_DECLARE_GPU_BUILDER(FORMAT)                                                                               \
  WEFT_DECLARE_ON_DEVICES(FORMAT, template <Value V> std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, \
                                                                                        const BuildOptions& options);)
// The same for `load`, which makes an operator of a storage on the host.
#define WEFT_DECLARE_GPU_LOADER(FORMAT, ...)                                            \
  WEFT_DECLARE_ON_DEVICES(FORMAT, template <Value V> std::unique_ptr<Operator<V>> load( \
                                      const ::weft::__VA_ARGS__& storage, const Csr<V>& matrix, Device device);)
