#include <algorithm>
#include <array>
#include <string_view>

#include "adapters.hpp"
#include "names.hpp"

namespace weft::bench {
namespace {

template <Value V>
struct Library {
  std::string_view name;
  PeerList<V> (*peers)(Device);
};

/// The one list of libraries to compare with.
template <Value V>
constexpr auto libraries = std::to_array<Library<V>>({{"eigen", eigen_peers<V>},
                                                      {"mkl", mkl_peers<V>},
                                                      {"librsb", librsb_peers<V>},
                                                      {"petsc", petsc_peers<V>},
                                                      {"scipy", scipy_peers<V>},
                                                      {"cusparse", cusparse_peers<V>},
                                                      {"cupy", cupy_peers<V>},
                                                      {"torch", torch_peers<V>}});

}  // namespace

std::string peer_library_names() {
  std::string names;
  for (const auto& library : libraries<double>) names += (names.empty() ? "" : ", ") + std::string(library.name);
  return names;
}

std::string check_peer_names(const std::string& wanted) {
  if (wanted == "none" || wanted == "all") return {};
  for (const std::string& name : split_names(wanted))
    if (std::ranges::none_of(libraries<double>, [&](const auto& one) { return one.name == library_of(name); }))
      return "there is no peer named '" + name + "'; there are none, all, " + peer_library_names();
  return {};
}

template <Value V>
std::vector<std::unique_ptr<Peer<V>>> find_peers(Device device, const std::string& wanted,
                                                 std::vector<std::string>& missing) {
  std::vector<NamedLibrary<Peer<V>>> named;
  for (const Library<V>& library : libraries<V>)
    named.push_back({library.name, [device, &library] { return library.peers(device); }});
  return select_peers(named, wanted, missing);
}

std::vector<PeerLibrary> peer_libraries() {
  std::vector<PeerLibrary> result;
  for (const auto& library : libraries<double>) {
    PeerLibrary entry{.name = std::string(library.name)};
    for (Device device : available_devices()) {
      const PeerList<double> list = library.peers(device);
      entry.why_none = list.why_none;
      if (!list.possible) continue;
      entry.version = list.version;
      break;
    }
    result.push_back(std::move(entry));
  }
  return result;
}

#define WEFT_INSTANTIATE(V) \
  template std::vector<std::unique_ptr<Peer<V>>> find_peers<V>(Device, const std::string&, std::vector<std::string>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
