#pragma once
#include <sched.h>

#include <span>
#include <string>

#include "petsc.hpp"

namespace weft::petsc {

/// How many threads a rank may use so that no core of its node has two.
struct ThreadShare {
  int threads = 1;
  std::string why;  ///< in words: "2 of 2 cores, 1 rank on them"
};

/// The share of rank `rank` among ranks with these affinity masks: each core is divided among those that may run on it.
/// At least 1.
int share_of_cores(std::span<const cpu_set_t> masks, int rank);

/// Sets the threads of Weft on this rank: -mat_weft_threads, else its share of the cores or OMP_NUM_THREADS if that is
/// less; never more than it has cores. Collective over `comm`.
PetscErrorCode choose_threads(MPI_Comm comm);

/// What choose_threads found.
const ThreadShare& thread_share();

}  // namespace weft::petsc
