#include "paper_case.hpp"

#include <gtest/gtest.h>
#include <weft/error.hpp>
#include <weft/generate.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/harness/testing.hpp"
#include "bench/report/writer.hpp"

namespace weft::bench {
namespace {

TEST(Papers, AFilesMatrixIsKnownByItsStem) {
  EXPECT_EQ(stem_of("some.where/cant.mtx.gz"), "cant");
  EXPECT_EQ(stem_of("webbase-1M.weft"), "webbase-1M");
  EXPECT_EQ(stem_of("cant"), "cant");
  EXPECT_EQ(stem_of("gen:cant"), "");
  EXPECT_EQ(find_name({"cant", "pwtk"}, "a/pwtk.mtx"), "pwtk");
  EXPECT_EQ(find_name({"cant", "pwtk"}, "a/PWTK.mtx"), "");
  EXPECT_EQ(find_name({"cant", ""}, "gen:cant"), "");
}

TEST(Papers, AFolderStandsForTheFilesAPaperNamesInItsOrder) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "weft-papers";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "pwtk");  // no file
  try {
    expand_folders({folder.string()}, {"pwtk", "cant"}, "Table 7");
    FAIL() << "a folder without a matrix was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::io);
    EXPECT_NE(std::string(error.what()).find("has no matrix of the paper's Table 7"), std::string::npos);
  }
  for (const char* name : {"cant.weft", "cant.mtx", "F1.mtx.gz", "other.mtx"}) std::ofstream(folder / name) << "";
  const std::vector<std::string> expected = {"no-such-file.mtx", (folder / "F1.mtx.gz").string(),
                                             (folder / "cant.mtx").string()};
  EXPECT_EQ(expand_folders({"no-such-file.mtx", folder.string()}, {"F1", "pwtk", "cant"}, "Table 7"), expected);
  std::filesystem::remove_all(folder);
}

TEST(Papers, ASpeedupIsOfRatios) {
  const double ratios[] = {3, 0.5, 1};
  const auto speedup = speedup_of(ratios);
  ASSERT_TRUE(speedup);
  EXPECT_EQ(speedup->matrices, 3);
  EXPECT_DOUBLE_EQ(speedup->max, 3);
  EXPECT_DOUBLE_EQ(speedup->min, 0.5);
  EXPECT_DOUBLE_EQ(speedup->mean, 1.5);
  EXPECT_DOUBLE_EQ(speedup->faster_percent, 100.0 / 3);  // as fast is not faster
  EXPECT_FALSE(speedup_of({}));
}

TEST(Papers, NamesAreThoseADeviceHas) {
  const std::vector<std::string> names = {"csr", "csr:scalar", "ell:rt", "sell:c=8:t=8", "eigen"};
  EXPECT_EQ(available_on(Device::cpu(), names), (std::vector<std::string>{"csr", "ell:rt", "sell:c=8:t=8", "eigen"}));
  EXPECT_EQ(available_on(Device::gpu(), names), names);
}

TEST(Papers, TheFastestOnTheCpuIsCsrOrAPeer) {
  PaperCase one;
  one.formats.measurements = {measured("bce", 0.1), measured("csr", 2), measured("mkl", 1, true)};
  EXPECT_EQ(one.fastest_on_cpu()->name, "mkl");
  one.formats.measurements[2].correct = false;
  EXPECT_EQ(one.fastest_on_cpu()->name, "csr");
  EXPECT_TRUE(one.correct());  // a peer's mistakes are not ours
  one.cpu = Case{};
  EXPECT_EQ(one.fastest_on_cpu(), nullptr);
  one.cpu->measurements = {measured("csr", 3)};
  EXPECT_EQ(one.fastest_on_cpu()->timing.median, 3);
  one.cpu->measurements[0].correct = false;
  EXPECT_FALSE(one.correct());
}

TEST(Papers, ACaseMeasuresTheCpuBesideAnotherDevice) {
  std::vector<std::string> notes;
  const Csr<float> matrix = generate<float>("gen:poisson2d:9");
  RunOptions options{.device = Device::cpu(), .seconds = 0.002, .groups = 2};
  const PaperCase on_cpu = run_paper_case("gen:poisson2d:9", matrix, {"csr", "ell"}, true, options, notes);
  EXPECT_FALSE(on_cpu.cpu);
  EXPECT_TRUE(on_cpu.find("ell"));
  EXPECT_FALSE(on_cpu.find("sell"));
  EXPECT_TRUE(to_json(on_cpu)["cpu"].is_null());
  options.device = Device::emulator();
  const PaperCase beside = run_paper_case("gen:poisson2d:9", matrix, {"csr:scalar"}, true, options, notes);
  ASSERT_TRUE(beside.cpu);
  EXPECT_TRUE(find_measured(*beside.cpu, "csr"));
  EXPECT_FALSE(run_paper_case("gen:poisson2d:9", matrix, {"csr:scalar"}, false, options, notes).cpu);
  EXPECT_TRUE(beside.correct());
}

}  // namespace
}  // namespace weft::bench
