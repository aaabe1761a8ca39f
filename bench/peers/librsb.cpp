#include <type_traits>

#include "adapters.hpp"
#include "shared_library.hpp"

namespace weft::bench {
namespace {

// What librsb's manual says of the functions used here; its indices have 32 bits.
constexpr int not_transposed = 'N';
// Blocks split in four until they are small, with 16-bit indices where they fit, each stored as coo or csr.
constexpr int recursive_blocks = 0x2000 | 0x0002 | 0x0100 | 0x4000;
constexpr int column_major = 0x4000000;
constexpr int option_threads = 9;
constexpr int info_index_bytes = 0x1;
constexpr int info_leaves = 0x200;

struct Matrix;

struct Library {
  SharedLibrary file{"librsb.so.0", {"librsb.so.0"}};
  int (*start)(void* options) = nullptr;
  int (*set_option)(int option, const void* value) = nullptr;
  Matrix* (*from_csr)(const void* values, const int* offsets, const int* columns, int nonzeros, char type, int rows,
                      int cols, int block_rows, int block_cols, int flags, int* error) = nullptr;
  Matrix* (*release)(Matrix*) = nullptr;
  int (*multiply)(int operation, const void* alpha, const Matrix*, const void* x, int x_step, const void* beta, void* y,
                  int y_step) = nullptr;
  int (*tune)(Matrix**, double* speedup, int* threads, int rounds, double seconds, int operation, const void* alpha,
              const Matrix*, int vectors, int order, const void* x, int x_lead, const void* beta, void* y,
              int y_lead) = nullptr;
  int (*get_info)(const Matrix*, int what, void* value) = nullptr;
  int (*explain)(int error, char* text, std::size_t size) = nullptr;
  std::string problem;

  static const Library& instance() {
    static const Library library;
    return library;
  }

  void require(int error) const {
    if (error == 0) return;
    char text[256] = {};
    explain(error, text, sizeof text - 1);
    throw Error(ErrorCode::unsupported, std::string("librsb: ") + (text[0] ? text : "unknown error"));
  }

 private:
  Library() {
    if (file.problem().empty()) {
      file.find(start, "rsb_lib_init");
      file.find(set_option, "rsb_lib_set_opt");
      file.find(from_csr, "rsb_mtx_alloc_from_csr_const");
      file.find(release, "rsb_mtx_free");
      file.find(multiply, "rsb_spmv");
      file.find(tune, "rsb_tune_spmm");
      file.find(get_info, "rsb_mtx_get_info");
      file.find(explain, "rsb_strerror_r");
    }
    problem = file.problem();
    if (problem.empty() && start(nullptr) != 0) problem = "librsb could not start";
  }
};

/// Recursive sparse blocks, as librsb lays them out by itself or after it has tried other layouts on this matrix.
template <Value V>
class LibrsbPeer : public HostPeer<V> {
  static constexpr char type = std::is_same_v<V, float> ? 'S' : 'D';
  static constexpr double tuning_seconds = 2;  // a round; it may overrun by the layout it is trying

 public:
  explicit LibrsbPeer(bool tuned) : tuned_(tuned) {}
  ~LibrsbPeer() override {
    if (handle_) library_.release(handle_);
  }

  std::string name() const override { return tuned_ ? "librsb:tuned" : "librsb"; }

  PeerInfo info() const override {
    std::size_t index_bytes = 0;
    int leaves = 0;
    if (handle_) {
      library_.require(library_.get_info(handle_, info_index_bytes, &index_bytes));
      library_.require(library_.get_info(handle_, info_leaves, &leaves));
    }
    return {.details = std::to_string(leaves) + (leaves == 1 ? " block, " : " blocks, ") + std::to_string(threads_) +
                       (threads_ == 1 ? " thread" : " threads"),
            .bytes = index_bytes + this->matrix().values.bytes()};
  }

 protected:
  void take(std::int64_t) override {
    threads_ = threads();
    library_.require(library_.set_option(option_threads, &threads_));
    int error = 0;
    handle_ =
        library_.from_csr(this->values(), this->offsets(), this->columns(), static_cast<int>(this->matrix().nonzeros()),
                          type, this->matrix().rows, this->matrix().cols, 1, 1, recursive_blocks, &error);
    library_.require(error);
    if (!handle_) throw Error(ErrorCode::unsupported, "librsb made no matrix of it");
    if (tuned_) tune();
  }

  void multiply(const V* x, V* y) override {
    // Another peer of this library may have asked for another number.
    library_.require(library_.set_option(option_threads, &threads_));
    library_.require(library_.multiply(not_transposed, &one_, handle_, x, 1, &zero_, y, 1));
  }

 private:
  void tune() {
    const Array<V> x(static_cast<std::size_t>(this->matrix().cols), V(1));
    Array<V> y(static_cast<std::size_t>(this->matrix().rows), V(0));
    double speedup = 0;
    library_.require(library_.tune(&handle_, &speedup, nullptr, 1, tuning_seconds, not_transposed, &one_, nullptr, 1,
                                   column_major, x.data(), this->matrix().cols, &zero_, y.data(), this->matrix().rows));
  }

  const Library& library_ = Library::instance();
  const V one_ = 1;
  const V zero_ = 0;
  bool tuned_;
  int threads_ = 0;
  Matrix* handle_ = nullptr;
};

}  // namespace

template <Value V>
PeerList<V> librsb_peers(Device device) {
  if (!device.is_cpu()) return impossible_peers<V>(Device::Kind::cpu);
  PeerList<V> list{.why_none = Library::instance().problem};
  if (list.why_none.empty())
    for (bool tuned : {false, true}) list.peers.push_back(std::make_unique<LibrsbPeer<V>>(tuned));
  return list;
}

#define WEFT_INSTANTIATE(V) template PeerList<V> librsb_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
