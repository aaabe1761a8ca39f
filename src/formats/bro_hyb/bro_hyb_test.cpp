#include "formats/bro_hyb/bro_hyb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include <vector>

#include "formats/testing.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(BroHyb, CutsWhereHybDoes) {
  // The matrix of section 2 of the paper; two of its rows have two entries, so k = 3.
  const auto matrix = make_csr<double>(4, 5, {0, 2, 7, 10, 12}, {0, 2, 0, 1, 2, 3, 4, 1, 2, 4, 3, 4},
                                       {3, 2, 2, 6, 5, 4, 1, 1, 9, 7, 8, 3});
  auto p = plan(matrix, {.format = "bro-hyb"});
  EXPECT_THAT(p.info().details, HasSubstr("k = 3, 2 entries in bro-coo, 10 in bro-ell (h = 256, 32-bit symbols"));
  EXPECT_THAT(plan(matrix, {.format = "hyb"}).info().details, HasSubstr("k = 3, 2 entries in coo, 10 in ell:"));
  std::vector<double> x{1, 10, 100, 1000, 10000}, y{1, 1, 1, 1};
  p.apply(1.0, x, 2.0, y);
  EXPECT_THAT(y, ElementsAre(205, 14564, 70912, 38002));
  p.update_values(std::vector<double>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  p.apply(x, y);
  EXPECT_THAT(y, ElementsAre(101, 11111, 10110, 11000));
}

TEST(BroHyb, AnyKAndHGiveTheSameProduct) {
  RowWriter rows;
  for (Offset length = 0; length < 60; ++length)
    rows.row(length % 13).empty(length % 4 == 0).row(length == 30 ? 900 : 2);
  const auto matrix = integer_matrix<double>(rows.offsets());
  std::vector<Place> all = places();
  all.push_back({Device::cpu()});
  for (const Place& place : all) {
    const PlaceScope scope(place);
    for (const std::string way :
         {"bro-hyb", "bro-hyb:k=0", "bro-hyb:k=1", "bro-hyb:k=12:h=32", "bro-hyb:k=900", "bro-hyb:k=2147483647:h=1024"})
      for (const double beta : {0.0, 3.0})
        EXPECT_TRUE(
            multiplies_exactly<double>(*build_variant<double>(way, place.device, matrix), place.device, matrix, beta))
            << way << " on " << name_of(place);
  }
}

TEST(BroHyb, ItsOwnKIsNeverRefusedButAUsersMayBe) {
  const auto matrix = integer_matrix<double>(RowWriter().rows_up_to(2000, 2).row(20000).offsets());
  EXPECT_THAT(plan(matrix, {.format = "bro-hyb"}).info().details, HasSubstr("k = 2, 19998 entries in bro-coo"));
  try {
    plan(matrix, {.format = "bro-hyb:k=20000"});
    ADD_FAILURE() << "padding was allowed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("the bro-ell part of bro-hyb needs 41 MB"));
    EXPECT_THAT(error.what(), HasSubstr("use a smaller k, or none"));
  }
}

TEST(BroHyb, AMatrixOnADeviceGivesTheSameProduct) {
  const auto matrix = integer_matrix<double>(RowWriter().rows_up_to(700, 7).empty(9).row(300).row(2).offsets());
  for (const Device device : devices_with_kernels())
    for (const std::string format : {"bro-hyb", "bro-hyb:k=3", "bro-hyb:k=300"})
      expect_same_plan_from_device(format, device, matrix);
}

}  // namespace
}  // namespace weft::test
