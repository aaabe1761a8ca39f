#include "core/gpu_runtime.hpp"

#include <weft/error.hpp>

#include <map>
#include <mutex>

#ifdef WEFT_HAS_CUDA
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "core/cuda_status.hpp"
#include "core/gpu_memory_cache.hpp"
#include "core/staged_copy.hpp"

namespace weft::gpu {
namespace {

// "90" for sm_90.
std::string architecture_of_current_gpu() {
  int index = 0;
  cudaGetDevice(&index);
  return std::to_string(compute_capability(index));
}

cudaStream_t native(Stream stream) { return static_cast<cudaStream_t>(stream.native()); }

}  // namespace

void require(cudaError_t status, const char* what, const char* name) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  if (status == cudaErrorNoKernelImageForDevice) {
    const std::string architecture = architecture_of_current_gpu();
    throw Error(ErrorCode::no_device, "this build has no code for this GPU (sm_" + architecture +
                                          "); configure with -DCMAKE_CUDA_ARCHITECTURES=" + architecture);
  }
  const auto code = status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::internal;
  throw Error(code, std::string(what) + name + ": " + cudaGetErrorString(status));
}

int count() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess) {
    cudaGetLastError();
    return 0;
  }
  return devices;
}

std::string why_none() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess) return devices > 0 ? "" : "the CUDA driver reports no GPU";
  cudaGetLastError();
  if (status == cudaErrorInsufficientDriver) {
    int driver = 0;
    cudaDriverGetVersion(&driver);
    if (driver == 0) return "no NVIDIA driver is installed (libcuda.so.1 was not found)";
    return "the NVIDIA driver is older than this build's CUDA " + std::to_string(CUDART_VERSION / 1000) + "." +
           std::to_string(CUDART_VERSION % 1000 / 10);
  }
  return cudaGetErrorString(status);
}

namespace {
DeviceInfo ask(int index) {
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, index), "reading the GPU's properties");
  DeviceInfo info;
  info.device = Device::gpu(index);
  info.description = properties.name;
  info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  info.multiprocessors = properties.multiProcessorCount;
  info.l2_bytes = properties.l2CacheSize;
  info.compute_capability = properties.major * 10 + properties.minor;
  info.threads_per_multiprocessor = properties.maxThreadsPerMultiProcessor;
  info.shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerBlockOptin);
  return info;
}
}  // namespace

DeviceInfo describe(int index) {
  // CUDA takes milliseconds to tell, as much as some formats take to set up.
  static std::mutex mutex;
  static std::map<int, DeviceInfo> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(index);
  return found != known.end() ? found->second : known.emplace(index, ask(index)).first->second;
}

int compute_capability(int index) {
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index);
  return major * 10 + minor;
}

namespace {
/// Of the current device.
constexpr MemorySource cuda_memory{
    .take = [](std::size_t bytes) -> void* {
      void* memory = nullptr;
      const cudaError_t status = cudaMalloc(&memory, bytes ? bytes : 1);
      if (status == cudaSuccess) return memory;
      cudaGetLastError();
      if (status != cudaErrorMemoryAllocation) require(status, "allocating GPU memory");
      return nullptr;
    },
    .give = [](void* memory) { cudaFree(memory); },
    .wait = [] { cudaDeviceSynchronize(); },  // as cudaFree does
};

/// One per device. WEFT_GPU_CACHE=0 leaves every allocation to CUDA, for tools that look for wrong accesses.
MemoryCache& cache_of(int index) {
  static std::mutex mutex;
  // Never destroyed: buffers may be released until the very end, when CUDA may be gone.
  static auto& caches = *new std::map<int, std::unique_ptr<MemoryCache>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<MemoryCache>& cache = caches[index];
  if (!cache) {
    constexpr std::size_t max_capacity = std::size_t(256) << 20;
    const char* const setting = std::getenv("WEFT_GPU_CACHE");
    const bool off = setting && std::string_view(setting) == "0";
    const auto memory = static_cast<std::size_t>(describe(index).memory_bytes);
    cache = std::make_unique<MemoryCache>(cuda_memory, off ? 0 : std::min(max_capacity, memory / 64));
  }
  return *cache;
}
}  // namespace

void* allocate(int index, std::size_t bytes) {
  CurrentDevice current(Device::gpu(index));
  if (void* const memory = cache_of(index).allocate(bytes)) return memory;
  std::size_t free_bytes = 0, total = 0;
  cudaMemGetInfo(&free_bytes, &total);
  throw Error(ErrorCode::out_of_memory, "gpu" + std::to_string(index) + " has " + std::to_string(free_bytes) +
                                            " bytes free, but " + std::to_string(bytes) + " are needed");
}

void release(int index, void* memory) noexcept {
  int previous = 0;
  cudaGetDevice(&previous);
  if (previous != index) cudaSetDevice(index);
  cache_of(index).release(memory);
  if (previous != index) cudaSetDevice(previous);
}

void* allocate_mapped(int index, std::size_t bytes) {
  CurrentDevice current(Device::gpu(index));
  void* memory = nullptr;
  require(cudaHostAlloc(&memory, bytes ? bytes : 1, cudaHostAllocMapped | cudaHostAllocPortable),
          "allocating host memory for the GPU");
  void* seen_by_gpu = nullptr;
  const cudaError_t status = cudaHostGetDevicePointer(&seen_by_gpu, memory, 0);
  if (status == cudaSuccess && seen_by_gpu == memory) return memory;
  cudaFreeHost(memory);
  require(status, "mapping host memory for the GPU");
  throw Error(ErrorCode::unsupported, "gpu" + std::to_string(index) + " and the host do not share an address space");
}

void release_mapped(void* memory) noexcept { cudaFreeHost(memory); }

void copy_in(int index, void* to, const void* from, std::size_t bytes, Stream stream) {
  CurrentDevice current(Device::gpu(index));
  if (staged_copy_in(index, to, from, bytes, stream)) return;
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, native(stream)), "copying to the GPU");
}

void copy_inside(int index, void* to, const void* from, std::size_t bytes, Stream stream) {
  CurrentDevice current(Device::gpu(index));
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, native(stream)), "copying on the GPU");
}

void copy_out(int index, void* to, const void* from, std::size_t bytes, Stream stream) {
  CurrentDevice current(Device::gpu(index));
  require(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, native(stream)), "copying from the GPU");
  require(cudaStreamSynchronize(native(stream)), "copying from the GPU");
}

void synchronize(int index, Stream stream) {
  CurrentDevice current(Device::gpu(index));
  require(cudaStreamSynchronize(native(stream)), "waiting for the GPU");
}

bool is_done(int index, Stream stream) {
  CurrentDevice current(Device::gpu(index));
  const cudaError_t status = cudaStreamQuery(native(stream));
  if (status == cudaErrorNotReady) return false;
  require(status, "waiting for the GPU");
  return true;
}

CurrentDevice::CurrentDevice(Device device) {
  if (device.kind() != Device::Kind::gpu) return;
  require(cudaGetDevice(&previous_), "asking for the current GPU");
  if (previous_ == device.index()) {
    previous_ = -1;
    return;
  }
  require(cudaSetDevice(device.index()), "choosing the GPU");
}

CurrentDevice::~CurrentDevice() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

EventTimer::EventTimer(int index) : index_(index) {
  CurrentDevice current(Device::gpu(index));
  cudaEvent_t begin = nullptr, end = nullptr;
  require(cudaEventCreate(&begin), "creating an event");
  begin_ = begin;
  const cudaError_t status = cudaEventCreate(&end);
  if (status != cudaSuccess) cudaEventDestroy(begin);  // no destructor runs after a throw
  require(status, "creating an event");
  end_ = end;
}

EventTimer::~EventTimer() {
  if (begin_) cudaEventDestroy(static_cast<cudaEvent_t>(begin_));
  if (end_) cudaEventDestroy(static_cast<cudaEvent_t>(end_));
}

void EventTimer::start(Stream stream) {
  CurrentDevice current(Device::gpu(index_));
  require(cudaEventRecord(static_cast<cudaEvent_t>(begin_), native(stream)), "recording an event");
}

void EventTimer::stop(Stream stream) {
  CurrentDevice current(Device::gpu(index_));
  require(cudaEventRecord(static_cast<cudaEvent_t>(end_), native(stream)), "recording an event");
}

double EventTimer::seconds() {
  float milliseconds = 0;
  require(cudaEventSynchronize(static_cast<cudaEvent_t>(end_)), "waiting for the GPU");
  require(cudaEventElapsedTime(&milliseconds, static_cast<cudaEvent_t>(begin_), static_cast<cudaEvent_t>(end_)),
          "reading an event");
  return milliseconds * 1e-3;
}

OwnStream::OwnStream(int index) : index_(index) {
  CurrentDevice current(Device::gpu(index));
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream), "creating a stream");
  native_ = stream;
}

OwnStream::~OwnStream() {
  int previous = 0;
  cudaGetDevice(&previous);
  if (previous != index_) cudaSetDevice(index_);
  cudaStreamDestroy(static_cast<cudaStream_t>(native_));
  if (previous != index_) cudaSetDevice(previous);
}

Graph::~Graph() {
  if (executable_) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
}

bool Graph::record(int index, Stream stream, const std::function<void()>& work) {
  CurrentDevice current(Device::gpu(index));
  require(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeThreadLocal), "recording work for the GPU");
  bool refused = false;
  try {
    work();
  } catch (const Error&) {
    refused = true;
  } catch (...) {
    cudaGraph_t unfinished = nullptr;
    cudaStreamEndCapture(native(stream), &unfinished);
    if (unfinished) cudaGraphDestroy(unfinished);
    cudaGetLastError();
    throw;
  }
  cudaGraph_t graph = nullptr;
  const cudaError_t ended = cudaStreamEndCapture(native(stream), &graph);
  cudaGraphExec_t executable = nullptr;
  if (!refused && ended == cudaSuccess && graph) cudaGraphInstantiate(&executable, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  cudaGetLastError();  // whatever could not be recorded
  executable_ = executable;
  return executable != nullptr;
}

void Graph::launch(int index, Stream stream) const {
  CurrentDevice current(Device::gpu(index));
  require(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), native(stream)), "queueing a graph");
}

}  // namespace weft::gpu

#else

namespace weft::gpu {
namespace {
[[noreturn]] void refuse() { throw Error(ErrorCode::no_device, why_none()); }
}  // namespace

int count() { return 0; }
std::string why_none() { return "this build has no GPU code; configure with -DWEFT_CUDA=ON and a CUDA compiler"; }
DeviceInfo describe(int) { refuse(); }
int compute_capability(int) { refuse(); }
void* allocate(int, std::size_t) { refuse(); }
void release(int, void*) noexcept {}
void* allocate_mapped(int, std::size_t) { refuse(); }
void release_mapped(void*) noexcept {}
void copy_in(int, void*, const void*, std::size_t, Stream) { refuse(); }
void copy_inside(int, void*, const void*, std::size_t, Stream) { refuse(); }
void copy_out(int, void*, const void*, std::size_t, Stream) { refuse(); }
void synchronize(int, Stream) { refuse(); }
bool is_done(int, Stream) { refuse(); }
CurrentDevice::CurrentDevice(Device) {}
CurrentDevice::~CurrentDevice() = default;
EventTimer::EventTimer(int index) : index_(index) { refuse(); }
EventTimer::~EventTimer() = default;
void EventTimer::start(Stream) {}
void EventTimer::stop(Stream) {}
double EventTimer::seconds() { return 0; }
OwnStream::OwnStream(int index) : index_(index) { refuse(); }
OwnStream::~OwnStream() = default;
Graph::~Graph() = default;
bool Graph::record(int, Stream, const std::function<void()>&) { refuse(); }
void Graph::launch(int, Stream) const { refuse(); }

}  // namespace weft::gpu
#endif
