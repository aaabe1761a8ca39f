// What ehyb tells about matrices it is not made for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include "formats/ehyb/ehyb.hpp"
#include "formats/testing.hpp"

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

TEST(EhybCaching, AutoDoesNotTryWhatNoPartitionKeepsTogether) {
  const auto against = [](const std::string& source) {
    return test::prediction_of(format(), generate<float>(source), Device::cpu()).against;
  };
  EXPECT_EQ(against("gen:elasticity3d:12"), "");
  EXPECT_THAT(against("gen:circuit:20000"), HasSubstr("reach across"));
  EXPECT_THAT(test::prediction_of(format(), generate<float>("gen:rmat:16"), Device::emulator()).against,
              ::testing::AnyOf(HasSubstr("reach across"), HasSubstr("all over the matrix")));
  EXPECT_THAT(against("gen:tall:1000"), HasSubstr("not the same nodes"));
}

}  // namespace
}  // namespace weft::ehyb
