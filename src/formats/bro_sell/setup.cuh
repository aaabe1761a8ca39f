#pragma once
#include <functional>

#include "formats/bro_sell/blocks.cuh"
#include "formats/bro_sell/bro_sell.hpp"
#include "simt/warp.cuh"

// The set-up on a GPU but for the values, which is the same for all value types. It delivers the same arrays as the
// CPU, bit by bit.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

using ::weft::bro_sell::Shape;
using ::weft::bro_sell::Slice;

/// The arrays of a Part on a GPU, but its values.
struct DeviceLayout {
  Shape shape;
  Index rows = 0;
  Index slice_count = 0;
  Index masked_slices = 0;
  Index width = 0;  // of all slices, when they are equally wide, else 0
  bool wide = false;
  Offset entries = 0;         // values, with padding
  DeviceBuffer<Index> order;  // empty when the part holds all block rows in their order
  DeviceBuffer<Slice> slices;
  DeviceBuffer<Index> bases;
  DeviceBuffer<std::uint32_t> words;

  const Index* order_data() const { return order.size() == 0 ? nullptr : order.data(); }
  std::size_t bytes() const { return order.bytes() + slices.bytes() + bases.bytes() + words.bytes(); }
};

/// The parts of a Storage; one without rows is not there.
struct DeviceLayouts {
  DeviceLayout blocks, singles;
};

/// All that a layout depends on.
struct SetupInput {
  Device device;
  PatternView matrix;  // single entries
  Offset nonzeros = 0;
  int block = 1;
  std::size_t value_bytes = 0;
  ::weft::sell::RowsToCut rows;  // of the matrix, for single entries
  ::weft::bro_sell::ShapeChooser choose_shape = nullptr;
  const BuildOptions& options;
  std::function<const Array<Offset>&()> host_offsets;  // called where they are needed
};

__device__ __forceinline__ Offset slice_of_warp() { return simt::global_thread_id() / 32; }

/// The same steps as build_storage on the CPU. The device is current.
DeviceLayouts lay_out(const SetupInput& input);

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
