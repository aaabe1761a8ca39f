#pragma once
#include <weft/types.hpp>

#include "order/partition/methods.hpp"
#include "order/partition/multilevel/bisection.hpp"
#include "simt/on_device.hpp"

namespace weft::ordering::multilevel {

/// The pattern of a square matrix on a device: `block` rows and columns are one node.
struct NodesOnDevice {
  Device device;
  Index rows = 0;
  Offset entries = 0;
  const Offset* offsets = nullptr;
  const Index* columns = nullptr;
  bool symmetric = false;
  int block = 1;
};

}  // namespace weft::ordering::multilevel

/// As multilevel_parts of node_graph, to the last node, found on the device.
WEFT_DECLARE_ON_DEVICES(multilevel,
                        Array<Index> find_parts(const ordering::multilevel::NodesOnDevice& matrix,
                                                const ordering::PartSizes& sizes, const ordering::Pulse& pulse);)

/// As coordinate_parts, to the last node, found on the device. The columns of the matrix are not looked at.
WEFT_DECLARE_ON_DEVICES(multilevel,
                        Array<Index> halve_points(const ordering::multilevel::NodesOnDevice& matrix,
                                                  const Array<ordering::multilevel::Point>& points,
                                                  const ordering::PartSizes& sizes, const ordering::Pulse& pulse);)
