#define WEFT_SIMT_EMULATED
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simt/emulator_device.hpp"
#include "simt/selftest.cu"

namespace weft {
namespace {

using simt::emulator::LaneOrder;
using simt::emulator::LaneOrderScope;

class EveryPrimitive : public testing::TestWithParam<LaneOrder> {};

TEST_P(EveryPrimitive, AgreesWithPlainLoopsOnTheEmulator) {
  const LaneOrderScope order(GetParam());
  EXPECT_THAT(on_emulator::simt_selftest(), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(LaneOrders, EveryPrimitive,
                         testing::Values(LaneOrder{LaneOrder::Kind::forward}, LaneOrder{LaneOrder::Kind::reverse},
                                         LaneOrder{LaneOrder::Kind::random, 1}, LaneOrder{LaneOrder::Kind::random, 2},
                                         LaneOrder{LaneOrder::Kind::random, 3}));

}  // namespace
}  // namespace weft
