#include <algorithm>
#include <cmath>
#include <utility>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "solve/diagonal.hpp"
#include "solve/precondition/common.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace precondition {
namespace {

constexpr Offset row_grain = 1 << 13;

/// Where the diagonal entry of a row is stored; null where it is not.
template <Value V>
const V* diagonal_entry(const Csr<V>& matrix, Index row) {
  const Index* const begin = matrix.columns.data() + matrix.offsets[row];
  const Index* const end = matrix.columns.data() + matrix.offsets[row + 1];
  const Index* const found = std::lower_bound(begin, end, row);
  return found != end && *found == row ? matrix.values.data() + (found - matrix.columns.data()) : nullptr;
}

template <Value V>
class Jacobi final : public Base<V>, public solve::HasDiagonal<V> {
 public:
  Jacobi(const MatrixSource<V>& A, Device device)
      : Base<V>("jacobi", A.rows(), device), inverse_(device, inverse_diagonal("jacobi", A.host())) {
    this->info_.details = "the diagonal";
    this->info_.nonzeros = A.rows();
    this->info_.bytes = inverse_.diagonal().bytes();
    this->info_.setup_seconds = timer_.seconds();
  }

  void update_values(const MatrixSource<V>& A) override {
    const Stopwatch timer;
    require_rows("jacobi", A, this->rows_);
    inverse_.assign(inverse_diagonal("jacobi", A.host()));
    this->info_.update_seconds = timer.seconds();
  }

  void apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const override {
    inverse_.apply(alpha, x, beta, y, stream);
  }
  const Vector<V>& diagonal() const override { return inverse_.diagonal(); }

 private:
  Stopwatch timer_;
  solve::DiagonalOperator<V> inverse_;
};

}  // namespace

template <Value V>
Array<V> inverse_diagonal(const std::string& name, const Csr<V>& matrix) {
  Array<V> inverse(static_cast<std::size_t>(matrix.rows));
  FirstPosition bad;
  parallel_for(matrix.rows, row_grain, [&](Offset row) {
    const V* const entry = diagonal_entry(matrix, static_cast<Index>(row));
    const V diagonal = entry ? *entry : V(0);
    inverse[row] = V(1) / diagonal;
    if (diagonal == V(0) || !std::isfinite(inverse[row]) || !std::isfinite(diagonal)) bad.report(row);
  });
  if (bad.found()) {
    const V* const entry = diagonal_entry(matrix, static_cast<Index>(bad.get()));
    refuse(name, "the diagonal entry of row " + std::to_string(bad.get()) +
                     (entry ? " is " + std::to_string(*entry) : std::string(" is missing")) +
                     "; another preconditioner may do, or none");
  }
  return inverse;
}

#define WEFT_INSTANTIATE(V) template Array<V> inverse_diagonal<V>(const std::string& name, const Csr<V>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace precondition

template <Value V>
MadePreconditioner<V> jacobi(const MatrixSource<V>& A, Device device) {
  precondition::require_square("jacobi", A);
  return std::make_shared<precondition::Jacobi<V>>(A, device);
}

#define WEFT_INSTANTIATE(V) template MadePreconditioner<V> jacobi<V>(const MatrixSource<V>&, Device);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
