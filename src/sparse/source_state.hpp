#pragma once
#include <weft/source.hpp>
#include <weft/structure.hpp>

#include <array>
#include <optional>

#include "core/timer.hpp"
#include "sparse/device_array.hpp"

namespace weft {

class KeptOffsets;

/// The entries of a matrix on a device, as csr has them; its offsets come in 32 and in 64 bits, see SourceState.
template <Value V>
struct DeviceEntries {
  DeviceArray<Index> columns;
  DeviceArray<V> values;
};

/// The block size of a matrix, see Structure::block_size.
struct BlockFacts {
  int size = 1;
  double fill = 1;
};

/// See the fields of the same names in Structure.
struct SymmetryFacts {
  bool pattern_symmetric = false;
  bool values_symmetric = false;
  bool values_skew = false;
};

/// Lanes of a warp that share a row: 1, 2, 4 ... 32.
constexpr int lane_choices = 6;

/// How products reach for rows and for x, see facts/access.hpp.
struct AccessFacts {
  /// Places for entries where 2^k lanes take a row each and a warp takes as long as its longest row: [0] are also the
  /// entries of slices of 32 rows, padding included. Not counted by quick_access.
  std::array<Offset, lane_choices> slots{};
  /// Sectors of x (32 bytes) per entry: what a warp requests whose lanes take neighbouring entries, and how many
  /// different ones some 16,384 entries want, which is what a first-level cache cannot save.
  double entry_requests = 0, entry_sectors = 0;
  /// The same where each lane takes a row, and of some 2048 rows.
  double row_requests = 0, row_sectors = 0;
  double densest_rows = 0;   ///< entries per row of the 2048 rows that have most
  double packed_bits = 0;    ///< per place of a slice, for columns as bro-sell packs them
  double narrow_slices = 0;  ///< share of slices whose columns span less than 2^16
  double in_runs = 0;        ///< share of the entries in runs of a CPU's slices (facts/runs.hpp); quick_access only
};

/// What a ball of nodes around a row has for neighbours: about what a part of a partition would have.
struct BallFacts {
  double nodes = 0;       ///< of a ball; fewer than wanted where the graph falls apart
  double neighbours = 0;  ///< outside of it; all others, if that is more than can be told
  bool spreads = false;   ///< so many that no partition keeps them together
};

template <Value V>
struct TransposedMatrix {
  Csr<V> matrix;
  Array<Offset> positions;  ///< entry of the transposed matrix -> entry of the matrix
};

/// The largest number of entries whose offsets kernels keep in 32 bits: they look up to 128 entries ahead, which must
/// not wrap around.
constexpr Offset max_entries_of_32_bits = 0xffffffff - 1024;

/// Offsets in 32 bits; the caller has made sure that they fit.
Array<std::uint32_t> narrow_offsets(const Array<Offset>& offsets);

/// What a MatrixSource shares: the matrix where it came from, and what has been made of it since. Each thing is made by
/// the first call that needs it; how long that took is in `times` (upload, facts).
template <Value V>
class SourceState {
 public:
  explicit SourceState(Csr<V> matrix);
  explicit SourceState(HalfCsr<V> half);
  SourceState(const CsrView<V, std::int32_t>& view);
  SourceState(const CsrView<V, Offset>& view);
  SourceState(const DeviceCsr<V, std::int32_t>& matrix);
  SourceState(const DeviceCsr<V, Offset>& matrix);

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Offset nonzeros() const { return nonzeros_; }
  Symmetry symmetry() const { return symmetry_; }  ///< as promised by where it came from
  Device device() const { return device_; }        ///< where it came from

  /// Where facts are found soonest: on a device that has the entries already, else where the matrix came from.
  Device nearest() const { return entries_ ? remote_ : device_; }

  /// Half of a symmetric matrix, where that is what it was made from; null otherwise.
  const HalfCsr<V>* half() const { return half_ ? &*half_ : nullptr; }
  const Csr<V>& host();
  /// rows + 1 offsets on the host, where a format needs no more: a matrix on a device then sends only these.
  const Array<Offset>& host_offsets();
  /// The same in 32 bits, as the caller has them if he has. At most max_entries_of_32_bits entries.
  Array<std::uint32_t> host_offsets32();

  /// `device` is a GPU or the emulator. A matrix that came from another device goes through the host.
  const DeviceEntries<V>& on_device(Device device);
  DeviceArray<Offset> offsets64(Device device);
  DeviceArray<std::uint32_t> offsets32(Device device);  ///< at most max_entries_of_32_bits entries

  const TransposedMatrix<V>& transposed();  ///< on the host

  /// Returns what `slot` holds; before that, once, what `find` returns, whose time counts as facts.
  template <class Fact, class Find>
  const Fact& fact(std::optional<Fact>& slot, Find&& find) {
    if (!slot) {
      const double moved = times.upload;
      const Stopwatch watch;
      slot = find();
      times.facts += watch.seconds() - (times.upload - moved);
    }
    return *slot;
  }
  // Filled by src/facts, see facts/source_facts.hpp.
  std::optional<RowLengths> row_lengths;
  std::optional<BlockFacts> blocks;
  std::optional<SymmetryFacts> symmetry_facts;
  std::optional<Array<Index>> column_use;
  std::optional<AccessFacts> access, quick_access;

  SetupTimes times;  ///< upload and facts

 private:
  friend class KeptOffsets;
  template <OffsetType O>
  void borrow(const DeviceCsr<V, O>& matrix);
  void require_device(Device device);

  Index rows_ = 0;
  Index cols_ = 0;
  Offset nonzeros_ = 0;
  Device device_ = Device::cpu();
  Symmetry symmetry_ = Symmetry::general;
  std::optional<HalfCsr<V>> half_;
  std::optional<Csr<V>> host_;
  Array<Offset> host_offsets_;
  Array<std::uint32_t> callers_offsets32_;  // on the host
  Device remote_ = Device::cpu();           // the device of what follows; the CPU: there is nothing
  std::optional<DeviceEntries<V>> entries_;
  DeviceArray<Offset> offsets64_;
  DeviceArray<std::uint32_t> offsets32_;
  std::optional<TransposedMatrix<V>> transposed_;
};

/// The row offsets that a format keeps to place new values by. From a host matrix they stay on the host, where they
/// cost the device nothing, and are sent when needed; from a matrix on the device they are the caller's there.
class KeptOffsets {
 public:
  KeptOffsets() = default;
  template <Value V>
  KeptOffsets(SourceState<V>& source, Device device);
  DeviceArray<Offset> on_device() const;

 private:
  Device device_;
  Array<Offset> host_;
  DeviceArray<Offset> offsets64_;
  DeviceArray<std::uint32_t> offsets32_;
};

}  // namespace weft
