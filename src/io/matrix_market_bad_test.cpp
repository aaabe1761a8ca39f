#include "io/io_testing.hpp"

namespace weft::io::testing {
namespace {

struct BadFile {
  const char* name;
  int line;  ///< 0: the sentence is not about a line
  const char* sentence;
  ErrorCode code = ErrorCode::parse;
};

void PrintTo(const BadFile& bad, std::ostream* out) { *out << bad.name; }

std::string name_of(const ::testing::TestParamInfo<BadFile>& file) {
  std::string name = file.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

class MatrixMarketBadFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(MatrixMarketBadFile, IsRefusedWithItsLineAndASentence) {
  const BadFile& bad = GetParam();
  const std::string path = bad_file(bad.name);
  const std::string expected = path + (bad.line ? ":" + std::to_string(bad.line) : "") + ": " + bad.sentence;
  for (const int threads : {1, 3}) {
    const Threads used(threads);
    ReadOptions options;
    options.duplicates = Duplicates::refuse;
    const Error error = error_of([&] { read_matrix_market<double>(path, options); });
    if (lacks_library(error)) GTEST_SKIP() << error.what();
    EXPECT_EQ(error.what(), expected);
    EXPECT_EQ(error.code(), bad.code);
  }
}

constexpr auto unsupported = ErrorCode::unsupported;

INSTANTIATE_TEST_SUITE_P(
    Files, MatrixMarketBadFile,
    ::testing::Values(
        BadFile{"empty.mtx", 1, "the file is empty"}, BadFile{"blank.mtx", 1, "the file is empty"},
        BadFile{"no_banner.mtx", 1, "this is no Matrix Market file: it does not begin with %%MatrixMarket"},
        BadFile{"bad_object.mtx", 1, "'tensor' stands where 'matrix' belongs"},
        BadFile{"vector_object.mtx", 1,
                "vector files are not supported; write 'matrix array real general' with one column", unsupported},
        BadFile{"bad_format.mtx", 1, "the format 'sparse' is neither coordinate nor array"},
        BadFile{"bad_field.mtx", 1, "the field 'quaternion' is none of real, integer, pattern"},
        BadFile{"bad_symmetry.mtx", 1, "the symmetry 'spd' is none of general, symmetric, skew-symmetric, hermitian"},
        BadFile{"missing_symmetry.mtx", 1,
                "the first line does not name the symmetry (general, symmetric, skew-symmetric or hermitian)"},
        BadFile{"complex.mtx", 1, "complex matrices are not supported", unsupported},
        BadFile{"pattern_array.mtx", 1, "an array file cannot hold a pattern"},
        BadFile{"carriage_returns.mtx", 1,
                "the lines end with carriage returns alone; convert them, say with tr '\\r' '\\n'"},
        BadFile{"no_size_line.mtx", 3, "the file ends before its size line"},
        BadFile{"size_line_short.mtx", 2, "the size line does not say the number of entries"},
        BadFile{"size_line_long.mtx", 2, "'7' stands after the 3 numbers of the size line"},
        BadFile{"size_not_a_number.mtx", 2, "the number of columns, 'x', is not a whole number"},
        BadFile{"negative_rows.mtx", 2, "the number of rows is negative"},
        BadFile{"rows_past_int32.mtx", 2, "the number of rows, '3000000000', is past the 2147483647 that are supported",
                unsupported},
        BadFile{"rows_past_int64.mtx", 2,
                "the number of rows, '99999999999999999999', is past the 2147483647 that are supported", unsupported},
        BadFile{"quintillion_entries.mtx", 3,
                "the file ends after 1 of the 1000000000000000000 entries that the size line announces"},
        BadFile{"entries_past_int64.mtx", 2,
                "the number of entries, '99999999999999999999', is past the 9223372036854775807 that are supported",
                unsupported},
        BadFile{"symmetric_not_square.mtx", 2,
                "a symmetric matrix must be square, but this one has 2 rows and 3 columns"},
        BadFile{"too_few_entries.mtx", 4, "the file ends after 2 of the 3 entries that the size line announces"},
        BadFile{"too_many_entries.mtx", 6, "more text stands after the 2 entries that the size line announces"},
        BadFile{"garbage_after_entries.mtx", 5, "more text stands after the 1 entries that the size line announces"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Entries, MatrixMarketBadFile,
    ::testing::Values(
        BadFile{"row_zero.mtx", 4, "row index '0' is out of range: rows are counted from 1 to 3"},
        BadFile{"row_too_large.mtx", 6, "row index '4' is out of range: rows are counted from 1 to 3"},
        BadFile{"row_negative.mtx", 3, "row index '-1' is out of range: rows are counted from 1 to 3"},
        BadFile{"column_zero.mtx", 3, "column index '0' is out of range: columns are counted from 1 to 3"},
        BadFile{"column_too_large.mtx", 3,
                "column index '18446744073709551617' is out of range: columns are counted from 1 to 3"},
        BadFile{"row_text.mtx", 3, "'one' stands where a row index belongs"},
        BadFile{"row_fraction.mtx", 3, "'1.0' stands where a row index belongs"},
        BadFile{"column_text.mtx", 3, "'two' stands where a column index belongs"},
        BadFile{"column_missing.mtx", 3, "the column index is missing"},
        BadFile{"value_missing.mtx", 3, "the value is missing"},
        BadFile{"value_text.mtx", 3, "'abc' stands where a value belongs"},
        BadFile{"value_nan.mtx", 4, "the value 'nan' is not a finite number"},
        BadFile{"value_infinite.mtx", 3, "the value '-inf' is not a finite number"},
        BadFile{"value_too_large.mtx", 3, "the value '1e400' is too large for f64"},
        BadFile{"value_comma.mtx", 3, "'1,5' stands where a value belongs"},
        BadFile{"text_after_value.mtx", 3, "'2.5' stands after the end of the entry"},
        BadFile{"pattern_with_value.mtx", 3, "'1.5' stands after the end of the entry"},
        BadFile{"integer_fraction.mtx", 3, "the value '1.5' is not a whole number, as the header promises"},
        BadFile{"integer_past_int64.mtx", 3, "the value '99999999999999999999' does not fit 64 bits"},
        BadFile{"integer_past_int64_exponent.mtx", 3, "the value '1e30' does not fit 64 bits"},
        BadFile{"skew_diagonal.mtx", 4, "a skew-symmetric matrix has no entries other than zero on its diagonal"},
        BadFile{"entry_in_empty_matrix.mtx", 3, "the matrix has no rows, but here is an entry with row index '1'"},
        BadFile{"array_too_few.mtx", 5, "the file ends after 3 of the 4 values that the size line announces"},
        BadFile{"array_too_many.mtx", 7, "more text stands after the 4 values that the size line announces"},
        BadFile{"array_two_on_a_line.mtx", 3, "'2' stands after the end of the entry"},
        BadFile{"array_bad_value.mtx", 4, "'x' stands where a value belongs"},
        BadFile{"duplicate_entry.mtx", 7,
                "the entry at row 2, column 3 is a duplicate of the one at row 2, column 3 in line 4"},
        BadFile{"duplicate_mirrored.mtx", 5,
                "the entry at row 2, column 3 is a duplicate of the one at row 3, column 2 in line 4"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Packed, MatrixMarketBadFile,
    ::testing::Values(BadFile{"cut.mtx.gz", 0, "the gzip file is cut: it ends before its content does"},
                      BadFile{"damaged.mtx.gz", 0, "the gzip file is damaged and cannot be unpacked"},
                      BadFile{"cut.mtx.xz", 0, "the xz file is cut: it ends before its content does"},
                      BadFile{"damaged.mtx.xz", 0, "the xz file is damaged and cannot be unpacked"},
                      BadFile{"bzip2.mtx.bz2", 0, "bzip2 is not supported; unpack the file with bunzip2 first",
                              unsupported}),
    name_of);

TEST(MatrixMarketBad, FilesThatCannotBeOpenedAreRefused) {
  const TemporaryFolder folder;
  const auto sentence = [](const std::string& path) {
    const Error error = error_of([&] { read_matrix_market<float>(path); });
    EXPECT_EQ(error.code(), ErrorCode::io);
    return std::string(error.what());
  };
  const std::string missing = folder.file("missing.mtx"), pipe = folder.file("pipe");
  EXPECT_EQ(sentence(missing), "cannot open " + missing + ": No such file or directory");
  EXPECT_EQ(sentence(folder.file("")), "cannot read " + folder.file("") + ": it is a directory");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(sentence(pipe), "cannot read " + pipe + ": it is a pipe or a device; store its content in a file first");
}

TEST(MatrixMarketBad, TextThatCouldUpsetATerminalIsNotRepeated) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.mtx");
  write_bytes(path,
              "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 \x1b[31m" + std::string(1000, 'x') + "\n");
  const Error error = error_of([&] { read_matrix_market<double>(path); });
  EXPECT_EQ(error.what(), path + ":3: '?[31m" + std::string(27, 'x') + "...' stands where a value belongs");
}

/// Several chunks with an error in the middle and one near the end: the first counts, whoever finds which first.
TEST(MatrixMarketBad, TheFirstErrorOfALargeFileIsReportedForAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const std::string path = folder.file("large.mtx");
  const int entries = 400000;
  std::string text = "%%MatrixMarket matrix coordinate real general\n10 10 " + std::to_string(entries) + "\n";
  for (int i = 0; i < entries; ++i) text += i == 300001 ? "1 11 1.25\n" : i == 399990 ? "x\n" : "1 1 1.25\n";
  write_bytes(path, text);
  for (const int threads : {1, 2, 5}) {
    const Threads used(threads);
    const Error error = error_of([&] { read_matrix_market<double>(path); });
    EXPECT_EQ(error.what(), path + ":300004: column index '11' is out of range: columns are counted from 1 to 10");
  }
}

}  // namespace
}  // namespace weft::io::testing
