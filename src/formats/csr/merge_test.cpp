#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <ostream>
#include <string>

#include "formats/csr/testing.hpp"
#include "formats/csr/tuning.hpp"
#include "reference.hpp"
#include "simt/tuning.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

/// A kernel of csr:merge, and the device that runs it.
struct Shared {
  std::string variant;
  Place place;
};

void PrintTo(const Shared& shared, std::ostream* out) {
  *out << "csr:merge-" << shared.variant << " on " << name_of(shared.place);
}

std::vector<Shared> all_shared() {
  std::vector<Shared> all;
  for (const char* const variant : {"narrow", "wide", "block"})
    for (const Place& place : places()) all.push_back({variant, place});
  return all;
}

class Merge : public ::testing::TestWithParam<Shared> {
 protected:
  /// Entries that a warp sums at once, and rows + entries of a share. For f64; those of f32 are at other places.
  Offset chunk() const {
    if (GetParam().variant == "wide") return 32 * csr::merge_wide_items.f64;
    return 32 * csr::merge_narrow_items;
  }
  Offset share() const {
    if (GetParam().variant == "block") return simt::block_threads * csr::merge_block_items;
    return chunk() * (GetParam().variant == "wide" ? csr::merge_wide_chunks : csr::merge_narrow_chunks);
  }

  template <Value V>
  ::testing::AssertionResult merges_exactly(const RowWriter& rows, V beta) const {
    const Device device = GetParam().place.device;
    const Csr<V> matrix = integer_matrix<V>(rows.offsets());
    const auto built = build_variant<V>("csr:merge-" + GetParam().variant, device, matrix);
    return multiplies_exactly<V>(*built, device, matrix, beta);
  }

 private:
  PlaceScope scope_{GetParam().place};
};

/// One thing every `distance` steps of the merge path.
RowWriter walk(Walked walked, Offset distance, Offset things) {
  RowWriter rows;
  for (Offset thing = 0; thing < things; ++thing) {
    const Offset steps = std::max<Offset>(0, thing * distance - rows.entries() - rows.rows());
    const bool two_steps_an_entry = walked == Walked::empty_among_short;
    walk_to(rows, walked, rows.entries() + (two_steps_an_entry ? steps / 2 : steps));
  }
  return rows;
}

TEST_P(Merge, EmptyRowsRowStartsAndRowEndsAnywhereInAChunkAndInAShare) {
  const Offset chunk = this->chunk(), share = this->share();
  // Without a common divisor, so that after as many things as a share has steps each step has met one.
  ASSERT_EQ(std::gcd(chunk + 1, share), 1);
  for (const Walked walked : all_walked) {
    EXPECT_TRUE(merges_exactly<double>(walk(walked, chunk + 1, share), -1.0)) << name_of(walked);
    for (const Offset distance : {chunk - 3, Offset(161)})
      EXPECT_TRUE(merges_exactly<float>(walk(walked, distance, 200), 0.0f))
          << name_of(walked) << " every " << distance << " steps";
  }
}

/// Around each step where a share ends: the end of a row, with or without empty rows behind it.
TEST_P(Merge, RowsThatEndNearTheEndOfAShare) {
  const Offset share = this->share();
  for (const int empty : {0, 1, 2, 31, 32, 33})
    for (int aside = -3; aside <= 3; ++aside) {
      RowWriter rows;
      for (Offset s = 1; s <= 3; ++s) rows.row(s * share + aside - rows.entries() - rows.rows()).empty(empty);
      for (const Offset rest : {0, 1, 40}) {
        RowWriter more = rows;
        if (rest > 0) more.row(rest);
        EXPECT_TRUE(empty % 2 ? merges_exactly<float>(more, 0.0f) : merges_exactly<double>(more, -1.0))
            << empty << " empty rows, " << aside << " steps from the end of a share, then a row of " << rest;
      }
    }
}

TEST_P(Merge, LongRunsOfEmptyRowsAndRowsOverManyShares) {
  const Offset chunk = this->chunk(), share = this->share();
  std::vector<RowWriter> all;
  all.push_back(RowWriter().row(1));
  for (const Offset length : {chunk - 1, chunk, chunk + 1, share - 1, share, share + 1}) {
    all.push_back(RowWriter().row(length));
    all.push_back(RowWriter().row(length).row(length).row(2));
  }
  for (const int run : {1, 31, 32, 33, 64, 1000, 3000}) {
    all.push_back(RowWriter().empty(run).rows_up_to(share, 7));
    all.push_back(RowWriter().rows_up_to(share, 7).empty(run));
    for (const Offset place : {Offset(1), chunk - 1, chunk, chunk + 1, share / 2})
      all.push_back(RowWriter().rows_up_to(place, 5).empty(run).rows_up_to(place + share, 5));
  }
  for (const Offset shares : {2, 3, 70})
    for (const Offset start : {Offset(0), Offset(1), share - 2, share - 1, share})
      all.push_back(RowWriter().rows_up_to(start, 9).empty(2).row(shares * share + start % 3).empty(40).row(3));
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_TRUE(i % 3 == 0 ? merges_exactly<float>(all[i], -1.0f)
                           : merges_exactly<double>(all[i], i % 3 == 1 ? 0.0 : -1.0));
}

INSTANTIATE_TEST_SUITE_P(Formats, Merge, ::testing::ValuesIn(all_shared()), [](const auto& test) {
  return "csr_merge_" + test.param.variant + "_" + name_of(test.param.place);
});
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Merge);  // where there is neither a GPU nor the emulator

template <Value V>
void expect_same_bits(const std::string& format, Device device) {
  std::vector<Index> lengths;
  for (int i = 0; i < 4; ++i) lengths.insert(lengths.end(), {3, 0, 50, 1, 0, 0, 0, i == 2 ? 5500 : 390, 17, 9});
  const Csr<V> matrix = random_rows<V>(6000, lengths, 41);
  const Array<V> x = random_vector<V>(6000, 42), before = random_vector<V>(lengths.size(), 43);
  const auto built = build_variant<V>(format, device, matrix);
  const Array<V> first = apply<V>(*built, device, V(1.5), x, V(0.75), before);
  EXPECT_TRUE(equals_reference<V>(matrix, Op::none, V(1.5), x, V(0.75), before, first));
  for (int repeat = 0; repeat < 20; ++repeat) {
    const PlaceScope scope({device, repeat});
    const Array<V> y = apply<V>(*built, device, V(1.5), x, V(0.75), before);
    ASSERT_EQ(std::memcmp(first.data(), y.data(), y.bytes()), 0) << "repeat " << repeat;
  }
}

TEST(MergeSums, HaveTheSameBitsInEveryRepeatAndLaneOrder) {
  for (const Device device : devices_with_kernels())
    for (const std::string format : {"csr:merge-narrow", "csr:merge-wide", "csr:merge-block"}) {
      SCOPED_TRACE(format + " on " + device.name());
      expect_same_bits<float>(format, device);
      expect_same_bits<double>(format, device);
    }
}

}  // namespace
}  // namespace weft::test
