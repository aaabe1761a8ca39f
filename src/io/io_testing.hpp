#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/coo.hpp>
#include <weft/io.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sparse/testing.hpp"

namespace weft::io::testing {

using weft::testing::same_bits;
using weft::testing::Threads;

/// A folder of its own for each test, removed afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "weft-io-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  /// Names of all files in the folder, hidden ones too.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string good_file(const std::string& name) { return WEFT_TEST_DATA "/good/" + name; }
inline std::string bad_file(const std::string& name) { return WEFT_TEST_DATA "/bad/" + name; }

/// Runs `body`, which must throw weft::Error, and gives that error.
template <class F>
Error error_of(F&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorCode::internal, ""};
}

/// True when the build cannot read .gz or .xz, which tests must then leave out.
inline bool lacks_library(const Error& error) {
  return error.code() == ErrorCode::unsupported &&
         std::string(error.what()).find("this build of Weft lacks") != std::string::npos;
}

template <Value V>
std::vector<double> dense(const Csr<V>& matrix) {
  std::vector<double> result(static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.cols));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      result[static_cast<std::size_t>(row) * static_cast<std::size_t>(matrix.cols) + matrix.columns[i]] =
          matrix.values[i];
  return result;
}

/// Equal to the bit: the sign of a zero counts.
template <Value V>
void expect_equal(const Csr<V>& a, const Csr<V>& b) {
  EXPECT_EQ(a.rows, b.rows);
  EXPECT_EQ(a.cols, b.cols);
  EXPECT_TRUE(same_bits(a.offsets, b.offsets));
  EXPECT_TRUE(same_bits(a.columns, b.columns));
  EXPECT_TRUE(same_bits(a.values, b.values));
}

}  // namespace weft::io::testing
