#include <weft/runtime.hpp>

#include <limits>

#include "adapters.hpp"

#ifdef WEFT_HAS_EIGEN
#include <Eigen/SparseCore>
#endif

namespace weft::bench {

#ifdef WEFT_HAS_EIGEN
namespace {

/// Eigen's row-major sparse matrix, mapped onto our columns and values; Eigen wants offsets of the columns' type.
template <Value V>
class EigenPeer : public Peer<V> {
  using Matrix = Eigen::SparseMatrix<V, Eigen::RowMajor, int>;
  using Vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;

 public:
  std::string name() const override { return "eigen"; }

  void prepare(const Csr<V>& matrix, std::int64_t) override {
    if (matrix.nonzeros() > std::numeric_limits<int>::max())
      throw Error(ErrorCode::unsupported, "Eigen's offsets hold 32 bits, too few for this matrix");
    Eigen::setNbThreads(threads());
    matrix_ = &matrix;
    offsets_ = Array<int>(matrix.offsets.size());
    for (std::size_t i = 0; i < offsets_.size(); ++i) offsets_[i] = static_cast<int>(matrix.offsets[i]);
  }

  PeerInfo info() const override {
    return {.version = std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
                       std::to_string(EIGEN_MINOR_VERSION),
            .details = "row-major, OpenMP",
            .bytes = offsets_.bytes() + matrix_->columns.bytes() + matrix_->values.bytes()};
  }

  void run(const V* x, V* y) override {
    const Eigen::Map<const Matrix> matrix(matrix_->rows, matrix_->cols, static_cast<int>(matrix_->nonzeros()),
                                          offsets_.data(), matrix_->columns.data(), matrix_->values.data());
    const Eigen::Map<const Vector> input(x, matrix_->cols);
    Eigen::Map<Vector> output(y, matrix_->rows);
    output.noalias() = matrix * input;
  }

 private:
  const Csr<V>* matrix_ = nullptr;
  Array<int> offsets_;
};

}  // namespace

template <Value V>
PeerList<V> eigen_peers(Device device) {
  PeerList<V> list;
  if (device.is_cpu())
    list.peers.push_back(std::make_unique<EigenPeer<V>>());
  else
    list.why_none = "it runs on the CPU only";
  return list;
}
#else
template <Value V>
PeerList<V> eigen_peers(Device) {
  return {{}, "this build has no Eigen; install libeigen3-dev and build again"};
}
#endif

#define WEFT_INSTANTIATE(V) template PeerList<V> eigen_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
