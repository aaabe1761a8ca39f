#include <gtest/gtest.h>
#include <weft/array.hpp>

#include <cstdint>
#include <limits>

namespace weft {
namespace {

TEST(Array, ARefusalNamesTheMemoryInUnitsOfPeople) {
  EXPECT_EQ(detail::memory_text(2000000001, 8), "16.0 GB (2000000001 elements of 8 bytes)");
  EXPECT_EQ(detail::memory_text(100'000'000, 1), "0.1 GB (100000000 elements of 1 bytes)");
  EXPECT_EQ(detail::memory_text(3, 4), "0.0 MB (3 elements of 4 bytes)");
  EXPECT_EQ(detail::memory_text(400'000, 4), "1.6 MB (400000 elements of 4 bytes)");
  try {
    const Array<double> array(std::numeric_limits<std::size_t>::max() / sizeof(double));
    FAIL() << "there is no such amount of memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
    EXPECT_STREQ(
        error.what(),
        "cannot allocate 18446744073.7 GB (2305843009213693951 elements of 8 bytes): use a smaller matrix or a "
        "machine with more free memory");
  }
}

}  // namespace
}  // namespace weft
