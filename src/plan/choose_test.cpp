#include "plan/choose.hpp"

#include <gmock/gmock.h>
#include <weft/generate.hpp>

#include "formats/testing.hpp"
#include "order/testing.hpp"

namespace weft {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> sources = {"gen:poisson3d:20", "gen:elasticity3d:12", "gen:stencil27:14",
                                          "gen:rmat:13",      "gen:circuit:30000",   "gen:tall:20000"};

std::vector<const Format*> predicting_formats(Device device) {
  std::vector<const Format*> formats;
  for (const Format* format : registry())
    if (format->predict && format->runs_on(device.kind())) formats.push_back(format);
  return formats;
}

TEST(Prediction, OfBytesIsCloseToWhatIsStored) {
  for (const Device device : available_devices())
    for (const std::string& source : sources) {
      const Csr<double> matrix = generate<double>(source);
      for (const Format* format : predicting_formats(device)) {
        const Prediction prediction = test::prediction_of(*format, matrix, device);
        if (!prediction.against.empty()) continue;
        const PlanInfo info = plan(matrix, {.device = device, .format = format->info.name}).info();
        const auto stored = static_cast<double>(info.bytes), predicted = static_cast<double>(prediction.bytes);
        // A small matrix may leave much of bce's last blocks empty.
        EXPECT_GT(predicted, (format->info.name == "bce" ? 0.3 : 0.75) * stored)
            << format->info.name << " on " << device.name() << ", " << source;
        EXPECT_LT(predicted, 1.35 * stored) << format->info.name << " on " << device.name() << ", " << source;
      }
    }
}

TEST(Prediction, OfTimesIsNoLessThanTheBytesTake) {
  const DeviceTable& table = device_table(Device::emulator());
  for (const Device device : {Device::cpu(), Device::emulator()})
    for (const std::string& source : sources)
      for (const Format* format : predicting_formats(device))
        for (const Prediction& prediction :
             format->predict(test::TestOutlook<float>(generate<float>(source), device))) {
          if (!prediction.against.empty()) continue;
          EXPECT_GE(prediction.product_seconds, static_cast<double>(prediction.bytes) / 2 / table.cache_bandwidth)
              << format->info.name << ", " << source;
          EXPECT_LT(prediction.product_seconds, 1) << format->info.name << ", " << source;
          EXPECT_GT(prediction.setup_seconds, 0) << format->info.name << ", " << source;
        }
}

TEST(Prediction, OfAnEmptyMatrixIsANumber) {
  for (const Index rows : {0, 7})
    for (const Device device : {Device::cpu(), Device::emulator()})
      for (const Format* format : predicting_formats(device)) {
        const Csr<double> empty =
            make_csr<double>(rows, rows, Array<Offset>(static_cast<std::size_t>(rows) + 1, 0), {}, {});
        for (const Prediction& prediction : format->predict(test::TestOutlook<double>(empty, device))) {
          EXPECT_TRUE(std::isfinite(prediction.product_seconds)) << format->info.name;
          EXPECT_TRUE(std::isfinite(prediction.setup_seconds)) << format->info.name;
        }
      }
}

TEST(Prediction, OfTurnsIsNoneWhereRowsAreAlike) {
  RowLengths rows;
  rows.rows = 100;
  rows.row_lengths = {{3, 100}};
  EXPECT_EQ(turns_of(rows), 0);
  rows.row_lengths = {{3, 50}, {4, 50}};
  EXPECT_EQ(turns_of(rows), 50);
  EXPECT_EQ(turns_of(RowLengths{}), 0);
}

TEST(Choose, SaysWhatItExpectedAndSaw) {
  for (const Device device : available_devices()) {
    const PlanInfo info =
        plan(generate<double>("gen:poisson3d:16"), {.device = device, .products = 5000, .remember = false}).info();
    int chosen = 0, timed = 0;
    for (const Candidate& candidate : info.candidates) {
      EXPECT_FALSE(candidate.verdict.empty()) << candidate.format;
      chosen += candidate.verdict.starts_with("chosen");
      timed += candidate.product_seconds > 0;
      if (candidate.product_seconds > 0) {
        EXPECT_GT(candidate.predicted_product_seconds, 0) << candidate.format;
      }
    }
    EXPECT_EQ(chosen, 1) << info;
    EXPECT_GE(timed, 1) << info;
    EXPECT_GT(info.budget_seconds, 0);
    EXPECT_LE(info.tried_seconds, info.planning_seconds);
  }
}

TEST(Choose, EveryTypeOfMatrixGetsAPlan) {
  for (const Device device : available_devices())
    for (const std::int64_t products : {1, 16, 100, 100000})
      for (const std::string source : {"gen:poisson2d:5", "gen:empty-rows:50", "gen:tall:100", "gen:arrow:300"}) {
        const Csr<double> matrix = generate<double>(source);
        const PlanInfo info = plan(matrix, {.device = device, .products = products}).info();
        EXPECT_FALSE(info.recipe.empty()) << source;
      }
}

TEST(Choose, TheLoggerHearsWhatIsTried) {
  std::vector<std::string> sentences;
  set_logger([&](LogLevel, std::string_view sentence) { sentences.emplace_back(sentence); });
  plan(generate<double>("gen:poisson3d:12"), {.products = 5000, .remember = false});
  set_logger({});
  EXPECT_THAT(sentences, ::testing::Contains(HasSubstr("auto: csr")));
}

TEST(Choose, LooksAtAnOrderWhereXIsScattered) {
  const auto reordered = [](const Csr<double>& matrix, std::int64_t products) {
    int count = 0;
    const PlanInfo info = plan(matrix, {.products = products, .remember = false}).info();
    for (const Candidate& candidate : info.candidates)
      if (candidate.format.starts_with("rcm+")) {
        EXPECT_GT(candidate.predicted_product_seconds, 0);
        EXPECT_GT(candidate.predicted_setup_seconds, 0);
        ++count;
      }
    return count;
  };
  const Csr<double> scattered = ordering::shuffle(generate<double>("gen:stencil27:28"), 5);
  EXPECT_GE(reordered(scattered, 1'000'000), 1);
  EXPECT_EQ(reordered(scattered, 100), 0);
  EXPECT_EQ(reordered(generate<double>("gen:stencil27:28"), 1'000'000), 0);
  EXPECT_EQ(reordered(generate<double>("gen:rmat:14"), 1'000'000), 0);  // no order gives it a band
}

TEST(Choose, CanBeCancelled) {
  for (const Device device : available_devices()) {
    try {
      plan(generate<double>("gen:poisson3d:12"),
           {.device = device, .products = 5000, .progress = [](double) { return false; }});
      ADD_FAILURE() << device.name();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::cancelled);
    }
  }
}

}  // namespace
}  // namespace weft
