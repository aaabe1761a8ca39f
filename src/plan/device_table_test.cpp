#include "plan/device_table.hpp"

#include <gmock/gmock.h>
#include <weft/error.hpp>
#include <weft/runtime.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(DeviceTable, IsKeptAsTextAndReadBack) {
  const DeviceTable& table = device_table(Device::emulator());
  const DeviceTable again = parse_device_table(to_text(table));
  EXPECT_EQ(to_text(again), to_text(table));
  EXPECT_DOUBLE_EQ(again.latency, table.latency);
}

TEST(DeviceTable, ADamagedOneIsRefused) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      parse_device_table(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::parse);
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal(""), HasSubstr("launch"));
  std::string text = to_text(device_table(Device::emulator()));
  EXPECT_EQ(refusal(text + "something else\n"), "none");
  const std::size_t place = text.find("sector");
  EXPECT_THAT(refusal(text.substr(0, place)), HasSubstr("sector"));
  EXPECT_THAT(refusal(text.replace(place, 7, "sector -")), HasSubstr("sector"));
}

TEST(DeviceTable, OfTheCpuIsMeasuredOnceAndKept) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "weft-device-table-test";
  std::filesystem::remove_all(folder);
  const char* const before = std::getenv("WEFT_CACHE");
  const std::string old = before ? before : "";
  setenv("WEFT_CACHE", folder.c_str(), 1);
  // Another number of threads has another table: other tests keep theirs.
  const int usual = threads();
  set_threads(usual + 1);
  const std::string file = device_table_file(Device::cpu());
  EXPECT_THAT(file, EndsWith(".table"));
  const DeviceTable& table = renew_device_table(Device::cpu());
  EXPECT_GT(table.memory_bandwidth, 1e8);
  EXPECT_GE(table.cache_bandwidth, table.memory_bandwidth);
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, to_text(table));
  set_threads(usual);
  if (before)
    setenv("WEFT_CACHE", old.c_str(), 1);
  else
    unsetenv("WEFT_CACHE");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weft
