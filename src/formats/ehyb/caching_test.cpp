// What ehyb tells about matrices it is not made for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include "formats/ehyb/ehyb.hpp"

namespace weft::ehyb {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

constexpr const char* warning = "; caching cannot pay";

TEST(EhybCaching, DetailsSayWhenItCannotPay) {
  Shape shape;
  // Of 100 entries 31 are extra ones and 20 elements are loaded: 51 reads of x in place of 100.
  EXPECT_EQ(describe(shape, 3, 10, 20, 31, 100),
            "3 parts, caches of up to 10 elements of x, 69.0 % of entries cached; caching cannot pay");
  EXPECT_THAT(describe(shape, 3, 10, 20, 30, 100), EndsWith("70.0 % of entries cached"));
  EXPECT_THAT(describe(shape, 1, 0, 0, 0, 0), EndsWith("100.0 % of entries cached"));  // no entry: none is missed
  shape.block = 3;                                                                     // a node is three elements
  EXPECT_THAT(describe(shape, 2, 9, 17, 0, 100),
              EndsWith("100.0 % of entries cached, 3 x 3 blocks; caching cannot pay"));
  EXPECT_THAT(describe(shape, 2, 9, 16, 0, 100), EndsWith(" 3 x 3 blocks"));
}

TEST(EhybCaching, APlanOfAPowerLawMatrixSaysSo) {
  const auto details = [](const std::string& source, Device device) {
    return plan(generate<double>(source), {.device = device, .format = "ehyb:cache=256"}).info().details;
  };
  EXPECT_THAT(details("gen:rmat:12", Device::cpu()), HasSubstr(warning));
  EXPECT_THAT(details("gen:poisson2d:64", Device::cpu()), Not(HasSubstr(warning)));
#ifdef WEFT_HAS_EMULATOR
  EXPECT_THAT(details("gen:rmat:12", Device::emulator()), HasSubstr(warning));
  EXPECT_THAT(details("gen:poisson2d:64", Device::emulator()), Not(HasSubstr(warning)));
#endif
}

RowLengths lengths(Offset longest, double mean) {
  RowLengths rows;
  rows.longest_row = longest;
  rows.mean_row = mean;
  return rows;
}

TEST(EhybCaching, AutoDoesNotTryRowsThatReachAcrossTheMatrix) {
  const auto rules_out = format().rules_out;
  ASSERT_TRUE(rules_out);
  EXPECT_THAT(rules_out(lengths(5000, 99), Device::cpu()), HasSubstr("reach across"));
  EXPECT_EQ(rules_out(lengths(5000, 101), Device::cpu()), "");  // all rows are long
  EXPECT_EQ(rules_out(lengths(4000, 10), Device::gpu()), "");   // not long enough to matter
  EXPECT_EQ(rules_out(analyze_rows(generate<float>("gen:elasticity3d:6")), Device::gpu()), "");
  EXPECT_THAT(rules_out(analyze_rows(generate<float>("gen:circuit:20000")), Device::cpu()), HasSubstr("reach across"));
}

}  // namespace
}  // namespace weft::ehyb
