#include "solve_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include "solvers.hpp"

namespace weft::bench {
namespace {

Csr<double> of_entries(Index size, std::vector<std::tuple<Index, Index, double>> entries) {
  std::vector<Offset> offsets(static_cast<std::size_t>(size) + 1, 0);
  std::vector<Index> columns;
  std::vector<double> values;
  for (const auto& [row, column, value] : entries) {
    ++offsets[static_cast<std::size_t>(row) + 1];
    columns.push_back(column);
    values.push_back(value);
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(size); ++row) offsets[row + 1] += offsets[row];
  return make_csr<double>(size, size, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                          Array<double>(std::move(values)));
}

TEST(Solvers, AreChosenBySymmetryAndTheDiagonal) {
  const Csr<double> positive = of_entries(2, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, 2}});
  const Csr<double> indefinite = of_entries(2, {{0, 0, 2}, {0, 1, 1}, {1, 0, 1}, {1, 1, -2}});
  const Csr<double> unsymmetric = of_entries(2, {{0, 0, 2}, {0, 1, 1}, {1, 1, -2}});
  EXPECT_EQ(choose_solver(positive, "auto", "auto").name(), "cg+jacobi");
  EXPECT_EQ(choose_solver(indefinite, "auto", "auto").name(), "minres+none");
  EXPECT_EQ(choose_solver(unsymmetric, "auto", "auto").name(), "bicgstab+jacobi");
  EXPECT_EQ(choose_solver(indefinite, "gmres", "auto").name(), "gmres+jacobi");
  EXPECT_EQ(choose_solver(positive, "auto", "none").name(), "cg+none");
  EXPECT_EQ(choose_solver(positive, "gmres", "none").reason, "as requested");
}

TEST(Solvers, AreFoundByTheirNames) {
  for (const std::string& name : method_names()) EXPECT_TRUE(is_method(name)) << name;
  for (const std::string& name : preconditioner_names()) EXPECT_TRUE(is_preconditioner(name)) << name;
  EXPECT_FALSE(is_method("lu"));
  EXPECT_FALSE(is_preconditioner("ilu"));
  EXPECT_THROW(peers_of("lu"), Error);
}

SolveRunOptions quick(std::vector<std::string> formats) {
  return {.device = Device::cpu(), .formats = std::move(formats), .seconds = 0.01, .repeats = 3};
}

TEST(SolveRun, MeasuresEveryFormatWithTheSameAnswer) {
  std::vector<std::string> notes;
  const Csr<double> matrix = generate<double>("gen:poisson2d:15");
  const SolveCase one = run_solve_case("here", matrix, quick({"csr", "sell"}), notes);
  ASSERT_EQ(one.measurements.size(), 2U);
  for (const SolveMeasurement& m : one.measurements) {
    EXPECT_TRUE(m.counts()) << m.failure;
    EXPECT_TRUE(m.repeatable);
    EXPECT_LE(m.relative_residual, 1e-8);
    EXPECT_GT(m.relative_residual, 1e-12) << "it is computed, not taken";
    EXPECT_EQ(m.solver(), "cg+jacobi");
    EXPECT_GT(m.plan_seconds, 0);
    EXPECT_GT(m.preconditioner_seconds, 0);
    EXPECT_GE(m.solves, 1);
    EXPECT_LE(m.solves, 2);
    EXPECT_GE(m.rank, 1);
  }
}

TEST(SolveRun, AFormatThatRefusesKeepsItsPlace) {
  std::vector<std::string> notes;
  const SolveCase one = run_solve_case("here", generate<double>("gen:arrow:20000"), quick({"ell", "csr"}), notes);
  ASSERT_EQ(one.measurements.size(), 2U);
  EXPECT_FALSE(one.measurements[0].failure.empty());
  EXPECT_TRUE(one.measurements[1].measured());
}

TEST(SolveRun, ProgressThatSaysNoEndsIt) {
  std::vector<std::string> notes;
  SolveRunOptions options = quick({"csr", "sell"});
  options.progress = [](double share) { return share < 0.4; };
  const Csr<double> matrix = generate<double>("gen:poisson2d:15");
  try {
    run_solve_case("here", matrix, options, notes);
    FAIL() << "it went on";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

SolveMeasurement taking(const std::string& name, double setup, double solve, std::int64_t iterations, bool peer) {
  SolveMeasurement m{.name = name, .method = "cg", .preconditioner = "jacobi", .peer = peer};
  m.plan_seconds = setup;
  m.solve.median = solve;
  m.iterations = iterations;
  m.reached = true;
  return m;
}

TEST(SolveRun, ComparesTheTimeInAllAndTheTimeOfAnIteration) {
  SolveCase one;
  one.measurements = {taking("auto", 3, 5, 10, false), taking("csr", 1, 7.2, 10, false),
                      taking("petsc", 1, 15, 10, true), taking("petsc", 6, 6, 2, true)};
  one.measurements[3].preconditioner = "gamg";
  compare(one);
  EXPECT_EQ(one.measurements[0].rank, 1);
  EXPECT_EQ(one.measurements[1].rank, 1) << "within 5 %";
  EXPECT_EQ(one.measurements[3].rank, 3);
  EXPECT_EQ(one.measurements[2].rank, 4);
  EXPECT_DOUBLE_EQ(one.measurements[0].peer_ratio.value(), 12.0 / 8) << "the soonest peer, whatever it solves with";
  EXPECT_DOUBLE_EQ(one.measurements[0].iteration_ratio.value(), 1.5 / 0.5) << "the same solver only";
  EXPECT_FALSE(one.measurements[2].peer_ratio.has_value());
}

TEST(SolveRun, WhatWasNotReachedIsNotCompared) {
  SolveCase one;
  one.measurements = {taking("auto", 1, 1, 10, false), taking("csr", 0.1, 0.1, 10, false),
                      taking("petsc", 0, 0.1, 1, true)};
  one.measurements[1].reached = one.measurements[2].reached = false;
  compare(one);
  EXPECT_EQ(one.measurements[0].rank, 1);
  EXPECT_EQ(one.measurements[1].rank, 0);
  EXPECT_FALSE(one.measurements[0].peer_ratio.has_value());
  SolveBenchReport report;
  report.cases = {one};
  EXPECT_FALSE(report.all_reached());
  report.cases[0].measurements[1].reached = true;
  EXPECT_TRUE(report.all_reached()) << "peers do not count";
}

}  // namespace
}  // namespace weft::bench
