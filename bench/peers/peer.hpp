#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>

#include <memory>
#include <string>
#include <vector>

namespace weft::bench {

/// What a peer tells of itself once it is prepared.
struct PeerInfo {
  std::string version = {};   ///< of the library: "3.4.0"; empty where it does not tell
  std::string details = {};   ///< one line: what it chose, how many threads it uses if not as many as Weft
  std::size_t bytes = 0;      ///< what one product reads of the prepared matrix
  bool estimated = false;     ///< the library does not tell: `bytes` is what plain csr would have
  double upload_seconds = 0;  ///< the part of `prepare` that only moved the matrix to the device
  double start_seconds = 0;   ///< the part that started the library, and brought the matrix to its process: a program
                              ///< that uses the library has that behind it
};

/// Another library's sparse product, to compare with. Used by the bench only.
template <Value V>
class Peer {
 public:
  virtual ~Peer() = default;
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  virtual std::string name() const = 0;  ///< "eigen", "cusparse:csr-alg2"

  /// Brings the matrix into the form the library wants, for about `products` products; `matrix` outlives the peer.
  /// Throws Error, saying why, when the library cannot take it.
  virtual void prepare(const Csr<V>& matrix, std::int64_t products) = 0;

  virtual PeerInfo info() const = 0;

  /// Queues y = A x. The pointers are into the memory of the device the peer was made for.
  virtual void run(const V* x, V* y) = 0;

  /// Peers in a process of their own time themselves: the way there and back is not theirs. Runs that many products and
  /// returns the seconds they took.
  virtual bool keeps_time() const { return false; }
  virtual double time([[maybe_unused]] const V* x, [[maybe_unused]] V* y, [[maybe_unused]] std::int64_t products) {
    throw Error(ErrorCode::unsupported, name() + " has no clock of its own");
  }
};

/// The peers for `device` that `wanted` names: "none", "all", or names and their prefixes separated by commas ("eigen",
/// "cusparse", "cusparse:coo"). Those that are not there are told in `missing`, one sentence each.
template <Value V>
std::vector<std::unique_ptr<Peer<V>>> find_peers(Device device, const std::string& wanted,
                                                 std::vector<std::string>& missing);

/// A library to compare with, as far as it can be known without using it.
struct PeerLibrary {
  std::string name;
  std::string version = {};   ///< empty where it does not tell
  std::string why_none = {};  ///< empty when it can be used on a device of this machine
};
std::vector<PeerLibrary> peer_libraries();

/// All their names, separated by commas.
std::string peer_library_names();

/// Empty when every name in `wanted` begins with a library there is, else a sentence that names those.
std::string check_peer_names(const std::string& wanted);

}  // namespace weft::bench
