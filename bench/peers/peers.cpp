#include <algorithm>
#include <array>
#include <string_view>

#include "adapters.hpp"
#include "bench/names.hpp"

namespace weft::bench {
namespace {

constexpr std::array<std::string_view, 2> libraries = {"eigen", "cusparse"};

std::string_view library_of(std::string_view name) { return name.substr(0, name.find(':')); }

/// "cusparse" and "cusparse:coo" both ask for "cusparse:coo".
bool asks_for(std::string_view wanted, std::string_view name) { return wanted == name || wanted == library_of(name); }

template <Value V>
PeerList<V> peers_of(std::string_view library, Device device) {
  return library == "eigen" ? eigen_peers<V>(device) : cusparse_peers<V>(device);
}

}  // namespace

std::string check_peer_names(const std::string& wanted) {
  if (wanted == "none" || wanted == "all") return {};
  for (const std::string& name : split_names(wanted)) {
    bool known = false;
    for (std::string_view library : libraries) known = known || library_of(name) == library;
    if (!known) return "there is no peer named '" + name + "'; there are none, all, eigen and cusparse";
  }
  return {};
}

template <Value V>
std::vector<std::unique_ptr<Peer<V>>> find_peers(Device device, const std::string& wanted,
                                                 std::vector<std::string>& missing) {
  std::vector<std::unique_ptr<Peer<V>>> found;
  if (wanted == "none") return found;
  const std::vector<std::string> names =
      wanted == "all" ? std::vector<std::string>(libraries.begin(), libraries.end()) : split_names(wanted);
  for (std::string_view library : libraries) {
    bool asked = false;
    for (const std::string& name : names) asked = asked || library_of(name) == library;
    if (!asked) continue;
    PeerList<V> list = peers_of<V>(library, device);
    if (list.peers.empty()) missing.push_back("no comparison with " + std::string(library) + ": " + list.why_none);
    std::string known;
    for (const auto& peer : list.peers) known += (known.empty() ? "" : ", ") + peer->name();
    for (const std::string& name : names)
      if (!known.empty() && library_of(name) == library &&
          std::ranges::none_of(list.peers, [&](const auto& peer) { return asks_for(name, peer->name()); }))
        missing.push_back("no comparison with " + name + ": there is no such peer; there are: " + known);
    for (auto& peer : list.peers)
      if (std::ranges::any_of(names, [&](const auto& name) { return asks_for(name, peer->name()); }))
        found.push_back(std::move(peer));
  }
  return found;
}

#define WEFT_INSTANTIATE(V) \
  template std::vector<std::unique_ptr<Peer<V>>> find_peers<V>(Device, const std::string&, std::vector<std::string>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
