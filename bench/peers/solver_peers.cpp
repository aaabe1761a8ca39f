#include <array>
#include <string_view>

#include "solver_adapters.hpp"

namespace weft::bench {
namespace {

template <Value V>
struct Library {
  std::string_view name;
  SolverPeerList<V> (*solvers)(Device, const SolveTask&);
};

template <Value V>
SolverPeerList<V> products_only(Device, const SolveTask&) {
  return {.why_none = "the bench compares its products only", .possible = false};
}

/// The libraries of peers.cpp that solve; the others say so when they are named.
template <Value V>
constexpr auto libraries = std::to_array<Library<V>>({{"eigen", eigen_solvers<V>},
                                                      {"mkl", products_only<V>},
                                                      {"librsb", products_only<V>},
                                                      {"petsc", petsc_solvers<V>},
                                                      {"scipy", scipy_solvers<V>},
                                                      {"cusparse", cusparse_solvers<V>},
                                                      {"cupy", cupy_solvers<V>},
                                                      {"torch", products_only<V>}});

}  // namespace

template <Value V>
std::vector<std::unique_ptr<SolverPeer<V>>> find_solver_peers(Device device, const SolveTask& task,
                                                              const std::string& wanted,
                                                              std::vector<std::string>& missing) {
  std::vector<NamedLibrary<SolverPeer<V>>> named;
  for (const Library<V>& library : libraries<V>)
    named.push_back({library.name, [device, &task, &library] { return library.solvers(device, task); }});
  return select_peers(named, wanted, missing);
}

#define WEFT_INSTANTIATE(V)                                                  \
  template std::vector<std::unique_ptr<SolverPeer<V>>> find_solver_peers<V>( \
      Device, const SolveTask&, const std::string&, std::vector<std::string>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
