#pragma once
#include "peer.hpp"

namespace weft::bench {

/// One library: its peers for a device, or none and the reason.
template <Value V>
struct PeerList {
  std::vector<std::unique_ptr<Peer<V>>> peers;
  std::string why_none;
};

template <Value V>
PeerList<V> eigen_peers(Device device);

template <Value V>
PeerList<V> cusparse_peers(Device device);

}  // namespace weft::bench
