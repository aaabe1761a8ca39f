#include "core/gpu_memory_cache.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>

namespace weft::gpu {
namespace {

/// A GPU that counts, with room for so many blocks.
struct Gpu {
  static inline std::set<void*> in_use;
  static inline std::size_t room = 0, taken = 0;
  static inline int waits = 0;

  static MemorySource source(std::size_t blocks) {
    in_use.clear();
    room = blocks;
    taken = 0;
    waits = 0;
    return {.take = [](std::size_t) -> void* {
              if (in_use.size() == room) return nullptr;
              void* const memory = reinterpret_cast<void*>(++taken * 4096);
              in_use.insert(memory);
              return memory;
            },
            .give = [](void* memory) { EXPECT_EQ(in_use.erase(memory), 1u) << "given back twice"; },
            .wait = [] { ++waits; }};
  }
};

TEST(GpuMemoryCache, GivesABlockToTheNextOfAboutItsSize) {
  MemoryCache cache(Gpu::source(10), 1 << 20);
  void* const first = cache.allocate(100'000);
  cache.release(first);
  EXPECT_EQ(Gpu::waits, 1) << "a kernel may still have used it";
  EXPECT_EQ(cache.held(), MemoryCache::rounded(100'000));
  EXPECT_EQ(cache.allocate(99'000), first);
  EXPECT_EQ(cache.held(), 0u);
  EXPECT_NE(cache.allocate(99'000), first) << "it is in use";
  EXPECT_EQ(Gpu::taken, 2u);
}

TEST(GpuMemoryCache, DoesNotMixSizes) {
  MemoryCache cache(Gpu::source(10), 1 << 20);
  void* const small = cache.allocate(1000);
  cache.release(small);
  EXPECT_NE(cache.allocate(2000), small);
  EXPECT_EQ(cache.allocate(700), small);
}

TEST(GpuMemoryCache, RoundsUpByAnEighthAtMost) {
  for (std::size_t bytes = 0; bytes < MemoryCache::max_block; bytes = bytes * 5 / 4 + 1) {
    EXPECT_GE(MemoryCache::rounded(bytes), bytes);
    EXPECT_LE(MemoryCache::rounded(bytes), bytes + std::max<std::size_t>(512, bytes / 8)) << bytes;
  }
}

TEST(GpuMemoryCache, HoldsNoMoreThanItsCapacity) {
  MemoryCache cache(Gpu::source(10), 100'000);
  void* const one = cache.allocate(60'000);
  void* const two = cache.allocate(60'000);
  cache.release(one);
  cache.release(two);
  EXPECT_LE(cache.held(), 100'000u);
  EXPECT_EQ(Gpu::in_use.size(), 1u);
}

TEST(GpuMemoryCache, LargeBlocksAndNoCapacityGoStraightToTheGpu) {
  MemoryCache cache(Gpu::source(10), 1 << 30);
  cache.release(cache.allocate(MemoryCache::max_block + 1));
  EXPECT_TRUE(Gpu::in_use.empty());
  MemoryCache none(Gpu::source(10), 0);
  none.release(none.allocate(1000));
  EXPECT_TRUE(Gpu::in_use.empty());
  EXPECT_EQ(none.held(), 0u);
}

TEST(GpuMemoryCache, GivesBackWhatItHoldsBeforeMemoryRunsOut) {
  MemoryCache cache(Gpu::source(2), 1 << 20);
  cache.release(cache.allocate(1000));
  cache.release(cache.allocate(5000));
  EXPECT_EQ(Gpu::in_use.size(), 2u);
  EXPECT_NE(cache.allocate(50'000), nullptr);
  EXPECT_EQ(cache.held(), 0u);
  EXPECT_NE(cache.allocate(MemoryCache::max_block + 1), nullptr);
  EXPECT_EQ(cache.allocate(1000), nullptr) << "there is room for two";
}

TEST(GpuMemoryCache, ClearGivesEverythingBackThatNobodyHas) {
  MemoryCache cache(Gpu::source(10), 1 << 20);
  void* const kept = cache.allocate(1000);
  cache.release(cache.allocate(3000));
  cache.clear();
  EXPECT_EQ(Gpu::in_use, std::set<void*>{kept});
  cache.release(kept);
  EXPECT_EQ(cache.allocate(1000), kept);
}

}  // namespace
}  // namespace weft::gpu
