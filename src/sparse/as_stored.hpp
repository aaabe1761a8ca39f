#pragma once
#include <weft/csr.hpp>

#include <utility>
#include <variant>

namespace weft {

/// A matrix as its file stores it: whole, or the half of a symmetric one.
template <Value V>
using AsStored = std::variant<Csr<V>, HalfCsr<V>>;

template <Value V>
Csr<V> whole(AsStored<V> stored) {
  if (const auto* half = std::get_if<HalfCsr<V>>(&stored)) return whole(*half);
  return std::get<Csr<V>>(std::move(stored));
}

}  // namespace weft
