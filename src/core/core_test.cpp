#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/buffer.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "core/parallel.hpp"

namespace weft {
namespace {

template <class F>
ErrorCode code_of(F call) {
  try {
    call();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::internal;
}

TEST(Device, IsReadFromItsName) {
  EXPECT_EQ(Device::parse("cpu"), Device::cpu());
  EXPECT_EQ(Device::parse("emulator"), Device::emulator());
  EXPECT_EQ(Device::parse("gpu"), Device::gpu(0));
  EXPECT_EQ(Device::parse("gpu1"), Device::gpu(1));
  EXPECT_EQ(Device::parse("gpu:12"), Device::gpu(12));
  for (const Device device : {Device::cpu(), Device::gpu(3), Device::emulator()})
    EXPECT_EQ(Device::parse(device.name()), device);
  for (const char* bad : {"", "GPU", "gpu:", "gpu-1", "gpu1x", "gpu::1", "gpu 1", "gpu99999999999", "cpu0", "tpu"})
    EXPECT_EQ(code_of([&] { Device::parse(bad); }), ErrorCode::no_device) << bad;
}

TEST(Device, AGpuThatIsNotThereIsRefused) {
  for (const Device device : {Device::gpu(1000), Device::gpu(-1)}) {
    EXPECT_EQ(code_of([&] { describe(device); }), ErrorCode::no_device);
    EXPECT_EQ(code_of([&] { synchronize(device); }), ErrorCode::no_device);
    EXPECT_EQ(code_of([&] { DeviceBuffer<float>(device, 1); }), ErrorCode::no_device);
  }
}

TEST(DeviceBuffer, IsRefusedOnTheCpu) {
  EXPECT_EQ(code_of([] { DeviceBuffer<float>(Device::cpu(), 1); }), ErrorCode::invalid_argument);
}

#ifdef WEFT_HAS_EMULATOR
TEST(DeviceBuffer, KeepsWhatIsUploadedAndChecksItsSize) {
  DeviceBuffer<int> buffer(Device::emulator(), Array<int>{1, 2, 3});
  EXPECT_THAT(buffer.download(), testing::ElementsAre(1, 2, 3));
  buffer.upload(Array<int>{4, 5, 6});
  EXPECT_THAT(buffer.download(), testing::ElementsAre(4, 5, 6));
  for (const std::size_t wrong : {0, 2, 4})
    EXPECT_EQ(code_of([&] { buffer.upload(Array<int>(wrong, 7)); }), ErrorCode::invalid_argument);
  EXPECT_THAT(buffer.download(), testing::ElementsAre(4, 5, 6));
}

TEST(DeviceBuffer, RefusesASizeWhoseBytesOverflow) {
  constexpr std::size_t wraps_to_eight_bytes = (std::size_t{1} << 61) + 1;
  EXPECT_EQ(code_of([] { DeviceBuffer<double>(Device::emulator(), wraps_to_eight_bytes); }), ErrorCode::out_of_memory);
}
#endif

/// Sets the number of threads for one scope.
struct Threads {
  explicit Threads(int count) { set_threads(count); }
  ~Threads() { set_threads(0); }
};

TEST(Threads, AreSetAndGoBackToTheDefault) {
  const int before = threads();
  {
    const Threads three(3);
    EXPECT_EQ(threads(), 3);
    EXPECT_EQ(code_of([] { set_threads(-1); }), ErrorCode::invalid_argument);
    EXPECT_EQ(threads(), 3);
  }
  EXPECT_EQ(threads(), before);
}

TEST(Logger, MayLogAndReplaceItself) {
  std::vector<std::string> heard;
  set_logger([&](LogLevel, std::string_view sentence) {
    heard.emplace_back(sentence);
    set_logger([&heard](LogLevel, std::string_view later) { heard.push_back("later: " + std::string(later)); });
    log(LogLevel::info, "from the logger");
  });
  log(LogLevel::info, "first");
  log(LogLevel::info, "second");
  set_logger({});
  log(LogLevel::info, "to nobody");
  EXPECT_THAT(heard, testing::ElementsAre("first", "later: from the logger", "later: second"));
}

TEST(ParallelRanges, CoverEachIndexOnceInTheSameRangesForEveryNumberOfThreads) {
  for (const int thread_count : {1, 4}) {
    const Threads scope(thread_count);
    for (const std::int64_t count : {0, 1, 99, 100, 101, 1000}) {
      std::vector<int> visits(static_cast<std::size_t>(count), 0);
      parallel_ranges(count, 100, [&](std::int64_t begin, std::int64_t end) {
        EXPECT_EQ(begin % 100, 0);
        EXPECT_EQ(end, std::min(begin + 100, count));
        for (std::int64_t i = begin; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      EXPECT_THAT(visits, testing::Each(1)) << count << " items, " << thread_count << " threads";
    }
  }
}

TEST(ParallelRanges, AnExceptionArrives) {
  for (const int thread_count : {1, 4}) {
    const Threads scope(thread_count);
    EXPECT_THROW(parallel_for(1000, 10,
                              [](std::int64_t i) {
                                if (i == 777) throw std::runtime_error("777");
                              }),
                 std::runtime_error);
  }
}

TEST(PrefixSum, GivesTheSumOfWhatStandsBefore) {
  for (const int thread_count : {1, 4}) {
    const Threads scope(thread_count);
    for (const std::size_t size : {0u, 1u, 5u, 1u << 16, (1u << 16) + 1, 200'000u}) {
      std::vector<std::int64_t> counts(size + 1), expected(size + 1);
      for (std::size_t i = 0; i < size; ++i) counts[i] = static_cast<std::int64_t>(i % 7);
      counts[size] = 1000;  // overwritten
      std::exclusive_scan(counts.begin(), counts.end(), expected.begin(), std::int64_t{0});
      prefix_sum(counts.data(), static_cast<std::int64_t>(size));
      EXPECT_EQ(counts, expected) << size;
    }
  }
}

}  // namespace
}  // namespace weft
