#pragma once
#include <weft/buffer.hpp>
#include <weft/source.hpp>

#include <vector>

#include "simt/on_device.hpp"
#include "solve/precondition/pattern.hpp"
#include "solve/precondition/systems.hpp"

namespace weft::precondition {

/// Groups whose systems are solved by one launch: none has more unknowns, or more rows.
struct GroupClass {
  const Index* groups = nullptr;  ///< on the device
  Index count = 0;
  int max_unknowns = 0;
  int max_rows = 0;
};

/// The factor G of fsai on a device: found there, from the matrix there, as often as its numbers change. V is what the
/// matrix is stored in, R what G is.
template <Value V, Value R>
class DeviceFactor {
 public:
  /// `transposed` has the pattern of the transposed G, `positions` where its entries are in G.
  DeviceFactor(Device device, const Pattern& pattern, const Csr<R>& transposed, const Array<Offset>& positions);

  /// The numbers of G and its transpose. Throws Error(invalid_argument) as solve_factor_inverse.
  void solve(const MatrixSource<V>& A, const Pattern& pattern);

  std::size_t bytes() const {
    return starts_.bytes() + offsets_.bytes() + upper_offsets_.bytes() + positions_.bytes() + columns_.bytes() +
           upper_columns_.bytes() + values_.bytes() + upper_values_.bytes() + sorted_groups_.bytes();
  }
  DeviceCsr<R> lower() const { return csr(offsets_, columns_, values_); }
  DeviceCsr<R> upper() const { return csr(upper_offsets_, upper_columns_, upper_values_); }

 private:
  DeviceCsr<R> csr(const DeviceBuffer<Offset>& offsets, const DeviceBuffer<Index>& columns,
                   const DeviceBuffer<R>& values) const {
    const auto rows = static_cast<Index>(offsets.size() - 1);
    return {rows, rows, offsets, columns, values};
  }

  Device device_;
  DeviceBuffer<Index> starts_;
  DeviceBuffer<Offset> offsets_, upper_offsets_, positions_;
  DeviceBuffer<Index> columns_, upper_columns_;
  DeviceBuffer<R> values_, upper_values_;
  DeviceBuffer<Index> sorted_groups_;  ///< those of a class after another
  std::vector<GroupClass> classes_;
};

}  // namespace weft::precondition

// clang-format off
WEFT_DECLARE_ON_DEVICES(
    precondition,
    /* fsai, see gpu.cu. All pointers are of the device. Waits; returns the first group that is not positive definite, or
       -1. */
    template <Value V, Value R>
    Index factor_inverse(Device device, const ::weft::precondition::Systems<V, R>& systems,
                         const std::vector<::weft::precondition::GroupClass>& classes);
    /* to_i = from_(positions_i) */
    template <Value V> void pick(Device device, const V* from, const Offset* positions, Offset count, V* to);)
// clang-format on
