#include "plan/choices.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft {
namespace {

/// A cache folder of the test's own.
class Choices : public ::testing::Test {
 protected:
  Choices() {
    if (const char* const before = std::getenv("WEFT_CACHE")) before_ = before;
    use("one");
  }
  ~Choices() override {
    if (before_)
      setenv("WEFT_CACHE", before_->c_str(), 1);
    else
      unsetenv("WEFT_CACHE");
    std::filesystem::remove_all(folder_);
  }
  void use(const std::string& name) { setenv("WEFT_CACHE", (folder_ / name).c_str(), 1); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("weft-choices-test-" + std::to_string(::getpid()));
  std::optional<std::string> before_;
};

const PastChoice some{"csr:merge", {{"csr:merge", 1.5e-3}, {"sell", 2e-3}}};

TEST_F(Choices, AreKeptAsTextAndReadBack) {
  const std::vector<KeptChoice> two{{"0123", some}, {"4567", {"rcm+sell", {}}}};
  EXPECT_EQ(parse_choices(to_text(two)), two);
}

TEST_F(Choices, LinesThatAreNoneAreLeftOut) {
  EXPECT_TRUE(parse_choices("").empty());
  EXPECT_TRUE(
      parse_choices("lonely\n\n# note\nkey csr sell\nkey csr sell fast\nkey csr sell -1\nkey csr sell nan\n").empty());
  EXPECT_EQ(parse_choices("\x01\xff\nkey csr sell 1e-3 trailing\nkey csr sell 1e-3").size(), 1u);
}

TEST_F(Choices, AreThereForOtherPrograms) {
  EXPECT_FALSE(past_choice(Device::cpu(), "key"));
  keep_choice(Device::cpu(), "key", some);
  EXPECT_EQ(past_choice(Device::cpu(), "key"), some);
  // What another program wrote meanwhile stays there.
  const std::string file = choices_file(Device::cpu());
  std::ofstream(file, std::ios::app) << "other sell\n";
  keep_choice(Device::cpu(), "third", some);
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  EXPECT_EQ(parse_choices(text).size(), 3u);
  std::filesystem::copy(folder_ / "one", folder_ / "two");
  use("two");
  EXPECT_EQ(past_choice(Device::cpu(), "other"), (PastChoice{"sell", {}}));
}

TEST_F(Choices, CanBeForgotten) {
  keep_choice(Device::cpu(), "key", some);
  forget_choices(Device::cpu());
  EXPECT_FALSE(past_choice(Device::cpu(), "key"));
  EXPECT_FALSE(std::filesystem::exists(choices_file(Device::cpu())));
}

TEST_F(Choices, WithoutAFolderAreKeptInThisProgram) {
  std::ofstream(folder_.string() + "-file") << "not a folder";
  setenv("WEFT_CACHE", (folder_.string() + "-file/below").c_str(), 1);
  keep_choice(Device::cpu(), "key", some);
  EXPECT_EQ(past_choice(Device::cpu(), "key"), some);
  std::filesystem::remove(folder_.string() + "-file");
}

TEST_F(Choices, ThousandsOfThemDropTheOldest) {
  std::vector<KeptChoice> many;
  for (int i = 0; i < 5000; ++i) many.push_back({std::to_string(i), {"csr", {}}});
  std::filesystem::create_directories(folder_ / "one");
  std::ofstream(choices_file(Device::cpu())) << to_text(many);
  keep_choice(Device::cpu(), "new", some);
  use("two");
  std::filesystem::copy(folder_ / "one", folder_ / "two");
  EXPECT_TRUE(past_choice(Device::cpu(), "new"));
  EXPECT_TRUE(past_choice(Device::cpu(), "4999"));
  EXPECT_FALSE(past_choice(Device::cpu(), "0"));
}

TEST_F(Choices, ASecondPlanIsTheFirstWithoutTrials) {
  const auto matrix = generate<double>("gen:poisson3d:16");
  for (const Device device : available_devices()) {
    const PlanInfo first = plan(matrix, {.device = device, .products = 4321}).info();
    const PlanInfo second = plan(matrix, {.device = device, .products = 4321}).info();
    EXPECT_FALSE(first.remembered);
    EXPECT_TRUE(second.remembered) << second;
    EXPECT_EQ(second.recipe, first.recipe);
    EXPECT_EQ(second.product_seconds, first.product_seconds);
    EXPECT_EQ(second.tried_seconds, 0);
    ASSERT_EQ(second.candidates.size(), first.candidates.size());
    for (std::size_t i = 0; i < first.candidates.size(); ++i) {
      // Nine digits are kept.
      EXPECT_NEAR(second.candidates[i].product_seconds, first.candidates[i].product_seconds, 1e-12);
      EXPECT_EQ(second.candidates[i].verdict.starts_with("chosen"), first.candidates[i].verdict.starts_with("chosen"));
    }
    EXPECT_FALSE(plan(matrix, {.device = device, .products = 4321, .remember = false}).info().remembered);
    EXPECT_FALSE(plan(matrix, {.device = device, .products = 4322}).info().remembered);
    forget_choices(device);
    EXPECT_FALSE(plan(matrix, {.device = device, .products = 4321}).info().remembered);
  }
}

TEST_F(Choices, AnOldChoiceThatIsNotThereIsMadeAgain) {
  const auto matrix = generate<double>("gen:poisson3d:16");
  plan(matrix, {.products = 4321});
  std::ifstream stream(choices_file(Device::cpu()));
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  const std::vector<KeptChoice> kept = parse_choices(text);
  ASSERT_EQ(kept.size(), 1u);
  keep_choice(Device::cpu(), kept[0].key, {"a format of the past", {}});
  const PlanInfo info = plan(matrix, {.products = 4321}).info();
  EXPECT_FALSE(info.remembered);
  EXPECT_EQ(past_choice(Device::cpu(), kept[0].key)->format, kept[0].choice.format) << info;
}

}  // namespace
}  // namespace weft
