#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>

#include <memory>
#include <string>
#include <vector>

namespace weft::bench {

/// Another library's sparse product, to compare with. Used by the bench only.
template <Value V>
class Peer {
 public:
  virtual ~Peer() = default;
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  virtual std::string name() const = 0;  ///< "eigen", "cusparse:csr-alg2"

  /// Brings the matrix into the form the library wants; `matrix` outlives the peer. Throws Error, saying why, when the
  /// library cannot take it.
  virtual void prepare(const Csr<V>& matrix) = 0;

  virtual std::size_t bytes() const = 0;  ///< what one product reads of the prepared matrix

  /// Queues y = A x. The pointers are into the memory of the device the peer was made for.
  virtual void run(const V* x, V* y) = 0;
};

/// The peers for `device` that `wanted` names: "none", "all", or names and their prefixes separated by commas ("eigen",
/// "cusparse", "cusparse:coo"). Those that are not there are told in `missing`, one sentence each.
template <Value V>
std::vector<std::unique_ptr<Peer<V>>> find_peers(Device device, const std::string& wanted,
                                                 std::vector<std::string>& missing);

/// Empty when every name in `wanted` begins with a library there is, else a sentence that names those.
std::string check_peer_names(const std::string& wanted);

}  // namespace weft::bench
