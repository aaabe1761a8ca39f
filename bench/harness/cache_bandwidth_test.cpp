#include "cache_bandwidth.hpp"

#include <gtest/gtest.h>

namespace weft::bench {
namespace {

TEST(CacheBandwidth, IsOfMoreAndMoreBytesOfACpu) {
  std::size_t before = 0;
  for (const CacheBandwidth& cache : measure_cache_bandwidths(Device::cpu())) {
    EXPECT_GT(cache.bytes, before);
    EXPECT_GT(cache.bandwidth, 1e8);
    EXPECT_LT(cache.bandwidth, 1e15);
    before = cache.bytes;
  }
  EXPECT_TRUE(measure_cache_bandwidths(Device::emulator()).empty());
}

}  // namespace
}  // namespace weft::bench
