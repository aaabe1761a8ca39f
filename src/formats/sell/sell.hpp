#pragma once
#include <limits>
#include <span>

#include "formats/column_groups.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"
#include "formats/sorted_rows.hpp"

namespace weft::sell {

struct Tuning;

const Format& format();
std::vector<Prediction> predict(const Outlook& outlook);  ///< see Format

constexpr Index max_slice_rows = 64;  ///< C; kernels have room for the sums of so many rows
constexpr Index gpu_slice_rows = 32;  ///< unless the user gives C: a warp

/// How a matrix is cut, with the papers' letters.
struct Shape {
  Index slice_rows = 32;  ///< C: the rows of a slice, which is as wide as the longest of them
  Index window = 1;       ///< sigma: rows are sorted by length, longest first, in windows of so many; 1: not at all
  Index hubs = 0;         ///< on a CPU: longer rows come first, sorted among themselves; 0: they are rows like others
  int threads = 1;        ///< t: how many follow a row; the widths are multiples of it
  int group = 4;          ///< columns that lie together, see place_in_slice; t where several threads follow a row
  bool runs = false;      ///< on a CPU: entries of neighbouring rows in neighbouring columns go without columns
  /// On a GPU it pays to make slices that are nearly equally wide equally wide: then it is known where one begins.
  bool may_widen = false;
};

/// Where a slice lies. Entry k of row r is at `entry` + place_in_slice(r, k, ...), its column, in as many units of 16
/// bits as it has, at `column` + the same.
struct Slice {
  Offset entry = 0;
  Offset column = 0;
  Index base = 0;  ///< columns are 16 bits, relative to it; negative: they are 32 bits, and absolute
  Index width = 0;
  bool operator==(const Slice&) const = default;
};

/// A matrix in slices. Slot i is row order[i]; slice s holds the slots from s * C on, and the last may have room for
/// more rows than there are: that is padding, as is what follows a row's end. Slices begin at multiples of 8.
template <class V>
struct Storage {
  Shape shape;
  Index rows = 0;
  Array<Index> order;  ///< empty when rows are not sorted
  Array<Slice> slices;
  Array<std::uint16_t> columns;  ///< in units of 16 bits
  Array<V> values;
  bool equally_wide = false;  ///< slice s begins at s * width * C
  Index short_slices = 0;     ///< those with 16-bit columns
};

constexpr Offset slice_alignment = 8;  // entries: 16 bytes of the shortest columns
constexpr Offset round_up(Offset number, Offset multiple) { return (number + multiple - 1) / multiple * multiple; }

/// What decides how slices are laid out: sums over all of them.
struct Census {
  Index widest = 0;
  Index short_slices = 0;
  Offset entries = 0;  ///< with padding
};

/// Whether to make all slices equally wide. That needs columns of one kind and costs padding: 3 % at most.
bool worth_widening(const Shape& shape, const Census& census, Index slices);

/// The row offsets that a shape is chosen by, on the host or on a device.
struct RowsToCut {
  Device device = Device::cpu();  ///< of the offsets
  const Offset* offsets = nullptr;
  Index rows = 0;
  Offset entries = 0;
};

/// Those of a matrix, from where it is: from the device only if it came from there.
template <Value V>
RowsToCut rows_to_cut(const MatrixSource<V>& source, Device device) {
  SourceState<V>& state = source.state();
  if (!device.is_cpu() && source.device() == device)
    return {device, state.offsets64(device).data(), source.rows(), source.nonzeros()};
  return {Device::cpu(), state.host_offsets().data(), source.rows(), source.nonzeros()};
}

/// A window to sort rows in, and what it leaves of padding.
struct Window {
  Index rows = 1;
  double places_per_entry = 1;
};

/// The windows that may be chosen. On a CPU, rows of one window are written by one thread, or by two at the border of
/// their shares: if threads wrote elements of y that are neighbours, its cache lines would travel from core to core. So
/// there are several windows.
std::span<const Index> windows_for(Device device, Index rows);

/// The smallest of these windows that leaves hardly more padding than the best, judged by some stretches of rows. Rows
/// that are longer than `longest` are left out.
Window choose_window(const RowsToCut& matrix, Index slice_rows, std::span<const Index> windows,
                     Offset longest = std::numeric_limits<Offset>::max());

/// Chooses what the user has not given, by the lengths of the rows. Of offsets on a device it fetches some stretches.
template <Value V>
Shape choose_shape(const RowsToCut& rows, const BuildOptions& options);

/// What slices are expected to be; bro-sell's are the same.
struct SlicePrediction {
  std::string against;  ///< see Prediction
  double places = 0;    ///< for entries, padding included
  bool sorted = false;
  int threads = 1;     ///< per row
  double longest = 0;  ///< entries of a thread
};
SlicePrediction predict_slices(const Outlook& outlook);

/// Threads per row: several only where there are too few rows to keep a GPU busy.
int threads_for(Index rows, double mean_row, const Tuning& tuning);

/// What the set-up on a GPU makes, made on the CPU: tests compare the two.
template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options);

/// The parameters that give this shape.
std::map<std::string, std::int64_t> numbers_of(const Shape& shape);

/// "C = 32, sigma = 1, t = 1, 16-bit columns"
std::string describe(const Shape& shape, Index short_slices, Index slices, bool equally_wide);

}  // namespace weft::sell

WEFT_DECLARE_GPU_BUILDER(sell)
// For tests: the set-up on the GPU, copied back.
WEFT_DECLARE_ON_DEVICES(sell, template <Value V>::weft::sell::Storage<V> build_storage(const MatrixSource<V>& source,
                                                                                       const ::weft::sell::Shape& shape,
                                                                                       const BuildOptions& options);)
