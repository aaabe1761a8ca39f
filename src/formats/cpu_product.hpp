#pragma once
#include <type_traits>

#include "core/simd.hpp"
#include "core/team.hpp"
#include "formats/operator.hpp"

// For files compiled once per instruction set, see core/isa.hpp.
namespace weft::WEFT_ISA_NAMESPACE {

/// y = alpha sum + beta y for one element, not reading y when beta is 0.
template <class V>
inline void store_sum(const Product<V>& product, Offset row, int vector, V sum) {
  // Not Product::y_of: a function of another namespace might be kept with this file's instructions.
  V& y = product.y[static_cast<std::size_t>(vector) * product.y_stride + static_cast<std::size_t>(row)];
  y = product.beta == V(0) ? product.alpha * sum : multiply_add<V>(product.alpha, sum, product.beta * y);
}

/// The same for consecutive elements, the first of them at `row`.
template <class V>
inline void store_sums(const Product<V>& product, Offset row, int vector, const V* sums, Index count) {
  V* const y = product.y + static_cast<std::size_t>(vector) * product.y_stride + static_cast<std::size_t>(row);
  for (Index i = 0; i < count; ++i)
    y[i] =
        product.beta == V(0) ? product.alpha * sums[i] : multiply_add<V>(product.alpha, sums[i], product.beta * y[i]);
}

/// Calls body(thread, piece) for every piece of 0..pieces, see core/team.hpp.
template <class F>
inline void for_each_piece(Offset pieces, int threads, F&& body) {
  using Body = std::remove_reference_t<F>;
  run_pieces(
      pieces, threads,
      [](void* context, int thread, std::int64_t piece) { (*static_cast<Body*>(context))(thread, piece); }, &body);
}

}  // namespace weft::WEFT_ISA_NAMESPACE
