// Times MatMult of a matrix of the type -mat_type: products.py starts it with AIJ and with Weft in turns.
//   -problem laplacian   7-point Laplacian on n^3 points, 7 entries per row
//   -problem elasticity  27-point stencil with 3 x 3 blocks on n^3 nodes, as hexahedra of first order have: 81 per row
#include <petscmat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace {

#if !PETSC_VERSION_GE(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

struct Problem {
  PetscInt n = 40;
  PetscInt unknowns = 1;
  bool corners = false;  // 27 neighbours instead of 7

  PetscInt rows() const { return n * n * n * unknowns; }
  PetscInt entries_per_row() const { return (corners ? 27 : 7) * unknowns; }
};

/// The columns of the rows of one node, ascending.
void neighbours(const Problem& problem, PetscInt node, std::vector<PetscInt>& columns) {
  const PetscInt n = problem.n, x = node % n, y = node / n % n, z = node / n / n;
  columns.clear();
  for (PetscInt dz = -1; dz <= 1; ++dz)
    for (PetscInt dy = -1; dy <= 1; ++dy)
      for (PetscInt dx = -1; dx <= 1; ++dx) {
        if (!problem.corners && dx * dx + dy * dy + dz * dz > 1) continue;
        if (std::min({x + dx, y + dy, z + dz}) < 0 || std::max({x + dx, y + dy, z + dz}) >= n) continue;
        const PetscInt other = node + dx + n * (dy + n * dz);
        for (PetscInt k = 0; k < problem.unknowns; ++k) columns.push_back(other * problem.unknowns + k);
      }
}

PetscErrorCode create(const Problem& problem, Mat* matrix) {
  PetscInt begin = 0, end = 0, local = PETSC_DECIDE, nodes = problem.n * problem.n * problem.n;
  std::vector<PetscInt> columns;
  std::vector<PetscScalar> values;
  PetscFunctionBegin;
  PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &local, &nodes));
  PetscCall(MatCreate(PETSC_COMM_WORLD, matrix));
  PetscCall(MatSetSizes(*matrix, local * problem.unknowns, local * problem.unknowns, problem.rows(), problem.rows()));
  PetscCall(MatSetFromOptions(*matrix));
  PetscCall(MatSetBlockSize(*matrix, problem.unknowns));
  PetscCall(MatSeqAIJSetPreallocation(*matrix, problem.entries_per_row(), nullptr));
  PetscCall(MatMPIAIJSetPreallocation(*matrix, problem.entries_per_row(), nullptr, problem.entries_per_row(), nullptr));
  PetscCall(MatGetOwnershipRange(*matrix, &begin, &end));
  for (PetscInt row = begin; row < end; ++row) {
    neighbours(problem, row / problem.unknowns, columns);
    values.assign(columns.size(), -1);
    for (std::size_t k = 0; k < columns.size(); ++k)
      values[k] = columns[k] == row ? 100 : -1 - 0.001 * static_cast<double>((row + columns[k]) % 97);
    PetscCall(MatSetValues(*matrix, 1, &row, static_cast<PetscInt>(columns.size()), columns.data(), values.data(),
                           INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Seconds of `count` products, on the slowest rank.
PetscErrorCode time_products(Mat matrix, Vec x, Vec y, PetscInt count, double& seconds) {
  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  double elapsed = -MPI_Wtime();
  for (PetscInt i = 0; i < count; ++i) PetscCall(MatMult(matrix, x, y));
  elapsed += MPI_Wtime();
  PetscCallMPI(MPI_Allreduce(&elapsed, &seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode run() {
  std::array<char, 32> name{"laplacian"};
  Problem problem;
  Mat matrix = nullptr;
  Vec x = nullptr, y = nullptr;
  PetscInt groups = 9, count = 10;
  MatType type = nullptr;
  MatInfo info;
  PetscMPIInt ranks = 0;
  double first = 0;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(nullptr, nullptr, "-problem", name.data(), name.size(), nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-n", &problem.n, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-groups", &groups, nullptr));
  PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-products", &count, nullptr));
  problem.corners = std::strcmp(name.data(), "elasticity") == 0;
  problem.unknowns = problem.corners ? 3 : 1;
  PetscCall(create(problem, &matrix));
  PetscCall(MatCreateVecs(matrix, &x, &y));
  PetscCall(VecSet(x, 1));
  PetscCall(time_products(matrix, x, y, 1, first));
  std::vector<double> times(static_cast<std::size_t>(groups));
  for (double& seconds : times) PetscCall(time_products(matrix, x, y, count, seconds));
  std::ranges::sort(times);
  PetscCall(MatGetInfo(matrix, MAT_GLOBAL_SUM, &info));
  PetscCall(MatGetType(matrix, &type));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  const double divisor = static_cast<double>(count);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "{\"type\": \"%s\", \"ranks\": %d, \"rows\": %" PetscInt_FMT
                        ", \"nonzeros\": %.0f, \"first\": %.6g, \"median\": %.6g, \"best\": %.6g}\n",
                        type, ranks, problem.rows(), info.nz_used, first, times[times.size() / 2] / divisor,
                        times.front() / divisor));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, nullptr, nullptr));
  PetscCall(run());
  PetscCall(PetscFinalize());
  return 0;
}
