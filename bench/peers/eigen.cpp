#include "adapters.hpp"

#ifdef WEFT_HAS_EIGEN
#include <Eigen/SparseCore>
#endif

namespace weft::bench {

#ifdef WEFT_HAS_EIGEN
namespace {

std::string eigen_version() {
  return std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
         std::to_string(EIGEN_MINOR_VERSION);
}

/// Eigen's row-major sparse matrix, mapped onto our columns and values; Eigen wants offsets of the columns' type.
template <Value V>
class EigenPeer : public Peer<V> {
  using Matrix = Eigen::SparseMatrix<V, Eigen::RowMajor, int>;
  using Vector = Eigen::Matrix<V, Eigen::Dynamic, 1>;

 public:
  std::string name() const override { return "eigen"; }

  void prepare(const Csr<V>& matrix, std::int64_t) override {
    offsets_ = narrow_offsets(matrix, name());
    matrix_ = &matrix;
    Eigen::setNbThreads(threads());
  }

  PeerInfo info() const override {
    return {.version = eigen_version(),
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
  if (!device.is_cpu()) return impossible_peers<V>(Device::Kind::cpu);
  PeerList<V> list{.version = eigen_version()};
  list.peers.push_back(std::make_unique<EigenPeer<V>>());
  return list;
}
#else
template <Value V>
PeerList<V> eigen_peers(Device device) {
  if (!device.is_cpu()) return impossible_peers<V>(Device::Kind::cpu);
  return {.why_none = "this build has no Eigen; install libeigen3-dev and build again"};
}
#endif

#define WEFT_INSTANTIATE(V) template PeerList<V> eigen_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
