#include <type_traits>

#include "adapters.hpp"
#include "core/timer.hpp"
#include "petsc_library.hpp"

namespace weft::bench {
namespace {

/// PETSc's default matrix, on our arrays. One process without threads: PETSc's products are parallel over processes.
template <Value V>
class PetscPeer : public HostPeer<V> {
 public:
  ~PetscPeer() override {
    if (x_) library_.destroy_vector(&x_);
    if (y_) library_.destroy_vector(&y_);
    if (handle_) library_.destroy_matrix(&handle_);
  }

  std::string name() const override { return "petsc:aij"; }

  PeerInfo info() const override {
    return {.version = library_.version,
            .details = "1 process, 1 thread",
            .bytes = this->csr_bytes(),
            .start_seconds = start_seconds_};
  }

 protected:
  void take(std::int64_t) override {
    if constexpr (std::is_same_v<V, double>) {
      const Stopwatch watch;
      library_.start();
      start_seconds_ = watch.seconds();
      library_.require(library_.matrix_from_csr(library_.self, this->matrix().rows, this->matrix().cols,
                                                this->offsets(), this->columns(), this->values(), &handle_));
      library_.require(library_.vector_around(library_.self, 1, this->matrix().cols, nullptr, &x_));
      library_.require(library_.vector_around(library_.self, 1, this->matrix().rows, nullptr, &y_));
    } else {
      throw Error(ErrorCode::unsupported, "this PETSc is built for f64 only");
    }
  }

  void multiply(const V* x, V* y) override {
    if constexpr (std::is_same_v<V, double>) {
      library_.require(library_.place(x_, x));
      library_.require(library_.place(y_, y));
      library_.require(library_.multiply(handle_, x_, y_));
      library_.require(library_.reset(x_));
      library_.require(library_.reset(y_));
    }
  }

 private:
  PetscLibrary& library_ = PetscLibrary::instance();
  double start_seconds_ = 0;
  PetscLibrary::Matrix* handle_ = nullptr;
  PetscLibrary::Vector* x_ = nullptr;
  PetscLibrary::Vector* y_ = nullptr;
};

}  // namespace

template <Value V>
PeerList<V> petsc_peers(Device device) {
  if (!device.is_cpu()) return impossible_peers<V>(Device::Kind::cpu);
  const PetscLibrary& library = PetscLibrary::instance();
  PeerList<V> list{.why_none = library.problem, .version = library.version};
  if (list.why_none.empty()) list.peers.push_back(std::make_unique<PetscPeer<V>>());
  return list;
}

#define WEFT_INSTANTIATE(V) template PeerList<V> petsc_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
