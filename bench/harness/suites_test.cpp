#include "suites.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>
#include <weft/generate.hpp>

#include <filesystem>
#include <fstream>

namespace weft::bench {
namespace {

/// A folder of its own for each test, removed afterwards.
class Suites : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("weft-suites-") + info->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::vector<std::string> real(int count) const { return suite_sources("real", folder_.string(), count); }

  std::filesystem::path folder_;
};

TEST_F(Suites, AreMadeOfGeneratorsThatExist) {
  for (const std::string& suite : suite_names()) {
    if (suite == "real") continue;
    const std::vector<std::string> sources = suite_sources(suite, "", 20);
    EXPECT_GE(sources.size(), 5u);
    for (const std::string& source : sources) {
      const std::string name = source.substr(4, source.find(':', 4) - 4);
      EXPECT_TRUE(std::ranges::any_of(generators(), [&](const auto& one) { return one.name == name; })) << source;
    }
  }
}

TEST_F(Suites, GpuTakesTheMeshesOfAFolderWithBothEquations) {
  write("b.msh", "");
  write("a.msh.xz", "");
  write("notes.txt", "");
  const std::size_t before = suite_sources("gpu", "", 20).size();
  std::vector<std::string> sources = suite_sources("gpu", folder_.string(), 20);
  sources.erase(sources.begin(), sources.begin() + static_cast<long>(before));
  EXPECT_THAT(sources, testing::ElementsAre(
                           "fem:" + path("a.msh.xz") + ":elasticity:p2", "fem:" + path("a.msh.xz") + ":poisson:p2",
                           "fem:" + path("b.msh") + ":elasticity:p2", "fem:" + path("b.msh") + ":poisson:p2"));
}

TEST_F(Suites, RealIsSpreadOverTheSizesOfTheIndex) {
  write("INDEX.tsv", "name\tfile\tnonzeros\r\nd\td.mtx\t400\r\na\ta.mtx\t1\r\n\r\nc\tc.mtx\t30\r\nb\tb.mtx\t2\r\n");
  EXPECT_THAT(real(20), testing::ElementsAre(path("a.mtx"), path("b.mtx"), path("c.mtx"), path("d.mtx")));
  EXPECT_THAT(real(2), testing::ElementsAre(path("b.mtx"), path("d.mtx")));
  EXPECT_THAT(real(1), testing::ElementsAre(path("d.mtx")));
}

TEST_F(Suites, RealLeavesOutMatricesTooSmallToTell) {
  write("INDEX.tsv", "file\tnnz\na.mtx\t9999\nb.mtx\t10000\nc.mtx\t2e6\n");
  EXPECT_THAT(real(20), testing::ElementsAre(path("b.mtx"), path("c.mtx")));
}

TEST_F(Suites, RealWithoutAnIndexTakesTheMatrixFiles) {
  write("large.mtx.gz", "0123456789");
  write("small.weft", "0");
  write("readme.md", "");
  EXPECT_THAT(real(20), testing::ElementsAre(path("small.weft"), path("large.mtx.gz")));
}

TEST_F(Suites, RealSaysWhatIsWrongWithAFolder) {
  EXPECT_THROW(real(5), Error);  // empty
  EXPECT_THROW(suite_sources("real", path("missing"), 5), Error);
  write("INDEX.tsv", "name\tpath\nx\tx.mtx\n");
  try {
    real(5);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), path("INDEX.tsv") + ":1: expected a column 'file' among the titles, which tabs separate");
  }
}

}  // namespace
}  // namespace weft::bench
