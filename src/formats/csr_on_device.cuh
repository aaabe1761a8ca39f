#pragma once
#include <weft/buffer.hpp>
#include <weft/csr.hpp>

#include "simt/simt.hpp"
#include "sparse/source_state.hpp"

namespace weft::WEFT_SIMT_NAMESPACE {

/// A csr matrix on the GPU, while a format is being made of it.
template <class V>
struct Source {
  Index rows = 0;
  const Offset* offsets = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
};

/// The csr arrays of a matrix on a device, where the source puts them unless they are there. They are valid as long as
/// the source, and until those on another device are requested.
template <Value V>
Source<V> csr_on_device(const MatrixSource<V>& source, Device device) {
  const DeviceEntries<V>& entries = source.state().on_device(device);
  return {source.rows(), source.state().offsets64(device).data(), entries.columns.data(), entries.values.data()};
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
