#include <algorithm>
#include <numeric>
#include <utility>

#include "core/timer.hpp"
#include "solve/precondition/common.hpp"
#include "solve/precondition/options.hpp"
#include "solve/precondition/solve_systems.hpp"

namespace weft {
namespace precondition {
namespace {

/// The sizes of all blocks. Throws for options out of range.
template <Value V>
std::vector<Index> block_sizes(const MatrixSource<V>& A, const BlockJacobiOptions& options) {
  const std::string name = "block-jacobi";
  constexpr int max_block = BlockJacobiOptions::max_block;
  require_square(name, A);
  require_in_range(name, "block", options.block, 0, max_block);
  std::vector<Index> sizes = options.sizes;
  if (sizes.empty()) {
    const Index block = options.block > 0 ? options.block : blocks(A).size;
    sizes.assign(static_cast<std::size_t>(A.rows() / block), block);
    if (A.rows() % block != 0) sizes.push_back(A.rows() % block);
    return sizes;
  }
  for (const Index size : sizes) require_in_range(name, "a block size", size, 1, max_block);
  if (const Offset rows = std::accumulate(sizes.begin(), sizes.end(), Offset(0)); rows != A.rows())
    refuse(name, "the block sizes add up to " + std::to_string(rows) + ", but the matrix has " +
                     std::to_string(A.rows()) + " rows");
  return sizes;
}

std::string describe_sizes(const std::vector<Index>& sizes) {
  if (sizes.empty()) return "no blocks";
  const auto [smallest, largest] = std::minmax_element(sizes.begin(), sizes.end());
  const std::string blocks = std::to_string(sizes.size()) + " blocks of ";
  return *smallest == *largest ? blocks + std::to_string(*largest) + " rows"
                               : blocks + std::to_string(*smallest) + " to " + std::to_string(*largest) + " rows";
}

/// Whether they can be the blocks of a format.
bool is_uniform(const std::vector<Index>& sizes) {
  return !sizes.empty() && sizes[0] > 1 &&
         std::all_of(sizes.begin(), sizes.end(), [&](Index size) { return size == sizes[0]; });
}

template <Value V>
class BlockJacobi final : public Base<V> {
 public:
  BlockJacobi(const MatrixSource<V>& A, const std::vector<Index>& sizes, Device device, const std::string& format)
      : Base<V>("block-jacobi", A.rows(), device) {
    const Stopwatch timer;
    pattern_ = diagonal_blocks(sizes);
    const Csr<V> inverse{A.rows(), A.rows(), pattern_.offsets, pattern_.columns, solve(A.host())};
    plan_ = plan_inverse<V>(inverse, device, is_uniform(sizes), format);
    this->info_.details = describe_sizes(sizes);
    this->info_.nonzeros = pattern_.nonzeros();
    this->info_.bytes = plan_->info().bytes;
    this->info_.setup_seconds = timer.seconds();
  }

  void update_values(const MatrixSource<V>& A) override {
    const Stopwatch timer;
    require_rows(this->info_.name, A, this->rows_);
    const Array<V> values = solve(A.host());
    plan_->update_values(std::span<const V>(values));
    this->info_.update_seconds = timer.seconds();
  }

  void apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream) const override {
    plan_->apply(alpha, x, beta, y, stream);
  }

 private:
  Array<V> solve(const Csr<V>& matrix) const {
    Array<V> values(static_cast<std::size_t>(pattern_.nonzeros()));
    solve_incomplete("block-jacobi", matrix, pattern_, false, values.data(), {});
    return values;
  }

  Pattern pattern_;
  std::unique_ptr<Plan<V>> plan_;
};

}  // namespace
}  // namespace precondition

template <Value V>
MadePreconditioner<V> block_jacobi(const MatrixSource<V>& A, const BlockJacobiOptions& options) {
  const std::vector<Index> sizes = precondition::block_sizes(A, options);
  const Device device = options.device.value_or(A.device());
  require_usable(device);
  return std::make_shared<precondition::BlockJacobi<V>>(A, sizes, device, options.format);
}

#define WEFT_INSTANTIATE(V) \
  template MadePreconditioner<V> block_jacobi<V>(const MatrixSource<V>&, const BlockJacobiOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
