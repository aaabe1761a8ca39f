#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/spmv.hpp>

#include <cmath>
#include <cstdlib>

#include "bench/harness/workspace.hpp"
#include "solver_peer.hpp"

namespace weft::bench {
namespace {

/// CI installs every library there is for the CPU and says so; elsewhere those that are absent are skipped.
bool all_required() { return std::getenv("WEFT_REQUIRE_PEERS") != nullptr; }

template <Value V>
std::vector<std::unique_ptr<SolverPeer<V>>> cpu_solvers(const SolveTask& task) {
  std::vector<std::string> missing;
  auto solvers = find_solver_peers<V>(Device::cpu(), task, "all", missing);
  if (all_required()) {
    EXPECT_THAT(missing, testing::IsEmpty());
  }
  return solvers;
}

template <Value V>
bool takes_only_f64(const SolverPeer<V>& solver) {
  return solver.library() == "petsc" && std::is_same_v<V, float>;
}

template <Value V>
double relative_residual(const Csr<V>& matrix, const Array<V>& b, const Array<V>& x) {
  double squares = 0, size = 0;
  for (Index row = 0; row < matrix.rows; ++row) {
    double sum = b[row];
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      sum -= static_cast<double>(matrix.values[k]) * static_cast<double>(x[matrix.columns[k]]);
    squares += sum * sum;
    size += static_cast<double>(b[row]) * static_cast<double>(b[row]);
  }
  return std::sqrt(squares / size);
}

/// -u'' + c u' by differences, not symmetric.
template <Value V>
Csr<V> convection(Index rows) {
  std::vector<Offset> offsets = {0};
  std::vector<Index> columns;
  std::vector<V> values;
  for (Index row = 0; row < rows; ++row) {
    for (const auto& [column, value] : {std::pair(row - 1, -1.5), std::pair(row, 2.5), std::pair(row + 1, -0.5)})
      if (column >= 0 && column < rows) {
        columns.push_back(column);
        values.push_back(static_cast<V>(value));
      }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return make_csr<V>(rows, rows, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                     Array<V>(std::move(values)));
}

template <class V>
class PeersThatSolveIn : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(PeersThatSolveIn, Types);

TYPED_TEST(PeersThatSolveIn, ComeWithinTheToleranceEachTime) {
  using V = TypeParam;
  const double rtol = sizeof(V) == 8 ? 1e-8 : 1e-4;
  const std::pair<std::string, Csr<V>> cases[] = {
      {"cg", generate<V>("gen:elasticity3d:4")}, {"bicgstab", convection<V>(300)}, {"gmres", convection<V>(300)}};
  for (const auto& [method, matrix] : cases)
    for (const char* preconditioner : {"jacobi", "none"}) {
      const Array<V> b = random_vector<V>(static_cast<std::size_t>(matrix.rows), 5);
      for (auto& solver : cpu_solvers<V>({.method = method, .preconditioner = preconditioner, .rtol = rtol})) {
        SCOPED_TRACE(solver->name());
        EXPECT_EQ(solver->method(), method);
        if (takes_only_f64(*solver)) continue;
        solver->prepare(matrix);
        std::int64_t iterations = 0;
        for (int repeat = 0; repeat < 2; ++repeat) {
          Array<V> x(b.size(), V(9));  // they begin from 0 all the same
          const PeerSolve outcome = solver->solve(b.data(), x.data());
          EXPECT_TRUE(outcome.converged) << outcome.status;
          EXPECT_LE(relative_residual(matrix, b, x), 1.5 * rtol);
          EXPECT_GT(outcome.seconds, 0);
          EXPECT_GE(outcome.iterations, 1);  // an incomplete factorization of three diagonals is complete
          EXPECT_LT(outcome.iterations, 300);
          if (repeat == 1) {
            EXPECT_EQ(outcome.iterations, iterations);
          }
          iterations = outcome.iterations;
        }
      }
    }
}

TEST(PeersThatSolve, TellWhenTheyDidNotComeThere) {
  const Csr<double> matrix = generate<double>("gen:poisson2d:20");
  const Array<double> b = random_vector<double>(400, 5);
  for (auto& solver : cpu_solvers<double>({.max_iterations = 3})) {
    if (solver->preconditioner() == "gamg") continue;  // needs no more
    SCOPED_TRACE(solver->name());
    solver->prepare(matrix);
    Array<double> x(400);
    const PeerSolve outcome = solver->solve(b.data(), x.data());
    EXPECT_FALSE(outcome.converged);
    EXPECT_EQ(outcome.status, "not converged");
    EXPECT_GE(outcome.iterations, 3);
    EXPECT_LE(outcome.iterations, 4);
  }
}

TEST(PeersThatSolve, TellWhatTheyAre) {
  const Csr<double> matrix = generate<double>("gen:poisson2d:9");
  for (auto& solver : cpu_solvers<double>({})) {
    SCOPED_TRACE(solver->name());
    solver->prepare(matrix);
    const PeerInfo info = solver->info();
    EXPECT_THAT(info.version, testing::MatchesRegex("[0-9]+[.][0-9.]+"));
    EXPECT_FALSE(info.details.empty());
    EXPECT_GE(info.bytes, matrix.values.bytes());
    EXPECT_GE(info.start_seconds, 0);
  }
}

TEST(PeersThatSolve, PetscHasWhatItsUsersWouldTakeInstead) {
  std::vector<std::string> missing;
  const auto solvers = find_solver_peers<double>(Device::cpu(), {}, "petsc", missing);
  if (solvers.empty()) {
    EXPECT_FALSE(all_required());
    GTEST_SKIP() << missing.front();
  }
  std::vector<std::string> names;
  for (const auto& solver : solvers) names.push_back(solver->name());
  EXPECT_THAT(names, testing::ElementsAre("petsc:cg+jacobi", "petsc:cg+icc", "petsc:cg+gamg"));
  const auto one = find_solver_peers<double>(Device::cpu(), {}, "petsc:cg+icc", missing);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_EQ(one.front()->name(), "petsc:cg+icc");
}

TEST(PeersThatSolve, PetscRefusesSinglePrecisionInASentence) {
  std::vector<std::string> missing;
  const auto solvers = find_solver_peers<float>(Device::cpu(), {}, "petsc", missing);
  if (solvers.empty()) GTEST_SKIP() << missing.front();
  const Csr<float> matrix = generate<float>("gen:poisson2d:4");
  try {
    solvers.front()->prepare(matrix);
    FAIL() << "it took f32";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("f64"));
  }
}

TEST(PeersThatSolve, AreNotedWhenNamedAndAbsent) {
  for (const char* name : {"mkl", "torch", "cusparse"}) {
    std::vector<std::string> missing;
    EXPECT_TRUE(find_solver_peers<double>(Device::cpu(), {}, name, missing).empty());
    ASSERT_EQ(missing.size(), 1U);
    EXPECT_THAT(missing.front(), testing::StartsWith(std::string("no comparison with ") + name + ": "));
  }
  std::vector<std::string> missing;
  EXPECT_TRUE(find_solver_peers<double>(Device::cpu(), {.method = "minres"}, "all", missing).empty());
  EXPECT_TRUE(find_solver_peers<double>(Device::emulator(), {}, "all", missing).empty());
  EXPECT_THAT(missing, testing::IsEmpty());
}

}  // namespace
}  // namespace weft::bench
