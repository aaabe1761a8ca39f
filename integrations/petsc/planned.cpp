#include "planned.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <iterator>
#include <limits>
#include <type_traits>

namespace weft::petsc {
namespace {

using Scalar = PetscScalar;

// Dense columns are put side by side, so that one pass over the matrix serves several. Fewer are not worth the copies.
constexpr std::size_t min_together = 3, max_together = 8;

/// With 64-bit PetscInt the rows and columns of one rank must still fit Weft's 32 bits; nonzeros need not.
Index local(PetscInt count, const char* what) {
  if (static_cast<std::int64_t>(count) > std::numeric_limits<Index>::max())
    throw Error(ErrorCode::unsupported,
                "this rank has " + std::to_string(count) + " " + what + ", more than 2^31 - 1: use more ranks");
  return static_cast<Index>(count);
}

using WeftOffset = std::conditional_t<sizeof(PetscInt) == 4, std::int32_t, Offset>;

/// PETSc may call its 64-bit integer `long long` where Weft's is `long`.
std::span<const WeftOffset> as_offsets(const PetscInt* offsets, std::size_t count) {
  static_assert(sizeof(WeftOffset) == sizeof(PetscInt));
  return {reinterpret_cast<const WeftOffset*>(offsets), count};
}

/// PETSc's own columns, or the copy that was made of 64-bit ones.
template <class Int>
std::span<const Index> as_columns(const Int* columns, std::size_t count, const std::vector<Index>& narrow) {
  if constexpr (sizeof(Int) == sizeof(Index))
    return {columns, count};
  else
    return narrow;
}

}  // namespace

PlannedMatrix::PlannedMatrix(const AijArrays& arrays, const Request& request) : arrays_(arrays), request_(request) {
  local(arrays.rows, "rows");
  local(arrays.cols, "columns");
  if constexpr (sizeof(PetscInt) != sizeof(Index))
    std::transform(arrays.columns, arrays.columns + arrays.nonzeros(), std::back_inserter(narrow_columns_),
                   [](PetscInt column) { return static_cast<Index>(column); });
  keep_filled_rows();
  plan_ = std::make_unique<Plan<Scalar>>(make_plan(
      {.device = Device::cpu(), .format = request.format, .products = request.products, .transpose = request.transpose},
      Rows::planned));
}

void PlannedMatrix::keep_filled_rows() {
  const auto has_entries = [&](PetscInt row) { return arrays_.offsets[row] < arrays_.offsets[row + 1]; };
  PetscInt filled = 0;
  for (PetscInt row = 0; row < arrays_.rows; ++row) filled += has_entries(row) ? 1 : 0;
  if (filled > arrays_.rows / 2) return;
  filled_rows_.reserve(static_cast<std::size_t>(filled));
  filled_offsets_.reserve(static_cast<std::size_t>(filled) + 1);
  filled_offsets_.push_back(0);
  for (PetscInt row = 0; row < arrays_.rows; ++row) {
    if (!has_entries(row)) continue;
    filled_rows_.push_back(row);
    filled_offsets_.push_back(arrays_.offsets[row + 1]);
  }
  filled_.resize(filled_rows_.size());
}

std::int64_t PlannedMatrix::planned_rows() const {
  return filled_offsets_.empty() ? arrays_.rows : static_cast<std::int64_t>(filled_rows_.size());
}

std::span<const Scalar> PlannedMatrix::values() const {
  return {arrays_.values, static_cast<std::size_t>(arrays_.nonzeros())};
}

Plan<Scalar> PlannedMatrix::make_plan(const PlanOptions& options, Rows which) const {
  const bool all = which == Rows::all || filled_offsets_.empty();
  const auto rows = static_cast<std::size_t>(all ? arrays_.rows : planned_rows());
  const auto nonzeros = static_cast<std::size_t>(arrays_.nonzeros());
  const auto offsets = as_offsets(all ? arrays_.offsets : filled_offsets_.data(), rows + 1);
  const std::span<const Index> columns = as_columns(arrays_.columns, nonzeros, narrow_columns_);
  return plan(csr_view(static_cast<Index>(rows), static_cast<Index>(arrays_.cols), offsets, columns, values()),
              options);
}

void PlannedMatrix::multiply(const Scalar* x, Scalar* y, bool add) {
  const std::span<const Scalar> in(x, static_cast<std::size_t>(arrays_.cols));
  const std::span<Scalar> out(y, static_cast<std::size_t>(arrays_.rows));
  if (filled_offsets_.empty()) return plan_->apply(1, in, add ? 1 : 0, out);
  plan_->apply(in, filled_);
  if (!add) std::ranges::fill(out, Scalar(0));
  for (std::size_t i = 0; i < filled_.size(); ++i) out[static_cast<std::size_t>(filled_rows_[i])] += filled_[i];
}

void PlannedMatrix::multiply_transposed(const Scalar* x, Scalar* y, bool add) {
  const std::span<const Scalar> in(x, static_cast<std::size_t>(arrays_.rows));
  const std::span<Scalar> out(y, static_cast<std::size_t>(arrays_.cols));
  if (filled_offsets_.empty()) return plan_->apply(Op::transpose, 1, in, add ? 1 : 0, out);
  for (std::size_t i = 0; i < filled_.size(); ++i) filled_[i] = in[static_cast<std::size_t>(filled_rows_[i])];
  plan_->apply(Op::transpose, 1, std::span<const Scalar>(filled_), add ? 1 : 0, out);
}

void PlannedMatrix::multiply_several(Columns<const Scalar> x, Columns<Scalar> y) {
  const auto columns = static_cast<std::size_t>(x.count);
  for (std::size_t first = 0; first < columns;) {
    const Columns<const Scalar> in{x.data + first * x.stride, 1, x.stride};
    const Columns<Scalar> out{y.data + first * y.stride, 1, y.stride};
    std::size_t count = std::min(columns - first, max_together);
    if (count < min_together || !filled_offsets_.empty()) {
      count = 1;
      multiply(in.data, out.data, false);
    } else {
      multiply_together(static_cast<int>(count), in, out);
    }
    first += count;
  }
}

void PlannedMatrix::multiply_together(int count, Columns<const Scalar> x, Columns<Scalar> y) {
  const auto rows = static_cast<std::size_t>(arrays_.rows), cols = static_cast<std::size_t>(arrays_.cols);
  const auto together = static_cast<std::size_t>(count);
  packed_x_.resize(cols * together);
  packed_y_.resize(rows * together);
  for (std::size_t i = 0; i < cols; ++i)
    for (std::size_t j = 0; j < together; ++j) packed_x_[i * together + j] = x.data[i + j * x.stride];
  plan_->apply(Op::none, 1, Vectors<const Scalar>{packed_x_, count, together, Layout::row_major}, 0,
               Vectors<Scalar>{packed_y_, count, together, Layout::row_major});
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < together; ++j) y.data[i + j * y.stride] = packed_y_[i * together + j];
}

void PlannedMatrix::multiply_on_gpu(int device, const Scalar* x, Scalar* y, bool add) {
  const Device gpu = Device::gpu(device);
  if (!gpu_plan_ || gpu_plan_->device() != gpu) {
    // Of all rows: to scatter those with entries would need a kernel of our own.
    gpu_plan_ = std::make_unique<Plan<Scalar>>(make_plan({.device = gpu, .products = request_.products}, Rows::all));
  }
  gpu_plan_->apply(1, DeviceSpan<const Scalar>(x, static_cast<std::size_t>(arrays_.cols), gpu), add ? 1 : 0,
                   DeviceSpan<Scalar>(y, static_cast<std::size_t>(arrays_.rows), gpu));
  synchronize(gpu);
}

void PlannedMatrix::update(const Scalar* new_values) {
  arrays_.values = new_values;
  plan_->update_values(values());
  if (gpu_plan_) gpu_plan_->update_values(values());
}

bool PlannedMatrix::borrows_values() const {
  return plan_->info().format.starts_with("csr") && plan_->info().ordering == Ordering::none && !request_.transpose;
}

}  // namespace weft::petsc
