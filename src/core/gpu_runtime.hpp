#pragma once
#include <weft/device.hpp>

#include <cstddef>
#include <functional>
#include <string>

// The CUDA runtime as the rest of the library sees it. In a build without CUDA the same functions exist and throw
// Error(no_device) with the reason: only what calls a kernel needs an #ifdef.
namespace weft::gpu {

int count();             ///< GPUs of this machine; 0 without a driver
std::string why_none();  ///< the reason for count() == 0
DeviceInfo describe(int index);
int compute_capability(int index);  ///< as in DeviceInfo, but quick to ask for

void* allocate(int index, std::size_t bytes);
void release(int index, void* memory) noexcept;
/// Memory of the host that the GPU reads and writes in place, at the same address.
void* allocate_mapped(int index, std::size_t bytes);
void release_mapped(void* memory) noexcept;
void copy_in(int index, void* to, const void* from, std::size_t bytes, Stream stream);
void copy_inside(int index, void* to, const void* from, std::size_t bytes, Stream stream);
void copy_out(int index, void* to, const void* from, std::size_t bytes, Stream stream);
void synchronize(int index, Stream stream);
/// Whether all work queued on `stream` is done; throws what went wrong there.
bool is_done(int index, Stream stream);

/// Makes GPU `index` current for this thread while it lives; does nothing for other devices.
class CurrentDevice {
 public:
  explicit CurrentDevice(Device device);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int previous_ = -1;
};

/// A pair of CUDA events.
class EventTimer {
 public:
  explicit EventTimer(int index);
  ~EventTimer();
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;
  void start(Stream stream);
  void stop(Stream stream);
  double seconds();  ///< waits for the second event

 private:
  int index_;
  void* begin_ = nullptr;
  void* end_ = nullptr;
};

/// A stream of the library's own, in order with CUDA's default one.
class OwnStream {
 public:
  explicit OwnStream(int index);
  ~OwnStream();
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  Stream get() const { return Stream(native_); }

 private:
  int index_;
  void* native_ = nullptr;
};

/// Work that is queued on a stream in one piece, as often as needed: a CUDA graph.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Calls `work`, which queues on `stream`, a stream other than the default one. Nothing runs yet. False if that
  /// cannot be recorded, as when `work` waits for the GPU or throws.
  bool record(int index, Stream stream, const std::function<void()>& work);
  void launch(int index, Stream stream) const;

 private:
  void* executable_ = nullptr;
};

}  // namespace weft::gpu
