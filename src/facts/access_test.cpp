#include "facts/access.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include "facts/source_facts.hpp"
#include "structures.hpp"

namespace weft {
namespace {

const std::vector<std::string> sources = {"gen:poisson2d:70", "gen:elasticity3d:7", "gen:rmat:12",
                                          "gen:arrow:3000",   "gen:tall:4000",      "gen:empty-rows:5000"};

void expect_the_same_on(Device device) {
  for (const std::string& source : sources)
    for (const int sector_elements : {4, 8}) {
      const Csr<double> matrix = generate<double>(source);
      const MatrixSource<double> there(matrix);
      const DevicePattern pattern{device,
                                  matrix.rows,
                                  matrix.cols,
                                  matrix.nonzeros(),
                                  there.state().offsets64(device).data(),
                                  nullptr,
                                  there.state().on_device(device).columns.data()};
      const sampling::Tally host =
          sampling::look_at(matrix.rows, matrix.offsets.data(), matrix.columns.data(), sector_elements);
      const sampling::Tally found = WEFT_ON_DEVICE(device, facts::look_at)(pattern, sector_elements);
      EXPECT_EQ(found.slots, host.slots) << source;
      EXPECT_EQ(found.by_entries, host.by_entries) << source;
      EXPECT_EQ(found.by_rows, host.by_rows) << source;
      if (matrix.rows != matrix.cols) continue;
      for (const int block : {1, 3}) {
        const sampling::BallRequest request{block, 200};
        const BallFacts here = sampling::summarize(
            sampling::grow_balls(matrix.rows, matrix.offsets.data(), matrix.columns.data(), request), request);
        const BallFacts over_there =
            sampling::summarize(WEFT_ON_DEVICE(device, facts::grow_balls)(pattern, request), request);
        EXPECT_EQ(over_there.nodes, here.nodes) << source;
        EXPECT_EQ(over_there.spreads, here.spreads) << source;
        if (!here.spreads) {
          EXPECT_EQ(over_there.neighbours, here.neighbours) << source;
        }
      }
    }
}

TEST(AccessFacts, ADeviceFindsTheSame) {
  for (const Device device : available_devices())
    if (!device.is_cpu()) expect_the_same_on(device);
}

TEST(AccessFacts, OfABandAreWhatOneCanCount) {
  // 64 rows of 3 neighbouring entries, but for the first and the last.
  const MatrixSource<double> source(generate<double>("gen:band:64:1"));
  const AccessFacts& facts = access(source);
  EXPECT_EQ(facts.slots[0], 64 * 3);   // two slices of 32 rows
  EXPECT_EQ(facts.slots[5], 64 * 32);  // 32 lanes for each row
  EXPECT_DOUBLE_EQ(facts.narrow_slices, 1);
  EXPECT_NEAR(facts.row_sectors, 16.0 / 190, 1e-3);  // 64 elements of x are 16 sectors
  EXPECT_EQ(facts.packed_bits, access(source).packed_bits);
  EXPECT_LE(facts.packed_bits, 1 + 4);  // all rows look alike, but the first
}

TEST(AccessFacts, AThinSampleTellsAboutTheSame) {
  for (const std::string name : {"gen:poisson3d:60", "gen:stencil27:30", "gen:rmat:15", "gen:elasticity3d:12"}) {
    const auto matrix = generate<double>(name);
    const MatrixSource<double> once(matrix), again(matrix);
    const AccessFacts &thin = quick_access(once), &full = access(again);
    EXPECT_NEAR(thin.entry_requests, full.entry_requests, 0.15 * full.entry_requests) << name;
    EXPECT_NEAR(thin.row_requests, full.row_requests, 0.15 * full.row_requests) << name;
    EXPECT_NEAR(thin.entry_sectors, full.entry_sectors, 0.35 * full.entry_sectors) << name;
    EXPECT_EQ(thin.slots[0], 0) << name;
  }
  // Full facts are not looked for twice.
  const MatrixSource<double> source(generate<double>("gen:poisson2d:40"));
  const AccessFacts& full = access(source);
  EXPECT_EQ(&quick_access(source), &full);
}

TEST(AccessFacts, ABallInAGridHasASurface) {
  const MatrixSource<double> grid(generate<double>("gen:poisson2d:100"));
  const BallFacts ball = balls(grid, 1, 800);
  EXPECT_FALSE(ball.spreads);
  EXPECT_GE(ball.nodes, 800);
  EXPECT_NEAR(ball.neighbours, 4 * std::sqrt(ball.nodes / 2), 30);  // a diamond's rim
  EXPECT_TRUE(balls(MatrixSource<double>(generate<double>("gen:rmat:13")), 1, 500).spreads);
}

TEST(AccessFacts, OfNothing) {
  for (const Index rows : {0, 1, 40}) {
    const Csr<double> empty = make_csr<double>(rows, 5, Array<Offset>(static_cast<std::size_t>(rows) + 1, 0), {}, {});
    const MatrixSource<double> source(empty);
    const AccessFacts& facts = access(source);
    EXPECT_EQ(facts.row_requests, 0);
    EXPECT_EQ(facts.packed_bits, 0);
  }
}

}  // namespace
}  // namespace weft
