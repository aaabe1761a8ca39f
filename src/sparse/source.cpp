#include <weft/error.hpp>
#include <weft/source.hpp>

#include <atomic>
#include <limits>

#include "core/parallel.hpp"
#include "sparse/source_kernels.hpp"
#include "sparse/source_state.hpp"

namespace weft {
namespace {

constexpr std::int64_t grain = 1 << 16;

/// A caller's elements as an Array that does not own them. Nobody writes through it: formats copy before they change.
template <class T>
Array<T> borrowed(std::span<const T> elements) {
  return Array<T>(nullptr, const_cast<T*>(elements.data()), elements.size());
}

Array<Offset> widened(std::span<const std::int32_t> offsets) {
  Array<Offset> wide(offsets.size());
  parallel_for(static_cast<std::int64_t>(offsets.size()), grain, [&](std::int64_t i) { wide[i] = offsets[i]; });
  return wide;
}
Array<Offset> as_offsets(std::span<const std::int32_t> offsets) { return widened(offsets); }
Array<Offset> as_offsets(std::span<const Offset> offsets) { return borrowed(offsets); }

template <Value V, OffsetType O>
Csr<V> as_csr(const CsrView<V, O>& view) {
  Csr<V> matrix;
  matrix.rows = view.rows;
  matrix.cols = view.cols;
  matrix.offsets = as_offsets(view.offsets);
  matrix.columns = borrowed(view.columns);
  matrix.values = borrowed(view.values);
  return matrix;
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_argument, "a matrix on a device: " + sentence);
}

template <Value V, OffsetType O>
void require_consistent(const DeviceCsr<V, O>& matrix) {
  const auto require_size = [](const char* what, std::size_t given, std::size_t expected) {
    if (given != expected)
      refuse(std::string(what) + " has " + std::to_string(given) + " elements where " + std::to_string(expected) +
             " belong");
  };
  const auto require_same = [&](const char* what, Device given) {
    if (given != matrix.values.device())
      refuse(std::string(what) + " is on " + given.name() + ", but the values are on " + matrix.values.device().name());
  };
  if (matrix.rows < 0 || matrix.cols < 0) refuse("it cannot have fewer than 0 rows or columns");
  if (matrix.values.size() > static_cast<std::size_t>(std::numeric_limits<O>::max()))
    refuse("32-bit offsets are too narrow for " + std::to_string(matrix.values.size()) + " values");
  require_size("the array of offsets", matrix.offsets.size(), static_cast<std::size_t>(matrix.rows) + 1);
  require_size("the array of columns", matrix.columns.size(), matrix.values.size());
  require_same("the array of offsets", matrix.offsets.device());
  require_same("the array of columns", matrix.columns.device());
  if (matrix.values.device().is_cpu()) refuse("its arrays are on the CPU; use csr_view for them");
  require_usable(matrix.values.device());
}

}  // namespace

void detail::refuse_view(const std::string& reason) {
  throw Error(ErrorCode::invalid_matrix, "csr_view: " + reason + "; make_csr sorts rows and sums duplicates");
}

template <Value V, OffsetType O>
std::string check(const CsrView<V, O>& view) {
  if (view.rows < 0 || view.cols < 0) return "a matrix cannot have fewer than 0 rows or columns";
  if (view.offsets.size() != static_cast<std::size_t>(view.rows) + 1)
    return "there are " + std::to_string(view.offsets.size()) + " row offsets for " + std::to_string(view.rows) +
           " rows; there must be one more than rows";
  return check(as_csr(view));
}

Array<std::uint32_t> narrow_offsets(const Array<Offset>& offsets) {
  Array<std::uint32_t> narrow(offsets.size());
  parallel_for(static_cast<std::int64_t>(offsets.size()), grain,
               [&](std::int64_t i) { narrow[i] = static_cast<std::uint32_t>(offsets[i]); });
  return narrow;
}

template <Value V>
SourceState<V>::SourceState(Csr<V> matrix)
    : rows_(matrix.rows),
      cols_(matrix.cols),
      nonzeros_(matrix.nonzeros()),
      symmetry_(matrix.symmetry),
      host_(std::move(matrix)) {}

template <Value V>
SourceState<V>::SourceState(HalfCsr<V> half)
    : rows_(half.lower.rows), cols_(half.lower.cols), symmetry_(half.symmetry), half_(std::move(half)) {
  // A row of the lower half ends with its diagonal entry, if it has one.
  const Csr<V>& lower = half_->lower;
  std::atomic<Offset> diagonal{0};
  parallel_ranges(rows_, grain, [&](std::int64_t begin, std::int64_t end) {
    Offset found = 0;
    for (std::int64_t row = begin; row < end; ++row)
      found += lower.offsets[row] < lower.offsets[row + 1] && lower.columns[lower.offsets[row + 1] - 1] == row;
    diagonal += found;
  });
  nonzeros_ = 2 * lower.nonzeros() - diagonal;
}

template <Value V>
SourceState<V>::SourceState(const CsrView<V, std::int32_t>& view) : SourceState(as_csr(view)) {
  // Offsets are not negative, so that their bits mean the same without a sign.
  callers_offsets32_ =
      borrowed(std::span(reinterpret_cast<const std::uint32_t*>(view.offsets.data()), view.offsets.size()));
}
template <Value V>
SourceState<V>::SourceState(const CsrView<V, Offset>& view) : SourceState(as_csr(view)) {}

template <Value V>
SourceState<V>::SourceState(const DeviceCsr<V, std::int32_t>& matrix) {
  borrow(matrix);
}
template <Value V>
SourceState<V>::SourceState(const DeviceCsr<V, Offset>& matrix) {
  borrow(matrix);
}

template <Value V>
template <OffsetType O>
void SourceState<V>::borrow(const DeviceCsr<V, O>& matrix) {
  require_consistent(matrix);
  rows_ = matrix.rows;
  cols_ = matrix.cols;
  nonzeros_ = static_cast<Offset>(matrix.values.size());
  device_ = remote_ = matrix.values.device();
  entries_ = DeviceEntries<V>{DeviceArray<Index>(matrix.columns), DeviceArray<V>(matrix.values)};
  if constexpr (std::same_as<O, Offset>)
    offsets64_ = DeviceArray<Offset>(matrix.offsets);
  else
    offsets32_ = DeviceArray<std::uint32_t>(DeviceSpan<const std::uint32_t>(
        reinterpret_cast<const std::uint32_t*>(matrix.offsets.data()), matrix.offsets.size(), device_));
  const Stopwatch watch;
  const std::string reason = WEFT_ON_DEVICE(device_, source::check)(
      {device_, rows_, cols_, nonzeros_, offsets64_.data(), offsets32_.data(), entries_->columns.data()});
  times.facts += watch.seconds();
  if (!reason.empty())
    throw Error(ErrorCode::invalid_matrix,
                "the arrays on " + device_.name() + " are not a canonical matrix: " + reason);
}

template <Value V>
const Csr<V>& SourceState<V>::host() {
  if (host_) return *host_;
  if (half_) {
    host_ = whole(*half_);
    return *host_;
  }
  if (!entries_) throw Error(ErrorCode::internal, "a matrix source without a matrix");
  host_offsets();
  const Stopwatch watch;
  Csr<V> matrix;
  matrix.rows = rows_;
  matrix.cols = cols_;
  matrix.offsets = host_offsets_;
  matrix.columns = Array<Index>(entries_->columns.size());
  matrix.values = Array<V>(entries_->values.size());
  detail::copy_to_host(remote_, matrix.columns.data(), entries_->columns.data(), matrix.columns.bytes(), {});
  detail::copy_to_host(remote_, matrix.values.data(), entries_->values.data(), matrix.values.bytes(), {});
  times.upload += watch.seconds();
  host_ = std::move(matrix);
  return *host_;
}

template <Value V>
const Array<Offset>& SourceState<V>::host_offsets() {
  if (host_ || half_) return host().offsets;
  if (!host_offsets_.empty()) return host_offsets_;
  const Stopwatch watch;
  const auto count = static_cast<std::size_t>(rows_) + 1;
  if (offsets64_.is_set()) {
    host_offsets_ = Array<Offset>(count);
    detail::copy_to_host(remote_, host_offsets_.data(), offsets64_.data(), host_offsets_.bytes(), {});
  } else {
    Array<std::int32_t> narrow(count);
    detail::copy_to_host(remote_, narrow.data(), offsets32_.data(), narrow.bytes(), {});
    host_offsets_ = widened(narrow);
  }
  times.upload += watch.seconds();
  return host_offsets_;
}

template <Value V>
Array<std::uint32_t> SourceState<V>::host_offsets32() {
  return callers_offsets32_.empty() ? narrow_offsets(host_offsets()) : callers_offsets32_;
}

template <Value V>
void SourceState<V>::require_device(Device device) {
  if (remote_ == device) return;
  require_usable(device);
  host();  // before what is elsewhere goes
  entries_.reset();
  offsets64_ = {};
  offsets32_ = {};
  remote_ = device;
}

template <Value V>
const DeviceEntries<V>& SourceState<V>::on_device(Device device) {
  require_device(device);
  if (entries_) return *entries_;
  const Csr<V>& matrix = host();
  const Stopwatch watch;
  entries_ = DeviceEntries<V>{DeviceBuffer<Index>(device, matrix.columns), DeviceBuffer<V>(device, matrix.values)};
  times.upload += watch.seconds();
  return *entries_;
}

template <Value V>
DeviceArray<Offset> SourceState<V>::offsets64(Device device) {
  require_device(device);
  if (offsets64_.is_set()) return offsets64_;
  const Stopwatch watch;
  if (offsets32_.is_set())
    offsets64_ = WEFT_ON_DEVICE(device, source::widen)(device, offsets32_.data(), offsets32_.size());
  else
    offsets64_ = DeviceBuffer<Offset>(device, host().offsets);
  times.upload += watch.seconds();
  return offsets64_;
}

template <Value V>
DeviceArray<std::uint32_t> SourceState<V>::offsets32(Device device) {
  require_device(device);
  if (offsets32_.is_set()) return offsets32_;
  const Stopwatch watch;
  if (offsets64_.is_set())
    offsets32_ = WEFT_ON_DEVICE(device, source::narrow)(device, offsets64_.data(), offsets64_.size());
  else
    offsets32_ = DeviceBuffer<std::uint32_t>(device, host_offsets32());
  times.upload += watch.seconds();
  return offsets32_;
}

template <Value V>
const TransposedMatrix<V>& SourceState<V>::transposed() {
  if (!transposed_) {
    TransposedMatrix<V> made;
    made.matrix = transpose(host(), &made.positions);
    transposed_ = std::move(made);
  }
  return *transposed_;
}

template <Value V>
KeptOffsets::KeptOffsets(SourceState<V>& source, Device device) : device_(device) {
  const bool on_device = source.remote_ == device;
  if (on_device && source.offsets32_.is_borrowed())
    offsets32_ = source.offsets32_;
  else if (on_device && source.offsets64_.is_borrowed())
    offsets64_ = source.offsets64_;
  else
    host_ = source.host().offsets;
}

DeviceArray<Offset> KeptOffsets::on_device() const {
  if (offsets64_.is_set()) return offsets64_;
  if (offsets32_.is_set()) return WEFT_ON_DEVICE(device_, source::widen)(device_, offsets32_.data(), offsets32_.size());
  return DeviceBuffer<Offset>(device_, host_);
}

template <Value V>
MatrixSource<V>::MatrixSource(const Csr<V>& matrix) : state_(std::make_shared<SourceState<V>>(matrix)) {}
template <Value V>
MatrixSource<V>::MatrixSource(const HalfCsr<V>& half) : state_(std::make_shared<SourceState<V>>(half)) {}
template <Value V>
template <OffsetType O>
MatrixSource<V>::MatrixSource(const CsrView<V, O>& view) : state_(std::make_shared<SourceState<V>>(view)) {}
template <Value V>
template <OffsetType O>
MatrixSource<V>::MatrixSource(const DeviceCsr<V, O>& matrix) : state_(std::make_shared<SourceState<V>>(matrix)) {}

template <Value V>
Index MatrixSource<V>::rows() const {
  return state_->rows();
}
template <Value V>
Index MatrixSource<V>::cols() const {
  return state_->cols();
}
template <Value V>
Offset MatrixSource<V>::nonzeros() const {
  return state_->nonzeros();
}
template <Value V>
Symmetry MatrixSource<V>::symmetry() const {
  return state_->symmetry();
}
template <Value V>
Device MatrixSource<V>::device() const {
  return state_->device();
}
template <Value V>
const Csr<V>& MatrixSource<V>::host() const {
  return state_->host();
}

#define WEFT_INSTANTIATE(V)                                                  \
  template std::string check(const CsrView<V, std::int32_t>&);               \
  template std::string check(const CsrView<V, Offset>&);                     \
  template class SourceState<V>;                                             \
  template class MatrixSource<V>;                                            \
  template MatrixSource<V>::MatrixSource(const CsrView<V, std::int32_t>&);   \
  template MatrixSource<V>::MatrixSource(const CsrView<V, Offset>&);         \
  template MatrixSource<V>::MatrixSource(const DeviceCsr<V, std::int32_t>&); \
  template MatrixSource<V>::MatrixSource(const DeviceCsr<V, Offset>&);       \
  template KeptOffsets::KeptOffsets(SourceState<V>&, Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
