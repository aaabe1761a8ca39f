#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "names.hpp"

// Which peers a list of names means: the same for products and for solvers.
namespace weft::bench {

/// One library: its peers for a device, or none and the reason.
template <class P>
struct PeerListOf {
  std::vector<std::unique_ptr<P>> peers = {};
  std::string why_none = {};
  bool possible = true;      ///< false: the library never runs on this kind of device, installed or not
  std::string version = {};  ///< of the library, where it can be known before it is used
};

template <class P>
struct NamedLibrary {
  std::string_view name;
  std::function<PeerListOf<P>()> peers;
};

inline std::string_view library_of(std::string_view name) { return name.substr(0, name.find(':')); }

/// Whether `wanted` names this peer, or its whole library: "cusparse" and "cusparse:coo" both ask for "cusparse:coo".
inline bool asks_for(std::string_view wanted, std::string_view name) {
  return wanted == name || wanted == library_of(name);
}

/// The peers that `wanted` names: "none", "all", or names and their prefixes separated by commas. Those that are not
/// there are reported in `missing`, one sentence each.
template <class P>
std::vector<std::unique_ptr<P>> select_peers(const std::vector<NamedLibrary<P>>& libraries, const std::string& wanted,
                                             std::vector<std::string>& missing) {
  std::vector<std::unique_ptr<P>> found;
  if (wanted == "none") return found;
  const bool all = wanted == "all";
  const std::vector<std::string> names = all ? std::vector<std::string>() : split_names(wanted);
  for (const NamedLibrary<P>& library : libraries) {
    if (!all && std::ranges::none_of(names, [&](const auto& name) { return library_of(name) == library.name; }))
      continue;
    PeerListOf<P> list = library.peers();
    // Nobody who asks for all expects a GPU's library on a CPU.
    if (list.peers.empty() && (list.possible || !all))
      missing.push_back("no comparison with " + std::string(library.name) + ": " + list.why_none);
    std::string known;
    for (const auto& peer : list.peers) known += (known.empty() ? "" : ", ") + peer->name();
    for (const std::string& name : names)
      if (!known.empty() && library_of(name) == library.name &&
          std::ranges::none_of(list.peers, [&](const auto& peer) { return asks_for(name, peer->name()); }))
        missing.push_back("no comparison with " + name + ": there is no such peer; there are: " + known);
    for (auto& peer : list.peers)
      if (all || std::ranges::any_of(names, [&](const auto& name) { return asks_for(name, peer->name()); }))
        found.push_back(std::move(peer));
  }
  return found;
}

}  // namespace weft::bench
