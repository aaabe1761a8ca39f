#include "sellp.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include <nlohmann/json.hpp>
#include <set>

namespace weft::bench {
namespace {

TEST(PaperSellp, KnowsTheTwentyMatricesOfThePaper) {
  std::set<std::string> names;
  for (const SellpPaperMatrix& matrix : sellp_matrices()) names.insert(matrix.name);
  EXPECT_EQ(names.size(), 20u);
  EXPECT_EQ(find_sellp_matrix("x/cage10.mtx.xz")->nonzeros, 150645);
  EXPECT_EQ(find_sellp_matrix("bone010.weft")->rows, 986703);
  EXPECT_EQ(find_sellp_matrix("CANT.mtx"), nullptr);
  EXPECT_EQ(find_sellp_matrix("gen:poisson2d:3"), nullptr);
}

TEST(PaperSellp, TimesAreThoseThePaperPrints) {
  const SellpPaperMatrix& audi = *find_sellp_matrix("audikw_1.mtx");
  EXPECT_EQ(audi.time(SellpKernel::sellp), 7.02e-3);
  EXPECT_EQ(audi.time(SellpKernel::hyb), 8.79e-3);
  const SellpPaperMatrix& trefethen = *find_sellp_matrix("Trefethen_20000.mtx");
  EXPECT_EQ(trefethen.time(SellpKernel::cpu), 1.15e-4);
  EXPECT_EQ(trefethen.time(SellpKernel::csr), 5.12e-4);
  EXPECT_EQ(trefethen.time(SellpKernel::ell), 5.29e-5);
  EXPECT_EQ(trefethen.time(SellpKernel::cusparse), 8.12e-5);
  EXPECT_FALSE(trefethen.time(SellpKernel::ellrt));
  EXPECT_FALSE(trefethen.time(SellpKernel::chosen));
}

// "Switching from the ELLPACK to the SELL-P kernel results in speedup factors between 1.1 and 9", of the larger ones;
// it is "superior to the ELLPACK kernel for all test cases except" Trefethen_20000.
TEST(PaperSellp, SpeedupsOfThePaperAreAsItsTextSays) {
  const auto over_ell = paper_sellp_speedup(SellpKernel::ell);
  ASSERT_TRUE(over_ell);
  EXPECT_EQ(over_ell->matrices, 20);
  EXPECT_DOUBLE_EQ(over_ell->faster_percent, 95);
  EXPECT_NEAR(over_ell->min, 5.29 / 6.47, 1e-9);
  EXPECT_GT(over_ell->max, 9 / 1.05);
  EXPECT_FALSE(paper_sellp_speedup(SellpKernel::ellrt));
}

TEST(PaperSellp, PaddingIsOfSlicesAndThreads) {
  const Offset offsets[] = {0, 2, 3, 6, 9, 9};  // rows of 2, 1, 3, 3 and 0 entries
  EXPECT_EQ(sliced_padding(offsets, 5, 1), 5 * 3 - 9);
  EXPECT_EQ(sliced_padding(offsets, 1, 1), 0);
  EXPECT_EQ(sliced_padding(offsets, 2, 1), 2 * 2 + 2 * 3 + 0 - 9);
  EXPECT_EQ(sliced_padding(offsets, 2, 2), 2 * 2 + 2 * 4 + 0 - 9);
  EXPECT_EQ(sliced_padding(offsets, 8, 8), 8 * 8 - 9);  // the last slice is whole
  EXPECT_EQ(sliced_padding({}, 8, 8), 0);
}

TEST(PaperSellp, KernelsAreThoseOfTheDevice) {
  EXPECT_EQ(sellp_name(SellpKernel::csr, Device::cpu()), "csr");
  EXPECT_EQ(sellp_name(SellpKernel::csr, Device::gpu()), "csr:scalar");
  EXPECT_EQ(sellp_name(SellpKernel::cusparse, Device::emulator()), "");
  EXPECT_EQ(sellp_name(SellpKernel::cusparse, Device::gpu()), "cusparse:csr-default");
  for (const Device device : {Device::cpu(), Device::gpu(), Device::emulator()})
    EXPECT_GE(sellp_sources({}, device).size(), 4u) << device.name();
}

TEST(PaperSellp, ACaseHasEveryKernelOfTheEmulator) {
  std::vector<std::string> notes;
  const SellpCase one = run_sellp_case("gen:uniform:40:13", generate<double>("gen:uniform:40:13"),
                                       {.device = Device::emulator(), .seconds = 0.002, .groups = 2}, notes);
  for (const SellpKernel kernel : sellp_kernels) {
    if (kernel != SellpKernel::cusparse) {
      EXPECT_TRUE(one.time(kernel)) << paper_title(kernel);
    }
  }
  EXPECT_TRUE(one.correct());
  // 13 entries in 16: the paper's padding is what sell with its numbers stores.
  EXPECT_EQ(one.sellp_padding, 40 * 3);
  EXPECT_EQ(one.kernel(SellpKernel::sellp)->padding, one.sellp_padding);
  const auto json = to_json(one);
  EXPECT_EQ(json["kernels"]["SELL-P"]["measured_as"], "sell:c=8:sigma=1:t=8");
  EXPECT_TRUE(json["paper"].is_null());
  const auto speedup = sellp_speedup({one}, ValueType::f64, SellpKernel::sellp, SellpKernel::ell);
  ASSERT_TRUE(speedup);
  EXPECT_DOUBLE_EQ(speedup->mean, *one.time(SellpKernel::ell) / *one.time(SellpKernel::sellp));
  EXPECT_FALSE(sellp_speedup({one}, ValueType::f32, SellpKernel::sellp, SellpKernel::ell));
  EXPECT_FALSE(summary_json({one}).empty());
}

}  // namespace
}  // namespace weft::bench
