#pragma once
#include <weft/buffer.hpp>
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/source.hpp>

#include <vector>

/// For tests: matrices on a device.
namespace weft::test {

/// All but the CPU.
inline std::vector<Device> devices_with_kernels() {
  std::vector<Device> devices = available_devices();
  std::erase_if(devices, [](Device device) { return device.is_cpu(); });
  return devices;
}

/// A copy of a matrix on a device, as a caller may have it.
template <Value V, OffsetType O = Offset>
struct CallersCsr {
  CallersCsr(Device device, const Csr<V>& matrix)
      : rows(matrix.rows),
        cols(matrix.cols),
        offsets(device, std::vector<O>(matrix.offsets.begin(), matrix.offsets.end())),
        columns(device, matrix.columns),
        values(device, matrix.values) {}

  DeviceCsr<V, O> view() const { return {rows, cols, offsets, columns, values}; }

  Index rows, cols;
  DeviceBuffer<O> offsets;
  DeviceBuffer<Index> columns;
  DeviceBuffer<V> values;
};

}  // namespace weft::test
