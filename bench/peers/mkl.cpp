#include <algorithm>
#include <type_traits>

#include "adapters.hpp"
#include "core/timer.hpp"
#include "shared_library.hpp"

namespace weft::bench {
namespace {

// What MKL's reference manual says of the inspector-executor routines, with 32-bit integers.
struct Description {
  int type, mode, diagonal;
};
constexpr Description general = {20, 40, 50};
constexpr int not_transposed = 10;
constexpr int aggressive = 81;  // MKL may take memory for another copy of the matrix
constexpr int gnu_threads = 3;

template <Value V>
struct Functions {
  int (*create)(void** matrix, int base, int rows, int cols, int* begins, int* ends, int* columns, V* values);
  int (*multiply)(int operation, V alpha, void* matrix, Description, const V* x, V beta, V* y);
};

struct Library {
  SharedLibrary file{"libmkl_rt.so", {"libmkl_rt.so.3", "libmkl_rt.so.2"}};
  int (*set_threading_layer)(int) = nullptr;
  void (*set_threads)(int) = nullptr;
  void (*version_string)(char*, int) = nullptr;
  int (*hint_products)(void*, int operation, Description, int calls) = nullptr;
  int (*hint_memory)(void*, int policy) = nullptr;
  int (*optimize)(void*) = nullptr;
  int (*destroy)(void*) = nullptr;
  Functions<double> f64 = {};
  Functions<float> f32 = {};
  std::string version;

  static const Library& instance() {
    static const Library library;
    return library;
  }

  template <Value V>
  const Functions<V>& functions() const {
    if constexpr (std::is_same_v<V, float>)
      return f32;
    else
      return f64;
  }

 private:
  Library() {
    if (!file.problem().empty()) return;
    file.find(set_threading_layer, "MKL_Set_Threading_Layer");
    file.find(set_threads, "MKL_Set_Num_Threads");
    file.find(version_string, "MKL_Get_Version_String");
    file.find(hint_products, "mkl_sparse_set_mv_hint");
    file.find(hint_memory, "mkl_sparse_set_memory_hint");
    file.find(optimize, "mkl_sparse_optimize");
    file.find(destroy, "mkl_sparse_destroy");
    file.find(f64.create, "mkl_sparse_d_create_csr");
    file.find(f64.multiply, "mkl_sparse_d_mv");
    file.find(f32.create, "mkl_sparse_s_create_csr");
    file.find(f32.multiply, "mkl_sparse_s_mv");
    if (!file.problem().empty()) return;
    // Never Intel's own OpenMP: it ends the process when it meets another runtime of its kind. GNU's is there already.
    set_threading_layer(gnu_threads);
    char text[256] = {};
    version_string(text, sizeof text - 1);
    // "Intel(R) oneAPI Math Kernel Library Version 2026.0-Product Build ..."
    version = text;
    if (const std::size_t word = version.find("Version "); word != std::string::npos)
      version = version.substr(word + 8);
    version = version.substr(0, version.find_first_of("- "));
  }
};

void require(int status) {
  static constexpr const char* meanings[] = {"",
                                             "the matrix is not initialized",
                                             "not enough memory",
                                             "an argument is not valid",
                                             "the product failed",
                                             "internal error",
                                             "not supported"};
  if (status == 0) return;
  throw Error(ErrorCode::unsupported,
              std::string("MKL: ") + (status > 0 && status <= 6 ? meanings[status] : "unknown error"));
}

/// The inspector looks at the matrix, knowing how many products are to come; the executor multiplies.
template <Value V>
class MklPeer : public HostPeer<V> {
 public:
  ~MklPeer() override {
    if (handle_) library_.destroy(handle_);
  }

  std::string name() const override { return "mkl"; }

  PeerInfo info() const override {
    return {.version = library_.version,
            .details = "inspector-executor, GNU OpenMP",
            .bytes = this->csr_bytes(),
            .estimated = true,
            .start_seconds = start_seconds_};
  }

 protected:
  void take(std::int64_t products) override {
    library_.set_threads(threads());
    const Stopwatch watch;
    load_kernels();
    start_seconds_ = watch.seconds();
    handle_ =
        inspect(this->matrix().rows, this->matrix().cols, this->offsets(), this->columns(), this->values(), products);
  }

  void multiply(const V* x, V* y) override {
    require(functions_.multiply(not_transposed, V(1), handle_, general, x, V(0), y));
  }

 private:
  /// MKL opens the rest of itself when it is first used, which takes longer than preparing a small matrix.
  void load_kernels() const {
    int offsets[] = {0, 1};
    int column = 0;
    V value = 1, x = 1, y = 0;
    void* one = inspect(1, 1, offsets, &column, &value, 1);
    const int status = functions_.multiply(not_transposed, V(1), one, general, &x, V(0), &y);
    library_.destroy(one);
    require(status);
  }

  void* inspect(Index rows, Index cols, int* offsets, int* columns, V* values, std::int64_t products) const {
    void* made = nullptr;
    require(functions_.create(&made, 0, rows, cols, offsets, offsets + 1, columns, values));
    try {
      require(library_.hint_products(
          made, not_transposed, general,
          static_cast<int>(std::clamp<std::int64_t>(products, 1, std::numeric_limits<int>::max()))));
      require(library_.hint_memory(made, aggressive));
      require(library_.optimize(made));
    } catch (const Error&) {
      library_.destroy(made);
      throw;
    }
    return made;
  }

  const Library& library_ = Library::instance();
  double start_seconds_ = 0;
  const Functions<V>& functions_ = library_.functions<V>();
  void* handle_ = nullptr;
};

}  // namespace

template <Value V>
PeerList<V> mkl_peers(Device device) {
  if (!device.is_cpu()) return impossible_peers<V>(Device::Kind::cpu);
  const Library& library = Library::instance();
  PeerList<V> list{.why_none = library.file.problem(), .version = library.version};
  if (list.why_none.empty()) list.peers.push_back(std::make_unique<MklPeer<V>>());
  return list;
}

#define WEFT_INSTANTIATE(V) template PeerList<V> mkl_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
