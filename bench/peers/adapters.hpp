#pragma once
#include <weft/runtime.hpp>

#include <algorithm>
#include <limits>

#include "peer.hpp"
#include "selection.hpp"

namespace weft::bench {

template <Value V>
using PeerList = PeerListOf<Peer<V>>;

template <Value V>
PeerList<V> eigen_peers(Device device);
template <Value V>
PeerList<V> mkl_peers(Device device);
template <Value V>
PeerList<V> librsb_peers(Device device);
template <Value V>
PeerList<V> petsc_peers(Device device);
template <Value V>
PeerList<V> scipy_peers(Device device);
template <Value V>
PeerList<V> cusparse_peers(Device device);
template <Value V>
PeerList<V> cupy_peers(Device device);
template <Value V>
PeerList<V> torch_peers(Device device);

/// What a library answers that runs on CPUs only, or on GPUs only, for a device of the other kind.
template <Value V, class P = Peer<V>>
PeerListOf<P> impossible_peers(Device::Kind kind) {
  return {.why_none = kind == Device::Kind::cpu ? "it runs on the CPU only" : "it runs on a GPU only",
          .possible = false};
}

/// Offsets as most libraries have them. Throws Error(unsupported) when there are too many entries for them.
template <Value V>
Array<int> narrow_offsets(const Csr<V>& matrix, const std::string& library) {
  if (matrix.nonzeros() > std::numeric_limits<int>::max())
    throw Error(ErrorCode::unsupported, library + "'s offsets hold 32 bits, too few for this matrix");
  Array<int> offsets(matrix.offsets.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) offsets[i] = static_cast<int>(matrix.offsets[i]);
  return offsets;
}

/// A library in this process that takes plain csr arrays with 32-bit offsets. Several of them refuse matrices without
/// entries; they do not get to see one.
template <Value V>
class HostPeer : public Peer<V> {
 public:
  void prepare(const Csr<V>& matrix, std::int64_t products) final {
    matrix_ = &matrix;
    offsets_ = narrow_offsets(matrix, this->name());
    if (matrix.nonzeros() > 0) take(products);
  }

  void run(const V* x, V* y) final {
    if (matrix_->nonzeros() > 0)
      multiply(x, y);
    else
      std::fill_n(y, matrix_->rows, V(0));
  }

 protected:
  virtual void take(std::int64_t products) = 0;
  virtual void multiply(const V* x, V* y) = 0;

  const Csr<V>& matrix() const { return *matrix_; }
  /// Arrays that the library promises to leave alone, though it does not say const.
  int* offsets() { return offsets_.data(); }
  int* columns() const { return const_cast<int*>(matrix_->columns.data()); }
  V* values() const { return const_cast<V*>(matrix_->values.data()); }
  std::size_t csr_bytes() const { return offsets_.bytes() + matrix_->columns.bytes() + matrix_->values.bytes(); }

 private:
  const Csr<V>* matrix_ = nullptr;
  Array<int> offsets_;
};

}  // namespace weft::bench
