#include "adapters.hpp"
#include "python_session.hpp"

namespace weft::bench {
namespace {

/// A library of Python's, in a process of its own that keeps the time.
template <Value V>
class PythonPeer : public Peer<V> {
 public:
  PythonPeer(Device device, const std::string& library) : session_(device, library) {}

  std::string name() const override { return session_.library(); }
  void prepare(const Csr<V>& matrix, std::int64_t) override { session_.prepare(matrix); }
  PeerInfo info() const override { return session_.info(); }

  void run(const V* x, V* y) override {
    send(x);
    session_.ask({{"do", "run"}});
    session_.receive_y(y);
  }

  bool keeps_time() const override { return true; }

  /// Leaves y alone: it is in the other process, and bringing it here is no part of the product. x is sent only when
  /// it is another one: its way would warm the caches.
  double time(const V* x, V*, std::int64_t products) override {
    if (x != sent_) {
      send(x);
      session_.ask({{"do", "run"}});
    }
    return session_.seconds(session_.ask({{"do", "time"}, {"products", products}}));
  }

 private:
  void send(const V* x) {
    session_.send_x(x);
    sent_ = x;
  }

  PythonSession<V> session_;
  const V* sent_ = nullptr;
};

template <Value V>
PeerList<V> python_peers(Device device, Device::Kind kind, const std::string& library) {
  if (device.kind() != kind) return impossible_peers<V>(kind);
  const PythonLibrary found = find_in_python(library);
  PeerList<V> list{.why_none = found.why_none, .version = found.version};
  if (list.why_none.empty()) list.peers.push_back(std::make_unique<PythonPeer<V>>(device, library));
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
