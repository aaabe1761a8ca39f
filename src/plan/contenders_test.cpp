#include "plan/contenders.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

namespace weft {
namespace {

constexpr std::int64_t products = 1000;

const Format& format_called(std::string_view name) {
  for (const Format* format : registry())
    if (format->info.name == name) return *format;
  throw Error(ErrorCode::internal, "no such format");
}

/// Predicted; the times are milliseconds.
Contender<double> contender(std::string_view format, double setup, double product) {
  return {.choice = {&format_called(format), {}, {}}, .setup = setup * 1e-3, .product = product * 1e-3};
}

struct Field {
  explicit Field(Device device = Device::cpu()) : all(device, products) {
    all.add(contender("csr", 0, 2));
    all.add(contender("sell", 100, 1));
    all.add(contender("bce", 500, 1.1));
    all.sort();
  }
  Contender<double>& operator[](std::string_view name) {
    for (Contender<double>& one : all)
      if (one.choice.format->info.name == name) return one;
    throw Error(ErrorCode::internal, "not in the field");
  }
  void time(std::string_view name, double milliseconds) { (*this)[name].built.product_seconds = milliseconds * 1e-3; }

  Contenders<double> all;
};

TEST(Contenders, AreSortedByTheirTotal) {
  Field field;
  std::vector<std::string> names;
  for (const Contender<double>& one : field.all) names.push_back(one.choice.format->info.name);
  EXPECT_EQ(names, (std::vector<std::string>{"sell", "bce", "csr"}));
  EXPECT_DOUBLE_EQ(field.all.min_predicted_total(), 1.1);
  EXPECT_DOUBLE_EQ(field.all.min_certain_total(), 2);  // csr needs no trial to be there
}

TEST(Contenders, TakeTheBestPredictionAmongThoseThatAreAsFast) {
  Field field;
  field.time("sell", 1.02);
  field.time("bce", 1);
  EXPECT_EQ(&field.all.winner(), &field["sell"]);
  field.time("sell", 1.04);
  EXPECT_EQ(&field.all.winner(), &field["bce"]);
}

TEST(Contenders, TakeTheFirstThatIsNotExcludedWhereNothingWasTimed) {
  Field field;
  field["sell"].excluded = true;
  EXPECT_EQ(&field.all.winner(), &field["bce"]);
}

TEST(Contenders, LearnFromTheTimeOfCsr) {
  Field field;
  field.time("csr", 2.4);
  field.all.correct_predictions();
  EXPECT_DOUBLE_EQ(field["sell"].expected, 1.2e-3);
  EXPECT_DOUBLE_EQ(field["csr"].expected, 2e-3);
  field.time("csr", 200);  // the machine did something else
  field.all.correct_predictions();
  EXPECT_DOUBLE_EQ(field["sell"].expected, 5e-3);
}

TEST(Contenders, KnowWhetherAnotherFormatIsSoonerDoneThanAVariantOfCsr) {
  Field field;
  EXPECT_TRUE(field.all.another_is_sooner_done_than(field["csr"]));
  field.time("sell", 3);  // what has been tried is known
  EXPECT_TRUE(field.all.another_is_sooner_done_than(field["csr"])) << "bce";
  field["bce"].excluded = true;
  EXPECT_FALSE(field.all.another_is_sooner_done_than(field["csr"]));
}

TEST(Contenders, OnAGpuLearnMoreAboutOtherVariantsThanAboutOtherFormats) {
  Field field(Device::gpu());
  field.all.add(contender("csr", 0, 2.1));
  field.time("csr", 2.42);
  field.all.correct_predictions();
  EXPECT_NEAR(field["sell"].expected, 1e-3 * std::pow(1.21, 0.25), 1e-12);
  EXPECT_NEAR(std::prev(field.all.end())->expected, 2.1e-3 * 1.1, 1e-12);
}

TEST(Contenders, CountAsInVainWhatWasSpentOnAllButTheBest) {
  Field field;
  for (const std::string_view name : {"csr", "sell", "bce"}) field[name].price = field[name].spent = 0.01;
  field["bce"].spent = 0.015;  // noise
  field.time("csr", 2);
  field.time("sell", 1);
  EXPECT_DOUBLE_EQ(field.all.in_vain(), 0.02);
  field["bce"].spent = 1;  // far longer than it was to cost
  EXPECT_DOUBLE_EQ(field.all.in_vain(), 1.01);
}

TEST(Contenders, AreBelievedUntriedOnlyFarAhead) {
  Field field;
  EXPECT_TRUE(field.all.is_far_ahead(field["sell"]));
  field.time("csr", 1.2);
  EXPECT_FALSE(field.all.is_far_ahead(field["sell"]));
}

TEST(Contenders, AreTriedIfTheirTotalIsClose) {
  Field field;
  for (Contender<double>& one : field.all) one.price = 0.1;  // half of the budget
  EXPECT_TRUE(field.all.is_worth_a_trial(field["sell"], 0.2));
  EXPECT_FALSE(field.all.is_worth_a_trial(field["bce"], 0.2));
  field["sell"].excluded = true;
  EXPECT_TRUE(field.all.is_worth_a_trial(field["bce"], 0.2));
}

TEST(Contenders, AreTriedWhereThatCostsNextToNothing) {
  Field field;
  field["bce"].price = 0.001;
  EXPECT_TRUE(field.all.is_worth_a_trial(field["bce"], 0.2));
  field["bce"].price = 0.02;
  EXPECT_FALSE(field.all.is_worth_a_trial(field["bce"], 0.2));
}

TEST(Contenders, PayForAnOrderOnce) {
  Field field;
  field["bce"].order = Ordering::rcm;
  field.all.set_order_seconds(0.3);
  EXPECT_DOUBLE_EQ(field.all.setup_left(field["bce"]), 0.5);
  field.all.order_is_found();
  EXPECT_DOUBLE_EQ(field.all.setup_left(field["bce"]), 0.2);
  EXPECT_DOUBLE_EQ(field.all.setup_left(field["sell"]), 0.1);
}

}  // namespace
}  // namespace weft
