#pragma once
#include <cstring>

#include "core/isa.hpp"
#include "formats/sell/sell.hpp"

// How slices are kept for a CPU.
namespace weft::sell {

/// Slices have runs if C is one of these: kernels know it, and masks have a bit per row.
constexpr bool may_have_runs(Index slice_rows) { return slice_rows == 8 || slice_rows == 16 || slice_rows == 32; }

/// Of a mask: bit i says that row i of the slice has an entry.
constexpr Index mask_bytes(Index slice_rows) { return slice_rows / 8; }
inline std::uint32_t load_mask(const std::uint8_t* masks, Index slice_rows, Index number) {
  std::uint32_t mask = 0;
  std::memcpy(&mask, masks + std::ptrdiff_t{number} * mask_bytes(slice_rows), std::size_t(mask_bytes(slice_rows)));
  return mask;
}

/// A slice, or neighbouring slices that lie in memory alike.
///
/// A run is what the rows of a slice have at one distance from the diagonal: row i of the slice has its entry in column
/// distance + (number of the slice's first row) + i, if it has one there. Its columns are not stored, and x is loaded
/// as a vector. A slice begins with its full runs, in which every row has an entry, by ascending distance; then come
/// partial runs, which have a mask, and then columns of entries that are in no run, as in Slice. Each takes C places.
/// Bands of several slices have no padding but in runs, and there an entire run of a slice may be padding.
struct Band {
  Offset entry = 0;    ///< of its first slice
  Offset column = 0;   ///< of its first slice's first entry that is in no run, in units of 16 bits
  Offset mask = 0;     ///< of its first slice's first partial run, in bytes
  Index slice = 0;     ///< the first; its last one is before the next band's
  Index run = 0;       ///< number of its first run
  Index full = 0;      ///< runs
  Index partial = 0;   ///< runs
  Index width = 0;     ///< columns of entries that are in no run
  Index unpadded = 0;  ///< the first so many of these columns have no padding
  Index base = 0;      ///< as in Slice

  Index steps() const { return full + partial + width; }  ///< places of a row
  /// Where the masks of slice s begin.
  Offset mask_of(Index s, Index slice_rows) const {
    return mask + Offset(s - slice) * partial * mask_bytes(slice_rows);
  }
  /// Where the columns of slice s begin.
  Offset column_of(Index s, Index slice_rows) const {
    return column + static_cast<Offset>(s - slice) * width * slice_rows * (base >= 0 ? 1 : 2);
  }
};

/// Where a share of the slices begins; it ends where the next one does.
struct Share {
  Index band = 0, slice = 0;
};

/// A matrix in slices, as in Storage; bands cover all slices, in order, and one more band begins where they end.
template <class V>
struct CpuStorage {
  Shape shape;
  Index rows = 0;
  Array<Index> order;  ///< empty when rows are not sorted; else there are no runs
  Array<Band> bands;
  Array<Index> distances;        ///< per run of a band
  Array<std::uint8_t> masks;     ///< per slice and partial run of its band
  Array<std::uint16_t> columns;  ///< in units of 16 bits
  Array<V> values;
  Array<Share> shares;     ///< of the work, about equal; and one more where the last ends
  Offset in_runs = 0;      ///< entries
  Index short_slices = 0;  ///< those whose columns, if they store any, are of 16 bits

  Index slice_count() const { return bands[bands.size() - 1].slice; }
  std::size_t bytes() const {
    return order.bytes() + bands.bytes() + shares.bytes() + distances.bytes() + masks.bytes() + columns.bytes() +
           values.bytes();
  }
};

/// Chooses what the user has not given. Sorted rows have no runs, so a matrix gets the one or the other.
template <Value V>
Shape choose_cpu_shape(const MatrixSource<V>& source, const BuildOptions& options);

/// The whole set-up, linear and parallel. shape.runs says whether runs are looked for.
template <Value V>
CpuStorage<V> build_cpu_storage(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options);

/// Writes the values, in csr's order, to their places.
template <Value V>
void place_values(CpuStorage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values);

/// What the CPU kernel reads: a CpuStorage.
template <class V>
struct CpuMatrix {
  Index rows = 0;
  Index slice_rows = 0;
  Index share_count = 0;
  const Share* shares = nullptr;
  const Band* bands = nullptr;
  const Index* distances = nullptr;
  const std::uint8_t* masks = nullptr;
  const Index* order = nullptr;  // null: not sorted
  const std::uint16_t* columns = nullptr;
  const V* values = nullptr;
  bool far = false;      // the matrix comes from memory, not from a cache
  bool gathers = false;  // by hardware
};

WEFT_FOR_EACH_ISA(template <class V> void multiply(const CpuMatrix<V>& matrix, const Product<V>& product, int threads);)

}  // namespace weft::sell
