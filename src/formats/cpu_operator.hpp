#pragma once
#include <weft/runtime.hpp>

#include <algorithm>

#include "core/team.hpp"
#include "formats/operator.hpp"
#include "formats/vectors.hpp"

namespace weft {

/// How many threads a product of so much work pays for: waking one costs more than less than its share would bring.
inline int useful_threads(Offset work, Offset work_per_thread) {
  return static_cast<int>(std::min<Offset>(threads(), 1 + work / work_per_thread));
}

/// Whether a matrix of so many bytes is read from memory by each product, rather than from a cache: kernels then
/// request ahead, which costs instructions that a matrix in a cache does not earn back.
inline bool comes_from_memory(std::size_t bytes) {
  constexpr std::size_t in_last_level_caches = std::size_t{8} << 20;
  return bytes > in_last_level_caches;
}

/// What the CPU operators of all formats have in common: products that read nothing of the matrix.
template <Value V>
class CpuOperatorBase : public Operator<V> {
 public:
  CpuOperatorBase(Index rows, Offset entries) : rows_(rows), entries_(entries) { prepare_team(threads()); }

  void apply(const Product<V>& product, Stream) final {
    if (product.alpha == V(0) || entries_ == 0) return scale_on_cpu(product, rows_);
    in_good_parts(product, [this](const Product<V>& part) { multiply(part); });
  }
  void use_isa(Isa isa) final { isa_ = isa; }

 protected:
  /// y = alpha A x + beta y; alpha is not 0 and there are entries.
  virtual void multiply(const Product<V>& product) = 0;
  /// Whether its kernels gain from several column-major vectors at once even in a cache.
  virtual bool likes_several_columns() const { return false; }

  /// Calls body(part) for all vectors of a product. Column-major ones meet each piece of a large matrix together, which
  /// saves reading it again from memory. In the caches that saves nothing, and they displace each other's x: there
  /// they come one after the other.
  template <class F>
  void in_good_parts(const Product<V>& product, F&& body) const {
    constexpr Offset bytes_in_caches = Offset{32} << 20;
    const bool together = product.layout == Layout::row_major || likes_several_columns() ||
                          entries_ * static_cast<Offset>(sizeof(V) + sizeof(Index)) > bytes_in_caches;
    if (together) return body(product);
    for (int j = 0; j < product.count; ++j) body(product.part(j, 1));
  }

  Index rows() const { return rows_; }
  Offset entries() const { return entries_; }
  Isa isa() const { return isa_; }

 private:
  Index rows_;
  Offset entries_;
  Isa isa_ = ::weft::isa();
};

}  // namespace weft
