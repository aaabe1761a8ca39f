#pragma once
#include <mutex>
#include <string>

#include "shared_library.hpp"

namespace weft::bench {

/// The functions of PETSc that its peers call, found at run time, and the start of PETSc and its MPI.
struct PetscLibrary {
  using Communicator = void*;  // Open MPI has a pointer, MPICH a number that is passed alike
  struct Matrix;
  struct Vector;
  struct Solver;
  struct Preconditioner;

  SharedLibrary file;
  int (*get_version)(int*, int*, int*, int*) = nullptr;
  int (*initialize)() = nullptr;
  int (*push_handler)(void*, void*) = nullptr;
  void* return_errors = nullptr;
  int (*explain)(int error, const char** text, char** special) = nullptr;
  int (*matrix_from_csr)(Communicator, int rows, int cols, int* offsets, int* columns, double* values,
                         Matrix**) = nullptr;
  int (*vector_around)(Communicator, int block, int size, const double*, Vector**) = nullptr;
  int (*place)(Vector*, const double*) = nullptr;
  int (*reset)(Vector*) = nullptr;
  int (*multiply)(Matrix*, Vector*, Vector*) = nullptr;
  int (*destroy_matrix)(Matrix**) = nullptr;
  int (*destroy_vector)(Vector**) = nullptr;
  int (*set_block_size)(Matrix*, int) = nullptr;
  int (*create_solver)(Communicator, Solver**) = nullptr;
  int (*set_operators)(Solver*, Matrix*, Matrix*) = nullptr;
  int (*set_solver_type)(Solver*, const char*) = nullptr;
  int (*set_restart)(Solver*, int) = nullptr;
  int (*set_tolerances)(Solver*, double rtol, double atol, double divergence, int max_iterations) = nullptr;
  int (*set_norm)(Solver*, int) = nullptr;
  int (*set_side)(Solver*, int) = nullptr;
  int (*get_preconditioner)(Solver*, Preconditioner**) = nullptr;
  int (*set_preconditioner_type)(Preconditioner*, const char*) = nullptr;
  int (*set_up)(Solver*) = nullptr;
  int (*solve)(Solver*, Vector* b, Vector* x) = nullptr;
  int (*get_iterations)(Solver*, int*) = nullptr;
  int (*get_reason)(Solver*, int*) = nullptr;
  int (*destroy_solver)(Solver**) = nullptr;
  Communicator self = nullptr;
  std::string problem;
  std::string version;

  static PetscLibrary& instance();

  /// Starts MPI and PETSc, once a process. They are never ended: others may still use them, and the process ends soon.
  /// Throws Error(unsupported) when they do not start.
  void start();

  /// Throws Error(unsupported) with PETSc's sentence when `error` is not 0.
  void require(int error) const;

 private:
  PetscLibrary();
  void find_communicator();

  std::once_flag started_;
  int start_error_ = 0;
};

}  // namespace weft::bench
