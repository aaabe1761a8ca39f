#include <weft/error.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "formats/operator.hpp"

namespace weft {
namespace {

[[noreturn]] void wrong_length(const char* what, std::size_t given, std::size_t expected) {
  throw Error(ErrorCode::invalid_argument, std::string(what) + " has " + std::to_string(given) +
                                               " elements, but the matrix needs " + std::to_string(expected));
}

void require_device(Device given, Device planned, const char* what) {
  if (given == planned) return;
  throw Error(ErrorCode::invalid_argument, std::string(what) + " is on " + given.name() + ", but the plan is for " +
                                               planned.name() + "; make the plan with .device = that device");
}

/// A single vector has exactly `length` elements; several need room for the last one, which has no gap behind it.
void require_length(const char* what, std::size_t given, std::size_t length, int count, std::size_t stride) {
  std::size_t needed = length;
  if (count > 1 && length > 0) {
    const auto gaps = static_cast<std::size_t>(count - 1);
    const std::size_t most =
        std::numeric_limits<std::size_t>::max() - length;  // so that a mad stride cannot wrap around
    needed += std::min(stride, most / gaps) * gaps;
  }
  if (count == 1 ? given != needed : given < needed) wrong_length(what, given, needed);
}

}  // namespace

template <Value V>
Plan<V>::Plan(std::unique_ptr<Operator<V>> forward, std::unique_ptr<Operator<V>> transposed, Array<Offset> positions,
              PlanInfo info)
    : forward_(std::move(forward)),
      transposed_(std::move(transposed)),
      positions_(std::move(positions)),
      info_(std::move(info)) {}

template <Value V>
Plan<V>::Plan(Plan&&) noexcept = default;
template <Value V>
Plan<V>& Plan<V>::operator=(Plan&&) noexcept = default;
template <Value V>
Plan<V>::~Plan() = default;

template <Value V>
void Plan<V>::run(Way way, V alpha, const V* x, std::size_t x_size, std::size_t x_stride, V beta, V* y,
                  std::size_t y_size, std::size_t y_stride, int count, Stream stream) {
  const bool transposed = way == Way::transposed;
  if (transposed && !transposed_)
    throw Error(ErrorCode::invalid_argument,
                "this plan cannot multiply by the transposed matrix; make it with .transpose = true");
  if (way == Way::in_order && !ordered_)
    throw Error(ErrorCode::invalid_argument,
                "apply_in_order takes vectors in the order that ordering() tells: ask first");
  const auto in = static_cast<std::size_t>(transposed ? info_.rows : info_.cols);
  const auto out = static_cast<std::size_t>(transposed ? info_.cols : info_.rows);
  if (count < 1) throw Error(ErrorCode::invalid_argument, "the number of vectors must be 1 or more");
  if (count > 1 && (x_stride < in || y_stride < out))
    throw Error(ErrorCode::invalid_argument, "the stride between vectors is shorter than a vector");
  require_length("x", x_size, in, count, x_stride);
  require_length("y", y_size, out, count, y_stride);
  if (out == 0) return;

  Operator<V>& target = transposed ? *transposed_ : *forward_;
  for (int first = 0; first < count; first += max_vectors) {
    const auto j = static_cast<std::size_t>(first);
    const Product<V> product{alpha,    in == 0 ? x : x + j * x_stride,      x_stride, beta, y + j * y_stride,
                             y_stride, std::min(max_vectors, count - first)};
    if (way == Way::in_order)
      target.apply_in_order(product, stream);
    else
      target.apply(product, stream);
  }
}

template <Value V>
void Plan<V>::run(Way way, V alpha, Vectors<const V> x, V beta, Vectors<V> y) {
  require_device(Device::cpu(), info_.device, "x");
  if (x.count != y.count) throw Error(ErrorCode::invalid_argument, "x and y have different numbers of vectors");
  run(way, alpha, x.data.data(), x.data.size(), x.stride, beta, y.data.data(), y.data.size(), y.stride, x.count, {});
}

template <Value V>
void Plan<V>::run(Way way, V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream) {
  require_device(x.data.device(), info_.device, "x");
  require_device(y.data.device(), info_.device, "y");
  if (x.count != y.count) throw Error(ErrorCode::invalid_argument, "x and y have different numbers of vectors");
  run(way, alpha, x.data.data(), x.data.size(), x.stride, beta, y.data.data(), y.data.size(), y.stride, x.count,
      stream);
}

template <Value V>
void Plan<V>::apply(Op op, V alpha, std::span<const V> x, V beta, std::span<V> y) {
  apply(op, alpha, Vectors<const V>{x, 1, x.size()}, beta, Vectors<V>{y, 1, y.size()});
}
template <Value V>
void Plan<V>::apply(Op op, V alpha, Vectors<const V> x, V beta, Vectors<V> y) {
  run(op == Op::transpose ? Way::transposed : Way::callers, alpha, x, beta, y);
}
template <Value V>
void Plan<V>::apply(Op op, V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream) {
  apply(op, alpha, DeviceVectors<const V>{x, 1, x.size()}, beta, DeviceVectors<V>{y, 1, y.size()}, stream);
}
template <Value V>
void Plan<V>::apply(Op op, V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream) {
  run(op == Op::transpose ? Way::transposed : Way::callers, alpha, x, beta, y, stream);
}

template <Value V>
Order Plan<V>::ordering() {
  Order order = forward_->ordering();
  synchronize(info_.device);
  ordered_ = true;
  return order;
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, std::span<const V> x, V beta, std::span<V> y) {
  apply_in_order(alpha, Vectors<const V>{x, 1, x.size()}, beta, Vectors<V>{y, 1, y.size()});
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, Vectors<const V> x, V beta, Vectors<V> y) {
  run(Way::in_order, alpha, x, beta, y);
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream) {
  apply_in_order(alpha, DeviceVectors<const V>{x, 1, x.size()}, beta, DeviceVectors<V>{y, 1, y.size()}, stream);
}
template <Value V>
void Plan<V>::apply_in_order(V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream) {
  run(Way::in_order, alpha, x, beta, y, stream);
}

template <Value V>
void Plan<V>::update_values(std::span<const V> csr_values) {
  if (csr_values.size() != static_cast<std::size_t>(info_.nonzeros))
    wrong_length("the array of new values", csr_values.size(), static_cast<std::size_t>(info_.nonzeros));
  forward_->update_values(csr_values);
  if (!transposed_) return;
  Array<V> reordered(csr_values.size());
  parallel_for(static_cast<std::int64_t>(reordered.size()), 1 << 15,
               [&](std::int64_t i) { reordered[i] = csr_values[positions_[i]]; });
  transposed_->update_values(reordered);
}

#define WEFT_INSTANTIATE(V) template class Plan<V>;
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
