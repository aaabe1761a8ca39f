// Vectors into an order and back.
#include <weft/error.hpp>
#include <weft/order.hpp>

#include "core/parallel.hpp"

namespace weft {
namespace {

constexpr std::int64_t grain = 1 << 14;

void require_same_length(std::size_t from, std::size_t order, std::size_t to) {
  if (from == to && (order == 0 || order == from)) return;
  throw Error(ErrorCode::invalid_argument, "vectors of " + std::to_string(from) + " and " + std::to_string(to) +
                                               " elements do not go with an order of " + std::to_string(order));
}

template <class V>
void gather_elements(std::span<const V> from, std::span<const Index> order, std::span<V> to) {
  require_same_length(from.size(), order.size(), to.size());
  parallel_for(static_cast<std::int64_t>(to.size()), grain,
               [&](std::int64_t i) { to[i] = from[order.empty() ? i : order[i]]; });
}

template <class V>
void scatter_elements(std::span<const V> from, std::span<const Index> order, std::span<V> to) {
  require_same_length(from.size(), order.size(), to.size());
  parallel_for(static_cast<std::int64_t>(to.size()), grain,
               [&](std::int64_t i) { to[order.empty() ? i : order[i]] = from[i]; });
}

}  // namespace

void gather(std::span<const float> from, std::span<const Index> order, std::span<float> to) {
  gather_elements(from, order, to);
}
void gather(std::span<const double> from, std::span<const Index> order, std::span<double> to) {
  gather_elements(from, order, to);
}
void scatter(std::span<const float> from, std::span<const Index> order, std::span<float> to) {
  scatter_elements(from, order, to);
}
void scatter(std::span<const double> from, std::span<const Index> order, std::span<double> to) {
  scatter_elements(from, order, to);
}

}  // namespace weft
