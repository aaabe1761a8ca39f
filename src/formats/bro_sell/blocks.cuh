#pragma once
#include <weft/buffer.hpp>

#include "formats/csr_on_device.cuh"

// The blocks of a matrix, found on a GPU.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

/// As ::weft::bro_sell::Pattern: with blocks of 1 these are the arrays of the matrix itself.
struct PatternView {
  int block = 1;
  Index rows = 0;
  const Offset* offsets = nullptr;
  const Index* columns = nullptr;
};

template <class V>
PatternView pattern_of(const Source<V>& csr) {
  return {1, csr.rows, csr.offsets, csr.columns};
}

/// Owns the arrays of a pattern, or refers to those of the matrix where blocks are single entries.
class PatternOnDevice {
 public:
  /// `matrix` has blocks of 1 and `entries` of them. The device is current.
  PatternOnDevice(Device device, const PatternView& matrix, Offset entries, int block);

  const PatternView& view() const { return view_; }
  Offset count() const { return count_; }  ///< blocks

 private:
  /// Where all blocks are full they are read off. False: they are not, and nothing is found.
  bool read_full(Device device, const PatternView& matrix, Offset entries);

  PatternView view_;
  Offset count_ = 0;
  DeviceBuffer<Offset> offsets_;
  DeviceBuffer<Index> columns_;
};

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
