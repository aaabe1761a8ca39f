#pragma once
#include "core/timer.hpp"
#include "formats/bce/bce.hpp"
#include "formats/gpu_product.cuh"

namespace weft::WEFT_SIMT_NAMESPACE::bce {

using ::weft::bce::Layout;
using ::weft::bce::Piece;
using ::weft::bce::Settings;
using ::weft::bce::Storage;

/// bce::Storage in a GPU's memory.
template <class V>
struct DeviceStorage {
  Index rows = 0;
  Layout layout;
  DeviceBuffer<Offset> block_rows;
  DeviceBuffer<Index> threads;
  DeviceBuffer<Index> row_numbers;
  DeviceBuffer<Index> widths;
  DeviceBuffer<Index> full_widths;
  DeviceBuffer<Offset> positions;
  DeviceBuffer<Index> columns;
  DeviceBuffer<V> values;
  double upload_seconds = 0;

  std::size_t bytes() const {
    return block_rows.bytes() + threads.bytes() + row_numbers.bytes() + widths.bytes() + full_widths.bytes() +
           positions.bytes() + columns.bytes() + values.bytes();
  }
};

template <Value V>
DeviceStorage<V> set_up_on_gpu(const Csr<V>& matrix, const Settings& settings, Device device) {
  Storage<V> host = ::weft::bce::set_up(matrix, settings);
  DeviceStorage<V> result;
  result.rows = host.rows;
  result.layout = host.layout;
  result.block_rows = DeviceBuffer<Offset>(device, host.layout.block_rows);
  result.threads = DeviceBuffer<Index>(device, host.layout.threads);
  result.row_numbers = DeviceBuffer<Index>(device, host.row_numbers);
  result.widths = DeviceBuffer<Index>(device, host.widths);
  result.full_widths = DeviceBuffer<Index>(device, host.full_widths);
  result.positions = DeviceBuffer<Offset>(device, host.positions);
  result.columns = DeviceBuffer<Index>(device, host.columns);
  result.values = DeviceBuffer<V>(device, host.values);
  return result;
}

template <Value V>
void refill(DeviceStorage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values, Device device) {
  Storage<V> host;
  host.layout = storage.layout;
  host.row_numbers = storage.row_numbers.download();
  host.widths = storage.widths.download();
  host.positions = storage.positions.download();
  host.values = Array<V>(storage.values.size());
  ::weft::bce::fill_values(host, offsets, csr_values);
  storage.values.upload(host.values);
  synchronize(device);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bce
