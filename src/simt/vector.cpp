#include <weft/vector.hpp>

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "core/parallel.hpp"
#include "simt/vector_kernels.hpp"

namespace weft {
namespace {

constexpr std::int64_t chunk = 1 << 14;  // elements, for one thread at a time

template <class T>
std::int64_t count_of(const VectorView<T>& x) {
  return static_cast<std::int64_t>(x.size());
}

template <class V>
void require_same_size(const char* operation, VectorView<const V> x, VectorView<const V> y) {
  if (x.size() != y.size())
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": one vector has " + std::to_string(x.size()) +
                                                 " elements, the other " + std::to_string(y.size()));
}

template <class V>
void require_alike(const char* operation, VectorView<const V> x, VectorView<const V> y) {
  require_same_size(operation, x, y);
  if (x.device() != y.device())
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": one vector is on " + x.device().name() +
                                                 ", the other on " + y.device().name());
}

/// The sum of term(i) for i in 0..count. Which terms are added in which order depends on the count only.
template <class Sum, class Term>
Sum sum_of(std::int64_t count, Term&& term) {
  constexpr int lanes = 8;  // sums side by side, for vector instructions
  static_assert(chunk % lanes == 0);
  std::vector<Sum> parts(static_cast<std::size_t>((count + chunk - 1) / chunk));
  parallel_ranges(count, chunk, [&](std::int64_t begin, std::int64_t end) {
    Sum sums[lanes] = {};
    std::int64_t i = begin;
    for (; i + lanes <= end; i += lanes)
      for (int lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
    for (; i < end; ++i) sums[i % lanes] += term(i);
    Sum sum{};
    for (const Sum& lane : sums) sum += lane;
    parts[static_cast<std::size_t>(begin / chunk)] = sum;
  });
  Sum total{};
  for (const Sum& part : parts) total += part;
  return total;
}

/// Where dot on a device keeps its partial sums. A thread keeps it from call to call, since allocating would take
/// longer than the sum; one is enough, since each call waits for its result.
double* dot_scratch(Device device) {
  thread_local DeviceBuffer<double> scratch;
  if (scratch.size() == 0 || scratch.device() != device)
    scratch = DeviceBuffer<double>(device, static_cast<std::size_t>(max_dot_parts) + 1);
  return scratch.data();
}

template <class V>
typename ValueTraits<V>::Wide term_of(const V& x, const V& y) {
  using Wide = typename ValueTraits<V>::Wide;
  if constexpr (std::is_floating_point_v<V>)
    return static_cast<Wide>(x) * static_cast<Wide>(y);
  else
    return std::conj(static_cast<Wide>(x)) * static_cast<Wide>(y);
}

}  // namespace

template <Value V>
void fill(VectorView<V> x, std::type_identity_t<V> value, Stream stream) {
  if (!x.device().is_cpu())
    return WEFT_ON_DEVICE(x.device(), vectors::fill<V>)(x.device(), count_of(x), value, x.data(), stream);
  parallel_for(count_of(x), chunk, [to = x.data(), value](std::int64_t i) { to[i] = value; });
}

template <Value V>
void copy(VectorView<const V> from, VectorView<std::type_identity_t<V>> to, Stream stream) {
  require_same_size<V>("copy", from, to);
  if (from.size() == 0) return;
  const std::size_t bytes = from.size() * sizeof(V);
  if (to.device() == from.device()) {
    if (to.data() == from.data()) return;
    if (to.device().is_cpu())
      detail::copy_on_host(to.data(), from.data(), bytes);
    else
      detail::copy_on_device(to.device(), to.data(), from.data(), bytes, stream);
  } else if (to.device().is_cpu()) {
    detail::copy_to_host(from.device(), to.data(), from.data(), bytes, stream);
  } else if (from.device().is_cpu()) {
    detail::copy_to_device(to.device(), to.data(), from.data(), bytes, stream);
    synchronize(to.device(), stream);
  } else {
    Array<V> between(from.size());
    detail::copy_to_host(from.device(), between.data(), from.data(), bytes, stream);
    detail::copy_to_device(to.device(), to.data(), between.data(), bytes, {});
    synchronize(to.device());
  }
}

template <Value V>
void axpy(std::type_identity_t<V> alpha, VectorView<const V> x, VectorView<std::type_identity_t<V>> y, Stream stream) {
  require_alike<V>("axpy", x, y);
  if (!x.device().is_cpu())
    return WEFT_ON_DEVICE(x.device(), vectors::axpy<V>)(x.device(), count_of(x), alpha, x.data(), y.data(), stream);
  parallel_for(count_of(x), chunk, [alpha, x = x.data(), y = y.data()](std::int64_t i) { y[i] = alpha * x[i] + y[i]; });
}

template <Value V>
void xpby(VectorView<const V> x, std::type_identity_t<V> beta, VectorView<std::type_identity_t<V>> y, Stream stream) {
  require_alike<V>("xpby", x, y);
  if (beta == V(0)) return copy<V>(x, y, stream);
  if (!x.device().is_cpu())
    return WEFT_ON_DEVICE(x.device(), vectors::xpby<V>)(x.device(), count_of(x), x.data(), beta, y.data(), stream);
  parallel_for(count_of(x), chunk, [x = x.data(), beta, y = y.data()](std::int64_t i) { y[i] = x[i] + beta * y[i]; });
}

template <Value V>
void scale(std::type_identity_t<V> alpha, VectorView<V> x, Stream stream) {
  if (!x.device().is_cpu())
    return WEFT_ON_DEVICE(x.device(), vectors::scale<V>)(x.device(), count_of(x), alpha, x.data(), stream);
  parallel_for(count_of(x), chunk, [alpha, x = x.data()](std::int64_t i) { x[i] = alpha * x[i]; });
}

template <Value V>
typename ValueTraits<V>::Wide dot(VectorView<const V> x, VectorView<const std::type_identity_t<V>> y, Stream stream) {
  using Wide = typename ValueTraits<V>::Wide;
  require_alike<V>("dot", x, y);
  if (x.size() == 0) return Wide(0);
  if (!x.device().is_cpu())
    return WEFT_ON_DEVICE(x.device(), vectors::dot<V>)(x.device(), count_of(x), x.data(), y.data(),
                                                       dot_scratch(x.device()), stream);
  return sum_of<Wide>(count_of(x), [x = x.data(), y = y.data()](std::int64_t i) { return term_of(x[i], y[i]); });
}

template <Value V>
double norm(VectorView<const V> x, Stream stream) {
  if constexpr (!std::is_floating_point_v<V>)
    if (x.device().is_cpu())
      return std::sqrt(sum_of<double>(count_of(x), [x = x.data()](std::int64_t i) { return std::norm(x[i]); }));
  return std::sqrt(std::real(dot<V>(x, x, stream)));
}

#define WEFT_INSTANTIATE(V)                                                               \
  template void fill<V>(VectorView<V>, V, Stream);                                        \
  template void copy<V>(VectorView<const V>, VectorView<V>, Stream);                      \
  template void axpy<V>(V, VectorView<const V>, VectorView<V>, Stream);                   \
  template void xpby<V>(VectorView<const V>, V, VectorView<V>, Stream);                   \
  template void scale<V>(V, VectorView<V>, Stream);                                       \
  template ValueTraits<V>::Wide dot<V>(VectorView<const V>, VectorView<const V>, Stream); \
  template double norm<V>(VectorView<const V>, Stream);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
