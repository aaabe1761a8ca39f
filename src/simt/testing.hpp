#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/error.hpp>

#include <functional>
#include <string>

#include "simt/emulator_device.hpp"

/// For tests that plant bugs in kernels.
namespace weft::test {

/// What the emulator says about a launch; empty when it finds nothing.
inline std::string fault_of(const std::function<void()>& launch) {
  try {
    launch();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::internal);
    return error.what();
  }
  return {};
}

/// Launches the buggy and the correct kernel in each lane order, the correct one also after the fault.
inline void expect_caught(const std::function<void()>& buggy, const std::function<void()>& correct,
                          const testing::Matcher<std::string>& sentence) {
  using simt::emulator::LaneOrder;
  for (const LaneOrder order : {LaneOrder{LaneOrder::Kind::forward}, LaneOrder{LaneOrder::Kind::reverse},
                                LaneOrder{LaneOrder::Kind::random, 1}, LaneOrder{LaneOrder::Kind::random, 20}}) {
    const simt::emulator::LaneOrderScope scope(order);
    EXPECT_EQ(fault_of(correct), "");
    EXPECT_THAT(fault_of(buggy), sentence);
    EXPECT_EQ(fault_of(correct), "");
  }
}

}  // namespace weft::test
