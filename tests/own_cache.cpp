// Tests keep what they measure of this machine to themselves, and plan for the CPU by numbers that are the same on
// every machine: they run beside one another, and a table made then is not one to plan by.
#include <gtest/gtest.h>
#include <unistd.h>
#include <weft/runtime.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "plan/device_table.hpp"

namespace {

// Two cores of an EPYC, rounded.
constexpr weft::DeviceTable two_cores{.launch = 0.7e-6,
                                      .memory_bandwidth = 34e9,
                                      .cache_bandwidth = 140e9,
                                      .cache_bytes = 33.6e6,
                                      .sector = 0.44e-9,
                                      .hit = 0.2e-9,
                                      .latency = 3.5e-9};

class OwnCache final : public ::testing::Environment {
 public:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    setenv("WEFT_CACHE", folder_.c_str(), 1);
    std::ofstream(weft::device_table_file(weft::Device::cpu())) << to_text(two_cores);
    weft::device_table(weft::Device::cpu());  // it is read now, whatever folder a test turns to
    weft::set_isa(weft::isa());               // kernels are not timed beside other tests
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

 private:
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("weft-tests-cache-" + std::to_string(getpid()));
};

// googletest deletes it.
[[maybe_unused]] const ::testing::Environment* const own_cache =
    ::testing::AddGlobalTestEnvironment(new OwnCache);  // NOLINT(cppcoreguidelines-owning-memory)

}  // namespace
