// Matrices from practice, where they are: what preconditioners are for.
#include <weft/io.hpp>

#include <filesystem>

#include "solve/precondition/testing.hpp"

namespace weft {
namespace {

using namespace weft::testing;

std::string path_of(const std::string& name) { return WEFT_SHARED_DATA "/matrices/" + name + ".mtx.xz"; }

TEST(RealMatrices, FsaiSavesMostIterationsOfStiffStructures) {
  if (!std::filesystem::exists(path_of("bcsstk16"))) GTEST_SKIP() << "no shared matrices here";
  for (const char* const name : {"bcsstk16", "bcsstk18"}) {
    const auto matrix = read_matrix<double>(path_of(name));
    const auto with_jacobi = solve_with<double>(&cg<double>, matrix, jacobi(matrix));
    for (const bool single : {false, true}) {
      const auto report = solve_with<double>(&cg<double>, matrix, fsai(matrix, {.single = single}));
      EXPECT_TRUE(report.converged()) << name << ": " << report;
      EXPECT_LT(2 * report.iterations, with_jacobi.iterations) << name << ": " << report;
    }
  }
}

TEST(RealMatrices, SpaiSolvesWhatJacobiDoesNot) {
  if (!std::filesystem::exists(path_of("tols4000"))) GTEST_SKIP() << "no shared matrices here";
  for (const char* const name : {"tols4000", "adder_dcop_05"}) {  // with zeros on the diagonal
    const auto matrix = read_matrix<double>(path_of(name));
    expect_error(ErrorCode::invalid_argument, {"jacobi"}, [&] { jacobi(matrix); });
    const auto report = solve_with<double>(&bicgstab<double>, matrix, spai(matrix));
    EXPECT_TRUE(report.converged()) << name << ": " << report;
  }
}

TEST(RealMatrices, SpaiSavesIterationsOfFlows) {
  if (!std::filesystem::exists(path_of("sherman5"))) GTEST_SKIP() << "no shared matrices here";
  for (const char* const name : {"sherman5", "orsreg_1", "muelu_A5submatrix"}) {
    const auto matrix = read_matrix<double>(path_of(name));
    const auto with_jacobi = solve_with<double>(&gmres<double>, matrix, jacobi(matrix));
    const auto report = solve_with<double>(&gmres<double>, matrix, spai(matrix));
    EXPECT_TRUE(report.converged()) << name << ": " << report;
    EXPECT_LT(2 * report.iterations, with_jacobi.iterations) << name << ": " << report;
  }
}

}  // namespace
}  // namespace weft
