#include "formats/hyb/hyb.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include <vector>

#include "formats/testing.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

using ::testing::HasSubstr;

/// The example of section 3.2 of Yang, Li and Li (2017).
Csr<double> four_by_four() {
  return make_csr<double>(4, 4, {0, 2, 3, 6, 8}, {0, 2, 2, 0, 1, 3, 1, 3}, {1, 2, 7, 4, 5, 8, 1, 3});
}

template <class T>
std::vector<T> elements(const Array<T>& array) {
  return {array.begin(), array.end()};
}

TEST(HybFormat, TheExampleOfSection324LeavesOneEntryToCoo) {
  const Csr<double> matrix = four_by_four();
  EXPECT_EQ(hyb::split_width(analyze_rows(matrix)), 2);
  const Csr<double> rest = hyb::rest_after(matrix, 2);
  EXPECT_EQ(check(rest), "");
  EXPECT_EQ(elements(rest.offsets), (std::vector<Offset>{0, 0, 0, 1, 1}));
  EXPECT_EQ(elements(rest.columns), (std::vector<Index>{3}));
  EXPECT_EQ(elements(rest.values), (std::vector<double>{8}));

  auto p = plan(matrix, {.format = "hyb"});
  EXPECT_EQ(p.info().details, "k = 2, 1 entries in coo, 7 in ell:plain");
  EXPECT_EQ(p.info().padding, 2 * 32 - 7);
  std::vector<double> x{1, 10, 100, 1000}, y{1, 2, 3, 4};
  p.apply(2.0, x, 3.0, y);
  EXPECT_EQ(y, (std::vector<double>{405, 1406, 16117, 6032}));
  p.update_values(std::vector<double>{0, 0, 0, 0, 0, 5, 0, 1});
  p.apply(x, y);
  EXPECT_EQ(y, (std::vector<double>{0, 0, 5000, 1000}));
}

Index split_of(const std::vector<Offset>& offsets) {
  return hyb::split_width(analyze_rows(integer_matrix<float>(offsets)));
}

TEST(HybFormat, FewerThanAThirdOfTheRowsAreLongerThanK) {
  EXPECT_EQ(split_of({0}), 0);                                    // no rows
  EXPECT_EQ(split_of({0, 0, 0, 0}), 0);                           // no entries
  EXPECT_EQ(split_of({0, 9}), 9);                                 // one row
  EXPECT_EQ(split_of(RowWriter().empty(2).row(5).offsets()), 5);  // a third is not fewer than a third
  EXPECT_EQ(split_of(RowWriter().empty(3).row(5).offsets()), 0);  // a quarter is
  EXPECT_EQ(split_of(RowWriter().row(7).row(1).row(1).row(2).offsets()), 2);
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Dice dice(seed);
    RowWriter writer;
    const Index rows = dice.below(40);
    for (Index row = 0; row < rows; ++row) writer.row(dice.below(2) ? dice.below(4) : dice.below(30));
    const auto longer_than = [&](Offset k) {
      Index count = 0;
      for (Index row = 0; row < rows; ++row) count += writer.offsets()[row + 1] - writer.offsets()[row] > k;
      return count;
    };
    Index k = 0;
    while (rows > 0 && 3 * longer_than(k) >= rows) ++k;
    EXPECT_EQ(split_of(writer.offsets()), k) << "seed " << seed;
  }
}

TEST(HybFormat, AnyKGivesTheSameProduct) {
  RowWriter rows;
  for (Offset length = 0; length < 60; ++length)
    rows.row(length % 13).empty(length % 4 == 0).row(length == 30 ? 900 : 2);
  const auto matrix = integer_matrix<double>(rows.offsets());
  std::vector<Place> all = places();
  all.push_back({Device::cpu()});
  for (const Place& place : all) {
    const PlaceScope scope(place);
    for (const std::string way : {"hyb", "hyb:k=0", "hyb:k=1", "hyb:k=12", "hyb:k=13", "hyb:k=900", "hyb:k=2147483647"})
      for (const double beta : {0.0, 3.0})
        EXPECT_TRUE(
            multiplies_exactly<double>(*build_variant<double>(way, place.device, matrix), place.device, matrix, beta))
            << way << " on " << name_of(place);
  }
}

TEST(HybFormat, ItsOwnKIsNeverRefusedButAUsersMayBe) {
  // 1000 rows of 2 entries and one of 20000.
  const auto matrix = integer_matrix<double>(RowWriter().rows_up_to(2000, 2).row(20000).offsets());
  const PlanInfo info = plan(matrix, {.format = "hyb"}).info();
  EXPECT_EQ(info.details, "k = 2, 19998 entries in coo, 2002 in ell:plain");
  EXPECT_EQ(info.padding, 2 * 1024 - 2002);
  try {
    plan(matrix, {.format = "hyb:k=20000"});
    ADD_FAILURE() << "246 MB were allowed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_STREQ(error.what(), "the ell part of hyb needs 246 MB, 931 times the entries: use a smaller k, or none");
  }
}

TEST(HybFormat, AMatrixOnADeviceGivesTheSameProduct) {
  const auto matrix = integer_matrix<double>(RowWriter().rows_up_to(700, 7).empty(9).row(300).row(2).offsets());
  for (const Device device : devices_with_kernels())
    for (const std::string format : {"hyb", "hyb:k=3", "hyb:k=300"})
      expect_same_plan_from_device(format, device, matrix);
}

}  // namespace
}  // namespace weft::test
