#include <weft/buffer.hpp>

#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "adapters.hpp"
#include "core/timer.hpp"
#include "python_process.hpp"

namespace weft::bench {
namespace {

/// Which of the libraries the Python in use has, asked once.
struct Installed {
  std::map<std::string, std::string> versions;
  std::string problem;

  static const Installed& instance() {
    static const Installed installed;
    return installed;
  }

  std::string why_none(const std::string& library) const {
    if (!problem.empty()) return problem;
    if (versions.contains(library)) return {};
    return python_program() + " has no " + library +
           (library == "scipy" ? "; make peers installs it"
                               : "; install it there, or name another Python in WEFT_PYTHON");
  }

 private:
  Installed() {
    try {
      PythonProcess python;
      const nlohmann::json answer = python.ask({{"do", "versions"}});
      for (const auto& [name, version] : answer.at("versions").items())
        if (version.is_string()) versions[name] = version.template get<std::string>();
    } catch (const Error& error) {
      problem = error.what();
    } catch (const nlohmann::json::exception&) {
      problem = "Python's process gave an answer that makes no sense";
    }
  }
};

/// Where an array lies in the shared memory.
struct Place {
  std::size_t begin = 0;
  std::size_t count = 0;
};

/// A library of Python's, in a process of its own that keeps the time.
template <Value V>
class PythonPeer : public Peer<V> {
 public:
  PythonPeer(Device device, std::string library) : device_(device), library_(std::move(library)) {}

  std::string name() const override { return library_; }

  void prepare(const Csr<V>& matrix, std::int64_t) override {
    const Stopwatch watch;
    const Array<int> offsets = narrow_offsets(matrix, name());
    nlohmann::json places;
    std::size_t size = 0;
    const auto reserve = [&]<class T>(const char* array, std::size_t count, T) {
      const Place place{size, count};
      places[array] = {std::is_integral_v<T> ? "i4" : "f" + std::to_string(sizeof(T)), place.begin, place.count};
      size += (count * sizeof(T) + alignment - 1) / alignment * alignment;
      return place;
    };
    const Place offsets_place = reserve("offsets", offsets.size(), int());
    const Place columns_place = reserve("columns", matrix.columns.size(), Index());
    const Place values_place = reserve("values", matrix.values.size(), V());
    x_ = reserve("x", static_cast<std::size_t>(matrix.cols), V());
    y_ = reserve("y", static_cast<std::size_t>(matrix.rows), V());

    memory_ = SharedMemory(size);
    fill(offsets_place, offsets);
    fill(columns_place, matrix.columns);
    fill(values_place, matrix.values);
    process_.emplace(memory_);
    const nlohmann::json answer = ask({{"do", "prepare"},
                                       {"library", library_},
                                       {"rows", matrix.rows},
                                       {"cols", matrix.cols},
                                       {"device", device_.is_cpu() ? 0 : device_.index()},
                                       {"size", memory_.size()},
                                       {"places", places}});
    info_ = {.version = field<std::string>(answer, "version"),
             .details = field<std::string>(answer, "details"),
             .bytes = field<std::size_t>(answer, "bytes"),
             .upload_seconds = field<double>(answer, "upload_seconds")};
    info_.start_seconds = std::max(0.0, watch.seconds() - field<double>(answer, "setup_seconds"));
  }

  PeerInfo info() const override { return info_; }

  void run(const V* x, V* y) override {
    send(x);
    ask({{"do", "run"}});
    if (device_.is_cpu()) {
      copy(y, at(y_), y_.count * sizeof(V));
    } else {
      detail::copy_to_device(device_, y, at(y_), y_.count * sizeof(V), {});
      synchronize(device_);
    }
  }

  bool keeps_time() const override { return true; }

  /// Leaves y alone: it is in the other process, and bringing it here is no part of the product. x is sent only when
  /// it is another one: its way would warm the caches.
  double time(const V* x, V*, std::int64_t products) override {
    if (x != sent_) {
      send(x);
      ask({{"do", "run"}});
    }
    const auto seconds = field<double>(ask({{"do", "time"}, {"products", products}}), "seconds");
    if (!std::isfinite(seconds) || seconds < 0)
      throw Error(ErrorCode::io, name() + ": Python's process gave an answer that makes no sense");
    return seconds;
  }

 private:
  static constexpr std::size_t alignment = 64;

  std::byte* at(const Place& place) const { return memory_.data() + place.begin; }

  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }

  template <class T>
  void fill(const Place& place, const Array<T>& from) {
    copy(at(place), from.data(), from.bytes());
  }

  void send(const V* x) {
    if (device_.is_cpu())
      copy(at(x_), x, x_.count * sizeof(V));
    else
      detail::copy_to_host(device_, at(x_), x, x_.count * sizeof(V), {});
    sent_ = x;
  }

  nlohmann::json ask(const nlohmann::json& question) {
    if (!process_) throw Error(ErrorCode::io, name() + " was not prepared");
    try {
      return process_->ask(question);
    } catch (const Error& error) {
      throw Error(error.code(), name() + ": " + error.what());
    }
  }

  template <class T>
  T field(const nlohmann::json& answer, const char* key) const {
    try {
      return answer.at(key).get<T>();
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorCode::io, name() + ": Python's process gave an answer without " + key);
    }
  }

  Device device_;
  std::string library_;
  SharedMemory memory_;
  std::optional<PythonProcess> process_;
  Place x_, y_;
  const V* sent_ = nullptr;
  PeerInfo info_;
};

template <Value V>
PeerList<V> python_peers(Device device, Device::Kind kind, const std::string& library) {
  if (device.kind() != kind) return impossible_peers<V>(kind);
  const Installed& installed = Installed::instance();
  PeerList<V> list{.why_none = installed.why_none(library)};
  if (!list.why_none.empty()) return list;
  list.version = installed.versions.at(library);
  list.peers.push_back(std::make_unique<PythonPeer<V>>(device, library));
  return list;
}

}  // namespace

template <Value V>
PeerList<V> scipy_peers(Device device) {
  return python_peers<V>(device, Device::Kind::cpu, "scipy");
}

template <Value V>
PeerList<V> cupy_peers(Device device) {
  return python_peers<V>(device, Device::Kind::gpu, "cupy");
}

template <Value V>
PeerList<V> torch_peers(Device device) {
  return python_peers<V>(device, Device::Kind::gpu, "torch");
}

#define WEFT_INSTANTIATE(V)                    \
  template PeerList<V> scipy_peers<V>(Device); \
  template PeerList<V> cupy_peers<V>(Device);  \
  template PeerList<V> torch_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
