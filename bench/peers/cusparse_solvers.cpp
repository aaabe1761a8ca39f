#include "solver_adapters.hpp"

#ifdef WEFT_HAS_CUSPARSE
#include <cublas_v2.h>

#include <cmath>
#include <limits>
#include <type_traits>

#include "core/timer.hpp"
#include "cusparse_cg.hpp"
#include "cusparse_library.hpp"
#endif

namespace weft::bench {

#ifdef WEFT_HAS_CUSPARSE
namespace {

/// The functions of cuBLAS we call, found at run time.
struct CublasLibrary {
  SharedLibrary file{"libcublas.so", {"libcublas.so.13", "libcublas.so.12", "libcublas.so"}};
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasDestroy_v2) destroy = nullptr;
  decltype(&cublasSetStream_v2) set_stream = nullptr;
  decltype(&cublasSetPointerMode_v2) set_pointer_mode = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace = nullptr;
  decltype(&cublasSdot_v2) dot_f32 = nullptr;
  decltype(&cublasDdot_v2) dot_f64 = nullptr;
  decltype(&cublasSaxpy_v2) axpy_f32 = nullptr;
  decltype(&cublasDaxpy_v2) axpy_f64 = nullptr;

  static const CublasLibrary& instance() {
    static const CublasLibrary library;
    return library;
  }

  void dot(cublasHandle_t handle, int size, const float* x, const float* y, float* result) const {
    require(dot_f32(handle, size, x, 1, y, 1, result));
  }
  void dot(cublasHandle_t handle, int size, const double* x, const double* y, double* result) const {
    require(dot_f64(handle, size, x, 1, y, 1, result));
  }
  void axpy(cublasHandle_t handle, int size, const float* alpha, const float* x, float* y) const {
    require(axpy_f32(handle, size, alpha, x, 1, y, 1));
  }
  void axpy(cublasHandle_t handle, int size, const double* alpha, const double* x, double* y) const {
    require(axpy_f64(handle, size, alpha, x, 1, y, 1));
  }

  static void require(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw Error(ErrorCode::unsupported, "cuBLAS: error " + std::to_string(static_cast<int>(status)));
  }

 private:
  CublasLibrary() {
    if (!file.problem().empty()) return;
    file.find(create, "cublasCreate_v2");
    file.find(destroy, "cublasDestroy_v2");
    file.find(set_stream, "cublasSetStream_v2");
    file.find(set_pointer_mode, "cublasSetPointerMode_v2");
    file.find(set_workspace, "cublasSetWorkspace_v2");
    file.find(dot_f32, "cublasSdot_v2");
    file.find(dot_f64, "cublasDdot_v2");
    file.find(axpy_f32, "cublasSaxpy_v2");
    file.find(axpy_f64, "cublasDaxpy_v2");
  }
};

void require(cudaError_t error) {
  if (error != cudaSuccess) throw Error(ErrorCode::unsupported, std::string("CUDA: ") + cudaGetErrorString(error));
}

/// Conjugate gradients as a careful user writes them on cuSPARSE and cuBLAS: scalars stay on the device, eight
/// iterations are one CUDA graph, and the host looks at the residual between two of these.
template <Value V>
class CusparseCg : public SolverPeer<V> {
  static constexpr cudaDataType value_kind = std::is_same_v<V, float> ? CUDA_R_32F : CUDA_R_64F;
  static constexpr int iterations_per_graph = 8;

 public:
  CusparseCg(Device device, const SolveTask& task) : device_(device), task_(task) {}

  ~CusparseCg() override {
    if (graph_) cudaGraphExecDestroy(graph_);
    if (p_vector_) library_.destroy_vector(p_vector_);
    if (q_vector_) library_.destroy_vector(q_vector_);
    if (matrix_) library_.destroy_matrix(matrix_);
    if (sparse_) library_.destroy(sparse_);
    if (blas_) blas_library_.destroy(blas_);
    if (residual_) cudaFreeHost(residual_);
    if (stream_) cudaStreamDestroy(stream_);
  }

  std::string library() const override { return "cusparse"; }
  std::string method() const override { return "cg"; }
  std::string preconditioner() const override { return task_.preconditioner; }

  void prepare(const Csr<V>& matrix) override {
    if (cudaSetDevice(device_.index()) != cudaSuccess)
      throw Error(ErrorCode::no_device, "cuSPARSE cannot use " + device_.name());
    if (matrix.rows == 0) throw Error(ErrorCode::unsupported, "cuSPARSE: a matrix without rows");
    size_ = matrix.rows;
    start_libraries();
    const Stopwatch watch;
    const bool wide = matrix.nonzeros() > std::numeric_limits<std::int32_t>::max();
    offsets_ = Indices(device_, matrix.offsets, wide);
    columns_ = Indices(device_, matrix.columns, wide);
    values_ = DeviceBuffer<V>(device_, matrix.values);
    upload_seconds_ = watch.seconds();
    const auto size = static_cast<std::size_t>(size_);
    for (DeviceBuffer<V>* vector : {&r_, &z_, &p_, &q_, &x_}) *vector = DeviceBuffer<V>(device_, size);
    scalars_ = DeviceBuffer<V>(device_, scalar_count);
    if (task_.preconditioner == "jacobi")
      inverse_ = DeviceBuffer<V>(device_, std::span<const V>(inverse_diagonal(matrix, "cuSPARSE's user")));
    require(cudaMallocHost(reinterpret_cast<void**>(&residual_), sizeof(V)));
    synchronize(device_);  // what was uploaded is used on another stream
    prepare_product(matrix);
    record();
    require(cudaStreamSynchronize(stream_));
  }

  PeerInfo info() const override {
    return {.version = library_.version,
            .details = "with cuBLAS, graphs of " + std::to_string(iterations_per_graph) + " iterations",
            .bytes = offsets_.bytes() + columns_.bytes() + values_.bytes(),
            .upload_seconds = upload_seconds_,
            .start_seconds = start_seconds_};
  }

  PeerSolve solve(const V* b, V* x) override {
    synchronize(device_);
    const Stopwatch watch;
    const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(V);
    require(cudaMemsetAsync(x_.data(), 0, bytes, stream_));
    require(cudaMemcpyAsync(r_.data(), b, bytes, cudaMemcpyDeviceToDevice, stream_));
    const double target = task_.rtol * std::sqrt(squared_residual());
    require(cg_precondition<V>(size_, inverse(), r_.data(), z_.data(), stream_));
    require(cudaMemcpyAsync(p_.data(), z_.data(), bytes, cudaMemcpyDeviceToDevice, stream_));
    blas_library_.dot(blas_, size_, r_.data(), z_.data(), scalar(rz));
    PeerSolve result;
    double residual = target / task_.rtol;
    while (residual > target && result.iterations < task_.max_iterations) {
      require(cudaGraphLaunch(graph_, stream_));
      require(cudaStreamSynchronize(stream_));
      residual = std::sqrt(static_cast<double>(*residual_));
      result.iterations += iterations_per_graph;
      if (!std::isfinite(residual)) break;
    }
    require(cudaMemcpyAsync(x, x_.data(), bytes, cudaMemcpyDeviceToDevice, stream_));
    require(cudaStreamSynchronize(stream_));
    result.seconds = watch.seconds();
    result.converged = residual <= target;
    result.status = result.converged ? "converged" : std::isfinite(residual) ? "not converged" : "not finite";
    return result;
  }

 private:
  enum Scalar { rz, rz_new, pq, alpha, minus_alpha, beta, rr, scalar_count };
  V* scalar(Scalar which) { return scalars_.data() + which; }
  const V* inverse() const { return inverse_.size() > 0 ? inverse_.data() : nullptr; }

  void start_libraries() {
    const Stopwatch watch;
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    bench::require(library_.create(&sparse_));
    bench::require(library_.set_stream(sparse_, stream_));
    CublasLibrary::require(blas_library_.create(&blas_));
    CublasLibrary::require(blas_library_.set_stream(blas_, stream_));
    CublasLibrary::require(blas_library_.set_pointer_mode(blas_, CUBLAS_POINTER_MODE_DEVICE));
    // Inside a graph cuBLAS needs memory that stays where it is.
    constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
    blas_workspace_ = DeviceBuffer<std::byte>(device_, workspace_bytes);
    CublasLibrary::require(blas_library_.set_workspace(blas_, blas_workspace_.data(), workspace_bytes));
    start_seconds_ = watch.seconds();
  }

  void prepare_product(const Csr<V>& matrix) {
    bench::require(library_.create_csr(&matrix_, size_, size_, matrix.nonzeros(), offsets_.data(), columns_.data(),
                                       values_.data(), offsets_.type(), columns_.type(), CUSPARSE_INDEX_BASE_ZERO,
                                       value_kind));
    bench::require(library_.create_input(&p_vector_, size_, p_.data(), value_kind));
    bench::require(library_.create_output(&q_vector_, size_, q_.data(), value_kind));
    std::size_t bytes = 0;
    bench::require(library_.buffer_size(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_vector_, &zero_,
                                        q_vector_, value_kind, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    workspace_ = DeviceBuffer<std::byte>(device_, std::max<std::size_t>(bytes, 16));
    if (library_.preprocess)
      bench::require(library_.preprocess(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_vector_, &zero_,
                                         q_vector_, value_kind, CUSPARSE_SPMV_ALG_DEFAULT, workspace_.data()));
    multiply();  // whatever is put off until the first product must not be in the graph
    require(cudaStreamSynchronize(stream_));
  }

  void multiply() {
    bench::require(library_.multiply(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, p_vector_, &zero_,
                                     q_vector_, value_kind, CUSPARSE_SPMV_ALG_DEFAULT, workspace_.data()));
  }

  void iterate() {
    multiply();
    blas_library_.dot(blas_, size_, p_.data(), q_.data(), scalar(pq));
    require(cg_step_length<V>(scalar(rz), scalar(pq), scalar(alpha), scalar(minus_alpha), stream_));
    blas_library_.axpy(blas_, size_, scalar(alpha), p_.data(), x_.data());
    blas_library_.axpy(blas_, size_, scalar(minus_alpha), q_.data(), r_.data());
    if (inverse()) require(cg_precondition<V>(size_, inverse(), r_.data(), z_.data(), stream_));
    const V* const z = inverse() ? z_.data() : r_.data();
    blas_library_.dot(blas_, size_, r_.data(), z, scalar(rz_new));
    require(cg_direction_factor<V>(scalar(rz), scalar(rz_new), scalar(beta), stream_));
    require(cg_direction<V>(size_, z, scalar(beta), p_.data(), stream_));
  }

  /// The graph: some iterations, then |r|^2 to the host.
  void record() {
    blas_library_.dot(blas_, size_, r_.data(), r_.data(), scalar(rr));  // cuBLAS loads its kernels at the first call
    require(cudaStreamSynchronize(stream_));
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      for (int i = 0; i < iterations_per_graph; ++i) iterate();
      queue_residual();
    } catch (...) {
      cudaStreamEndCapture(stream_, &graph);
      if (graph) cudaGraphDestroy(graph);
      throw;
    }
    require(cudaStreamEndCapture(stream_, &graph));
    const cudaError_t error = cudaGraphInstantiate(&graph_, graph, 0);
    cudaGraphDestroy(graph);
    require(error);
  }

  void queue_residual() {
    blas_library_.dot(blas_, size_, r_.data(), r_.data(), scalar(rr));
    require(cudaMemcpyAsync(residual_, scalar(rr), sizeof(V), cudaMemcpyDeviceToHost, stream_));
  }

  double squared_residual() {
    queue_residual();
    require(cudaStreamSynchronize(stream_));
    return static_cast<double>(*residual_);
  }

  const CusparseLibrary& library_ = CusparseLibrary::instance();
  const CublasLibrary& blas_library_ = CublasLibrary::instance();
  const V one_ = 1;
  const V zero_ = 0;
  Device device_;
  SolveTask task_;
  int size_ = 0;
  Indices offsets_, columns_;
  DeviceBuffer<V> values_, inverse_, scalars_, r_, z_, p_, q_, x_;
  DeviceBuffer<std::byte> workspace_, blas_workspace_;
  double start_seconds_ = 0, upload_seconds_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  cusparseHandle_t sparse_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseConstDnVecDescr_t p_vector_ = nullptr;
  cusparseDnVecDescr_t q_vector_ = nullptr;
  V* residual_ = nullptr;  // pinned, on the host
};

}  // namespace

template <Value V>
SolverPeerList<V> cusparse_solvers(Device device, const SolveTask& task) {
  if (device.kind() != Device::Kind::gpu) return impossible_solvers<V>(Device::Kind::gpu);
  if (task.method != "cg") return no_such_solver<V>(task);
  const CusparseLibrary& library = CusparseLibrary::instance();
  SolverPeerList<V> list{.why_none = library.why_none, .version = library.version};
  if (list.why_none.empty()) list.why_none = CublasLibrary::instance().file.problem();
  if (list.why_none.empty()) list.peers.push_back(std::make_unique<CusparseCg<V>>(device, task));
  return list;
}
#else
template <Value V>
SolverPeerList<V> cusparse_solvers(Device device, const SolveTask&) {
  if (device.kind() != Device::Kind::gpu) return impossible_solvers<V>(Device::Kind::gpu);
  return {.why_none = "this build has no CUDA"};
}
#endif

#define WEFT_INSTANTIATE(V) template SolverPeerList<V> cusparse_solvers<V>(Device, const SolveTask&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
