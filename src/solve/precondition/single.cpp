#include "solve/precondition/single.hpp"

#include <weft/error.hpp>

#include "core/parallel.hpp"

namespace weft::precondition {
namespace {

constexpr std::int64_t chunk = 1 << 14;

template <class X, class Y>
std::int64_t common_size(VectorView<X> x, VectorView<Y> y) {
  if (x.size() != y.size() || x.device() != y.device())
    throw Error(ErrorCode::invalid_argument, "a vector has " + std::to_string(x.size()) + " elements on " +
                                                 x.device().name() + ", the other " + std::to_string(y.size()) +
                                                 " on " + y.device().name());
  return static_cast<std::int64_t>(x.size());
}

}  // namespace

void round_to_single(VectorView<const double> from, VectorView<float> to, Stream stream) {
  const std::int64_t count = common_size(from, to);
  if (!from.device().is_cpu())
    return WEFT_ON_DEVICE(from.device(), precondition::round_to_single)(from.device(), count, from.data(), to.data(),
                                                                        stream);
  parallel_for(count, chunk,
               [from = from.data(), to = to.data()](std::int64_t i) { to[i] = static_cast<float>(from[i]); });
}

void add_single(double alpha, VectorView<const float> x, double beta, VectorView<double> y, Stream stream) {
  const std::int64_t count = common_size(x, y);
  if (!x.device().is_cpu())
    return WEFT_ON_DEVICE(x.device(), precondition::add_single)(x.device(), count, alpha, x.data(), beta, y.data(),
                                                                stream);
  if (beta == 0)
    parallel_for(count, chunk, [alpha, x = x.data(), y = y.data()](std::int64_t i) { y[i] = alpha * double(x[i]); });
  else
    parallel_for(count, chunk, [alpha, x = x.data(), beta, y = y.data()](std::int64_t i) {
      y[i] = alpha * double(x[i]) + beta * y[i];
    });
}

}  // namespace weft::precondition
