#include "threads.hpp"

#include <weft/runtime.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "guarded.hpp"
#include "settings.hpp"

namespace weft::petsc {
namespace {

ThreadShare share;

/// How many ranks may run on a core of `mask`.
int ranks_on(std::span<const cpu_set_t> masks, const cpu_set_t& mask) {
  return static_cast<int>(std::ranges::count_if(masks, [&](const cpu_set_t& other) {
    cpu_set_t both;
    CPU_AND(&both, &other, &mask);
    return CPU_COUNT(&both) > 0;
  }));
}

/// 0 where the variable is not set, or holds a list for nested regions.
int openmp_threads() {
  const char* const text = std::getenv("OMP_NUM_THREADS");
  if (!text) return 0;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return number >= 1 && number <= CPU_SETSIZE && *end == '\0' ? static_cast<int>(number) : 0;
}

/// The affinity masks of the ranks of this node, which `node` gets the communicator of.
PetscErrorCode masks_of_node(MPI_Comm comm, MPI_Comm& node, std::vector<cpu_set_t>& masks) {
  PetscMPIInt size = 0;
  cpu_set_t own;
  PetscFunctionBegin;
  CPU_ZERO(&own);
  // Where it cannot be found out, one core is a safe answer.
  if (sched_getaffinity(0, sizeof own, &own) != 0) CPU_SET(0, &own);
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_size(node, &size));
  masks.resize(static_cast<std::size_t>(size));
  PetscCallMPI(MPI_Allgather(&own, sizeof own, MPI_BYTE, masks.data(), sizeof own, MPI_BYTE, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int share_of_cores(std::span<const cpu_set_t> masks, int rank) {
  double cores = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &masks[static_cast<std::size_t>(rank)])) continue;
    cores += 1.0 / static_cast<double>(
                       std::ranges::count_if(masks, [&](const cpu_set_t& mask) { return CPU_ISSET(core, &mask); }));
  }
  return std::max(1, static_cast<int>(cores + 1e-9));
}

PetscErrorCode choose_threads(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  PetscMPIInt rank = 0;
  std::vector<cpu_set_t> masks;
  int requested = 0;
  PetscFunctionBegin;
  PetscCall(masks_of_node(comm, node, masks));
  PetscCallMPI(MPI_Comm_rank(node, &rank));
  PetscCallMPI(MPI_Comm_free(&node));
  PetscCall(read_threads(requested));
  const cpu_set_t& own = masks[static_cast<std::size_t>(rank)];
  const int cores = std::max(1, CPU_COUNT(&own)), ranks = ranks_on(masks, own);
  const char* reason = "its share";
  int threads = share_of_cores(masks, rank);
  if (requested == 0 && openmp_threads() > 0 && openmp_threads() < threads) {
    threads = openmp_threads();
    reason = "OMP_NUM_THREADS";
  }
  if (requested > 0) {
    threads = std::min(requested, cores);
    reason = requested > cores ? "-mat_weft_threads is more than its cores" : "-mat_weft_threads";
  }
  share = {threads, std::to_string(cores) + (cores == 1 ? " core, " : " cores, ") + std::to_string(ranks) +
                        (ranks == 1 ? " rank" : " ranks") + " on them: " + reason};
  PetscCall(guarded([&] { set_threads(threads); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const ThreadShare& thread_share() { return share; }

}  // namespace weft::petsc
