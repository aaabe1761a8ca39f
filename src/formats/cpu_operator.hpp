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
    multiply(product);
  }
  void use_isa(Isa isa) final { isa_ = isa; }

 protected:
  /// y = alpha A x + beta y; alpha is not 0 and there are entries.
  virtual void multiply(const Product<V>& product) = 0;

  Index rows() const { return rows_; }
  Offset entries() const { return entries_; }
  Isa isa() const { return isa_; }

 private:
  Index rows_;
  Offset entries_;
  Isa isa_ = ::weft::isa();
};

}  // namespace weft
