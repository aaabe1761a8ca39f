#include "papers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

namespace weft::bench {
namespace {

using testing::HasSubstr;

/// Keeps what a paper shows.
struct Shown {
  std::string tables;
  std::vector<std::string> labels;

  PaperRun run(std::vector<std::string> sources) {
    return {.sources = std::move(sources),
            .types = {ValueType::f64},
            .run = {.device = Device::cpu(), .seconds = 0.001, .groups = 1},
            .command = "weft bench",
            .show = [this](const std::string& text) { tables += text; },
            .note = [](const std::string&) {},
            .follow =
                [this](const std::string& label, const std::function<void(const Progress&)>& work) {
                  labels.push_back(label);
                  work({});
                }};
  }
};

TEST(Papers, EachOfTheListFillsItsTablesAndItsJson) {
  std::set<std::string> names;
  for (const Paper& paper : papers()) {
    SCOPED_TRACE(paper.name);
    EXPECT_TRUE(names.insert(paper.name).second);
    EXPECT_THAT(papers_text(), HasSubstr(paper.name + " (f"));
    Shown shown;
    const PaperResult result = paper.run(shown.run({"gen:poisson2d:12"}));
    EXPECT_TRUE(result.correct);
    EXPECT_FALSE(result.stopped);
    EXPECT_THAT(shown.tables, HasSubstr("gen:poisson2d:12"));
    EXPECT_THAT(shown.labels, testing::ElementsAre("reading gen:poisson2d:12", "measuring gen:poisson2d:12 f64"));
    const auto json = nlohmann::json::parse(result.json);
    EXPECT_EQ(json["tool"], "weft bench --paper " + paper.name);
    EXPECT_EQ(json["command"], "weft bench");
    ASSERT_EQ(json["matrices"].size(), 1u);
    EXPECT_EQ(json["matrices"][0]["source"], "gen:poisson2d:12");
  }
}

TEST(Papers, KeepWhatWasMeasuredBeforeAMatrixThatCannotBeRead) {
  for (const Paper& paper : papers()) {
    SCOPED_TRACE(paper.name);
    Shown shown;
    const PaperResult result = paper.run(shown.run({"gen:poisson2d:8", "gen:nothing"}));
    EXPECT_THROW(std::rethrow_exception(result.stopped), Error);
    EXPECT_EQ(nlohmann::json::parse(result.json)["matrices"].size(), 1u);
    EXPECT_THAT(shown.tables, HasSubstr("gen:poisson2d:8"));
    EXPECT_THROW(paper.run(shown.run({"gen:nothing"})), Error);
  }
}

}  // namespace
}  // namespace weft::bench
