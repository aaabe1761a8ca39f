// Plan: what is checked before a product, and what is given to the operator.
#include <weft/error.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>

#include "core/parallel.hpp"
#include "plan/plan_state.hpp"

namespace weft {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::invalid_argument, sentence); }

[[noreturn]] void wrong_length(const char* what, std::size_t given, std::size_t expected) {
  refuse(std::string(what) + " has " + std::to_string(given) + " elements, but the matrix needs " +
         std::to_string(expected));
}

void require_device(Device given, Device planned, const char* what) {
  if (given == planned) return;
  refuse(std::string(what) + " is on " + given.name() + ", but the plan is for " + planned.name() +
         "; make the plan with .device = that device");
}

/// The vectors of one side of a product.
template <class T>
struct Side {
  T* data;
  std::size_t size;
  std::size_t stride;
  int count;
  Layout layout;
  Device device;
};
template <class T>
Side<T> side(Vectors<T> vectors) {
  return {vectors.data.data(), vectors.data.size(), vectors.stride, vectors.count, vectors.layout, Device::cpu()};
}
template <class T>
Side<T> side(DeviceVectors<T> vectors) {
  return {vectors.data.data(), vectors.data.size(), vectors.stride,
          vectors.count,       vectors.layout,      vectors.data.device()};
}
template <class T>
Side<T> side(VectorView<T> vector) {
  return {vector.data(), vector.size(), vector.size(), 1, Layout::column_major, vector.device()};
}

/// A column-major single vector has exactly `length` elements; others need room for the last vector or row, which has
/// no gap after it.
template <class T>
void require_length(const char* what, const Side<T>& given, std::size_t length) {
  const bool rows = given.layout == Layout::row_major;
  const auto count = static_cast<std::size_t>(given.count);
  std::size_t needed = length;
  if (length > 0 && (rows || count > 1)) {
    needed = rows ? count : length;
    const std::size_t gaps = rows ? length - 1 : count - 1;
    const std::size_t most = std::numeric_limits<std::size_t>::max() - needed;  // an absurd stride must not wrap around
    if (gaps > 0) needed += std::min(given.stride, most / gaps) * gaps;
  }
  if (rows || count > 1 ? given.size < needed : given.size != needed) wrong_length(what, given.size, needed);
}

template <class V>
void require_layout(const Side<const V>& x, std::size_t x_length, const Side<V>& y, std::size_t y_length) {
  if (x.layout != y.layout)
    refuse("one of x and y is row-major and the other column-major; a product takes both in the same layout");
  if (x.layout == Layout::row_major) {
    const auto count = static_cast<std::size_t>(x.count);
    if (x.stride < count || y.stride < count)
      refuse("the stride between rows is less than the number of vectors; row-major vectors need one of at least that");
  } else if (x.count > 1 && (x.stride < x_length || y.stride < y_length)) {
    refuse("the stride between vectors is shorter than a vector");
  }
}

/// Whether any vector of x shares an element with one of y. Interleaved ones that do not are fine.
template <class V>
bool columns_overlap(const Side<const V>& x, std::size_t x_length, const Side<V>& y, std::size_t y_length) {
  const std::less_equal<const V*> not_after;
  for (int i = 0, j = 0; i < x.count && j < y.count;) {
    const V* const x_begin = x.data + static_cast<std::size_t>(i) * x.stride;
    const V* const y_begin = y.data + static_cast<std::size_t>(j) * y.stride;
    if (not_after(x_begin + x_length, y_begin))
      ++i;
    else if (not_after(y_begin + y_length, x_begin))
      ++j;
    else
      return true;
  }
  return false;
}

/// Rows at the same distance from each other, in bytes.
struct Rows {
  std::uintptr_t begin, stride, width;
  std::uintptr_t last;  ///< where the last one begins

  template <class T>
  Rows(const Side<T>& side, std::size_t length)
      : begin(reinterpret_cast<std::uintptr_t>(side.data)),
        stride((length > 1 ? side.stride : static_cast<std::size_t>(side.count)) * sizeof(T)),
        width(static_cast<std::size_t>(side.count) * sizeof(T)),
        last(begin + (length - 1) * stride) {}

  /// Whether one of them shares a byte with `width` bytes from `other` on.
  bool meet(std::uintptr_t other) const {
    const std::uintptr_t before = other <= begin ? begin : std::min(last, other - (other - begin) % stride);
    const auto meets = [&](std::uintptr_t row) { return row < other + width && other < row + width; };
    return meets(before) || (before < last && meets(before + stride));
  }
};

/// The same for row-major blocks, exactly as well. Column ranges of one array have the same stride, for which a few
/// rows decide; else it takes a look at every row, if neither block is before the other.
template <class V>
bool rows_overlap(const Side<const V>& x, std::size_t x_length, const Side<V>& y, std::size_t y_length) {
  const Rows a(x, x_length), b(y, y_length);
  if (a.last + a.width <= b.begin || b.last + b.width <= a.begin) return false;
  if (a.stride == b.stride) return a.begin < b.begin ? a.meet(b.begin) : b.meet(a.begin);
  for (std::uintptr_t row = a.begin; row <= a.last; row += a.stride)
    if (b.meet(row)) return true;
  return false;
}

template <class V>
bool overlap(const Side<const V>& x, std::size_t x_length, const Side<V>& y, std::size_t y_length) {
  if (x_length == 0 || y_length == 0) return false;
  return x.layout == Layout::row_major ? rows_overlap(x, x_length, y, y_length)
                                       : columns_overlap(x, x_length, y, y_length);
}

enum class Way { callers, in_order, transposed };

Way way_of(Op op) { return op == Op::transpose ? Way::transposed : Way::callers; }

template <Value V>
void run(PlanState<V>& plan, Way way, V alpha, const Side<const V>& x, V beta, const Side<V>& y, Stream stream) {
  const PlanInfo& info = plan.info;
  const bool transposed = way == Way::transposed;
  require_device(x.device, info.device, "x");
  require_device(y.device, info.device, "y");
  if (transposed && !plan.transposed)
    refuse("this plan cannot multiply by the transposed matrix; make it with .transpose = true");
  if (way == Way::in_order && !plan.ordered)
    refuse("apply_in_order takes vectors in the order that ordering() returns; call it first");
  const auto in = static_cast<std::size_t>(transposed ? info.rows : info.cols);
  const auto out = static_cast<std::size_t>(transposed ? info.cols : info.rows);
  if (x.count != y.count) refuse("x and y have different numbers of vectors");
  if (x.count < 1) refuse("the number of vectors must be 1 or more");
  require_layout(x, in, y, out);
  require_length("x", x, in);
  require_length("y", y, out);
  if (out == 0) return;
  if (overlap(x, in, y, out)) refuse("x and y overlap; a product needs a y of its own");

  Operator<V>& target = transposed ? *plan.transposed : *plan.forward;
  const Product<V> all{alpha, in == 0 ? nullptr : x.data, x.stride, beta, y.data, y.stride, x.count, x.layout};
  const int together = max_vectors_at_once(info.device, x.layout);
  for (int first = 0; first < x.count; first += together) {
    Product<V> product = all.part(first, std::min(together, x.count - first));
    // A single vector without gaps is the same in both layouts, and kernels for one are faster.
    if (product.count == 1 && product.x_stride == 1 && product.y_stride == 1) product.layout = Layout::column_major;
    if (way == Way::in_order)
      target.apply_in_order(product, stream);
    else
      target.apply(product, stream);
  }
}

}  // namespace

template <Value V>
Plan<V>::Plan(std::unique_ptr<PlanState<V>> state) : state_(std::move(state)) {}
template <Value V>
Plan<V>::Plan(Plan&&) noexcept = default;
template <Value V>
Plan<V>& Plan<V>::operator=(Plan&&) noexcept = default;
template <Value V>
Plan<V>::~Plan() = default;

template <Value V>
PlanState<V>& Plan<V>::state() const {
  if (!state_) refuse("this plan was moved from; use the plan it was moved to");
  return *state_;
}
template <Value V>
const PlanInfo& Plan<V>::info() const {
  return state().info;
}

template <Value V>
void Plan<V>::apply(Op op, V alpha, std::span<const V> x, V beta, std::span<V> y) const {
  run(state(), way_of(op), alpha, side(VectorView<const V>(x)), beta, side(VectorView<V>(y)), {});
}
template <Value V>
void Plan<V>::apply(Op op, V alpha, Vectors<const V> x, V beta, Vectors<V> y) const {
  run(state(), way_of(op), alpha, side(x), beta, side(y), {});
}
template <Value V>
void Plan<V>::apply(Op op, V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream) const {
  run(state(), way_of(op), alpha, side(VectorView<const V>(x)), beta, side(VectorView<V>(y)), stream);
}
template <Value V>
void Plan<V>::apply(Op op, V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream) const {
  run(state(), way_of(op), alpha, side(x), beta, side(y), stream);
}
template <Value V>
void Plan<V>::apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const {
  run(state(), Way::callers, alpha, side(x), beta, side(y), stream);
}

template <Value V>
void Plan<V>::apply(Op op, V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const {
  run(state(), way_of(op), alpha, side(x), beta, side(y), stream);
}

template <Value V>
Order Plan<V>::ordering() {
  PlanState<V>& plan = state();
  Order order = plan.forward->ordering();
  synchronize(plan.info.device);
  plan.ordered = true;
  return order;
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, std::span<const V> x, V beta, std::span<V> y) const {
  run(state(), Way::in_order, alpha, side(VectorView<const V>(x)), beta, side(VectorView<V>(y)), {});
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, Vectors<const V> x, V beta, Vectors<V> y) const {
  run(state(), Way::in_order, alpha, side(x), beta, side(y), {});
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream) const {
  run(state(), Way::in_order, alpha, side(VectorView<const V>(x)), beta, side(VectorView<V>(y)), stream);
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream) const {
  run(state(), Way::in_order, alpha, side(x), beta, side(y), stream);
}

template <Value V>
void Plan<V>::update_values(std::span<const V> csr_values) {
  PlanState<V>& plan = state();
  if (csr_values.size() != static_cast<std::size_t>(plan.info.nonzeros))
    wrong_length("the array of new values", csr_values.size(), static_cast<std::size_t>(plan.info.nonzeros));
  plan.forward->update_values(csr_values);
  if (!plan.transposed) return;
  Array<V> reordered(csr_values.size());
  parallel_for(static_cast<std::int64_t>(reordered.size()), 1 << 15,
               [&](std::int64_t i) { reordered[i] = csr_values[plan.positions[i]]; });
  plan.transposed->update_values(std::span<const V>(reordered));
}

template <Value V>
void Plan<V>::update_values(DeviceSpan<const V> csr_values) {
  PlanState<V>& plan = state();
  require_device(csr_values.device(), plan.info.device, "the array of new values");
  if (csr_values.size() != static_cast<std::size_t>(plan.info.nonzeros))
    wrong_length("the array of new values", csr_values.size(), static_cast<std::size_t>(plan.info.nonzeros));
  if (!plan.transposed) return plan.forward->update_values(csr_values);
  Array<V> host(csr_values.size());  // the transposed matrix's are reordered there
  detail::copy_to_host(csr_values.device(), host.data(), csr_values.data(), host.bytes(), {});
  update_values(std::span<const V>(host));
}

#define WEFT_INSTANTIATE(V) template class Plan<V>;
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
