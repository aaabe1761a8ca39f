#include <array>
#include <string_view>

#include "adapters.hpp"

namespace weft::bench {
namespace {

constexpr std::array<std::string_view, 2> libraries = {"eigen", "cusparse"};

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end > begin) names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

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
  for (const std::string& name : split(wanted)) {
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
      wanted == "all" ? std::vector<std::string>(libraries.begin(), libraries.end()) : split(wanted);
  for (std::string_view library : libraries) {
    bool asked = false;
    for (const std::string& name : names) asked = asked || library_of(name) == library;
    if (!asked) continue;
    PeerList<V> list = peers_of<V>(library, device);
    if (list.peers.empty()) missing.push_back("no comparison with " + std::string(library) + ": " + list.why_none);
    for (auto& peer : list.peers)
      for (const std::string& name : names)
        if (asks_for(name, peer->name())) {
          found.push_back(std::move(peer));
          break;
        }
  }
  return found;
}

#define WEFT_INSTANTIATE(V) \
  template std::vector<std::unique_ptr<Peer<V>>> find_peers<V>(Device, const std::string&, std::vector<std::string>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
