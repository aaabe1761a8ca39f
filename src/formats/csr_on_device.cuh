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
/// the source, and until it is asked for those on another device.
template <Value V>
Source<V> csr_on_device(const MatrixSource<V>& source, Device device) {
  const DeviceEntries<V>& entries = source.state().on_device(device);
  return {source.rows(), source.state().offsets64(device).data(), entries.columns.data(), entries.values.data()};
}

/// For formats that are not ported to csr_on_device yet.
template <Value V>
class CsrOnDevice {
 public:
  CsrOnDevice(Device device, const Csr<V>& matrix) : CsrOnDevice(device, matrix, matrix.values) {}
  /// The same pattern with other values.
  CsrOnDevice(Device device, const Csr<V>& matrix, std::span<const V> values)
      : rows_(matrix.rows),
        offsets_(device, matrix.offsets),
        columns_(device, matrix.columns),
        values_(device, values) {}
  Source<V> view() const { return {rows_, offsets_.data(), columns_.data(), values_.data()}; }

 private:
  Index rows_;
  DeviceBuffer<Offset> offsets_;
  DeviceBuffer<Index> columns_;
  DeviceBuffer<V> values_;
};

}  // namespace weft::WEFT_SIMT_NAMESPACE
