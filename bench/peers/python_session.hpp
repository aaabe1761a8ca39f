#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "adapters.hpp"
#include "peer.hpp"
#include "python_process.hpp"

namespace weft::bench {

/// Whether the Python in use has the library, asked once.
struct PythonLibrary {
  std::string version;
  std::string why_none;  ///< empty when it has
};
PythonLibrary find_in_python(const std::string& library);

/// A matrix and two vectors that a Python process sees as well, and what is asked of it. Errors begin with the
/// library's name.
template <Value V>
class PythonSession {
 public:
  PythonSession(Device device, std::string library) : device_(device), library_(std::move(library)) {}

  const std::string& library() const { return library_; }

  /// Starts Python and has the library take the matrix. `task` is null for products.
  void prepare(const Csr<V>& matrix, const nlohmann::json& task = nullptr);
  const PeerInfo& info() const { return info_; }

  void send_x(const V* x);     ///< from the device's memory to where Python reads x
  void receive_y(V* y) const;  ///< from where Python writes y to the device's memory

  nlohmann::json ask(const nlohmann::json& question);

  template <class T>
  T field(const nlohmann::json& answer, const char* key) const {
    try {
      return answer.at(key).get<T>();
    } catch (const nlohmann::json::exception&) {
      throw Error(ErrorCode::io, library_ + ": Python's process gave an answer without " + key);
    }
  }
  /// Throws Error(io) for what is no time.
  double seconds(const nlohmann::json& answer) const;

 private:
  /// Where an array is in the shared memory.
  struct Place {
    std::size_t begin = 0;
    std::size_t count = 0;
  };

  std::byte* at(const Place& place) const { return memory_.data() + place.begin; }

  Device device_;
  std::string library_;
  SharedMemory memory_;
  std::optional<PythonProcess> process_;
  Place x_, y_;
  PeerInfo info_;
};

}  // namespace weft::bench
