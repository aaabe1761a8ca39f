#define WEFT_SIMT_EMULATED
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/csr/selftest.cu"
#include "simt/emulator_device.hpp"

namespace weft {
namespace {

using simt::emulator::LaneOrder;
using simt::emulator::LaneOrderScope;

TEST(CsrSelfTest, TilesSharesAndCarriesAgreeWithPlainLoopsOnTheEmulator) {
  for (const LaneOrder order : {LaneOrder{LaneOrder::Kind::forward}, LaneOrder{LaneOrder::Kind::reverse},
                                LaneOrder{LaneOrder::Kind::random, 1}}) {
    const LaneOrderScope scope(order);
    EXPECT_THAT(on_emulator::csr_selftest(), testing::IsEmpty());
  }
}

}  // namespace
}  // namespace weft
