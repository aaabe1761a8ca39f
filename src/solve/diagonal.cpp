#include "solve/diagonal.hpp"

#include <string>

#include "core/parallel.hpp"
#include "solve/device_steps.hpp"

namespace weft::solve {

template <Value V>
void DiagonalOperator<V>::apply(V alpha, View x, V beta, MutableView y, Stream stream) const {
  const std::size_t size = diagonal_.size();
  if (x.size() != size || y.size() != size)
    throw Error(ErrorCode::invalid_argument, "x has " + std::to_string(x.size()) + " elements and y " +
                                                 std::to_string(y.size()) + ", the diagonal has " +
                                                 std::to_string(size));
  if (x.device() != device() || y.device() != device())
    throw Error(ErrorCode::invalid_argument, "x and y must be on the diagonal's device, " + device().name());
  const auto count = static_cast<std::int64_t>(size);
  if (!device().is_cpu())
    return WEFT_ON_DEVICE(device(), solve::scale_rows<V>)(device(), count, alpha, diagonal_.data(), x.data(), beta,
                                                          y.data(), stream);
  constexpr std::int64_t chunk = 1 << 14;
  const auto assign = [&](auto&& element) {
    parallel_for(count, chunk, [&](std::int64_t i) { y.data()[i] = element(i); });
  };
  const V* const d = diagonal_.data();
  const V* const from = x.data();
  const V* const old = y.data();
  if (alpha == V(0))
    assign([=](std::int64_t i) { return beta == V(0) ? V(0) : beta * old[i]; });
  else if (beta == V(0))
    assign([=](std::int64_t i) { return alpha * (d[i] * from[i]); });
  else
    assign([=](std::int64_t i) { return alpha * (d[i] * from[i]) + beta * old[i]; });
}

#define WEFT_INSTANTIATE(V) template class DiagonalOperator<V>;
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::solve
