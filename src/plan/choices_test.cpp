#include "plan/choices.hpp"

#include <gtest/gtest.h>
#include <unistd.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "order/testing.hpp"

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
  static std::vector<KeptChoice> all_kept() {
    std::ifstream stream(choices_file(Device::cpu()));
    return parse_choices({std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()});
  }
  void use(const std::string& name) { setenv("WEFT_CACHE", (folder_ / name).c_str(), 1); }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("weft-choices-" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "-" +
       std::to_string(::getpid()));
  std::optional<std::string> before_;
};

const PastChoice some{"csr:merge", {{"csr:merge", 1.5e-3}, {"sell", 2e-3}}};

TEST_F(Choices, KeysTellApartWhatWasAdded) {
  const auto key = [](std::initializer_list<std::string_view> parts, double number) {
    ChoiceKey result;
    for (const std::string_view part : parts) result.add(part);
    result.add(number);
    return result.word();
  };
  EXPECT_EQ(key({"a", "b"}, 1), key({"a", "b"}, 1));
  EXPECT_NE(key({"a", "b"}, 1), key({"ab"}, 1));
  EXPECT_NE(key({"a", "b"}, 1), key({"b", "a"}, 1));
  EXPECT_NE(key({"a"}, 1), key({"a"}, 1.0000001));
  EXPECT_EQ(key({}, 0).size(), 16u);
}

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
  EXPECT_EQ(all_kept().size(), 3u);
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
  const std::vector<KeptChoice> kept = all_kept();
  ASSERT_EQ(kept.size(), 1u);
  keep_choice(Device::cpu(), kept[0].key, {"format-of-the-past", {}});
  const PlanInfo info = plan(matrix, {.products = 4321}).info();
  EXPECT_FALSE(info.remembered);
  EXPECT_NE(past_choice(Device::cpu(), kept[0].key)->format, "format-of-the-past") << info;
}

TEST_F(Choices, AnOrderIsAmongThem) {
  const Csr<double> matrix = ordering::shuffle(generate<double>("gen:stencil27:28"), 5);
  const PlanOptions options{.products = 1'000'000, .transpose = true};
  plan(matrix, options);
  const std::vector<KeptChoice> kept = all_kept();
  ASSERT_EQ(kept.size(), 1u);
  keep_choice(Device::cpu(), kept[0].key, {"rcm+csr", {}});
  const Plan<double> ours = plan(matrix, options);
  EXPECT_EQ(ours.info().ordering, Ordering::rcm) << ours.info();
  EXPECT_EQ(ours.info().recipe, "rcm+csr:merge");
  EXPECT_GT(ours.info().setup.order, 0);
  // The recipe gives the same bits, in both directions.
  const Plan<double> named = plan(matrix, {.format = ours.info().recipe, .transpose = true});
  const std::vector<double> x(static_cast<std::size_t>(matrix.cols), 0.1);
  for (const Op op : {Op::none, Op::transpose}) {
    std::vector<double> y(x.size()), expected(x.size());
    ours.apply(op, 1.0, std::span<const double>(x), 0.0, std::span<double>(y));
    named.apply(op, 1.0, std::span<const double>(x), 0.0, std::span<double>(expected));
    EXPECT_EQ(y, expected);
  }
}

}  // namespace
}  // namespace weft
