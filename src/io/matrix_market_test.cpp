#include <fcntl.h>

#include <random>

#include "io/columns_file.hpp"
#include "io/io_testing.hpp"
#include "io/matrix_market.hpp"

namespace weft::io::testing {
namespace {

using Dense = std::vector<double>;

Csr<double> good(const std::string& name) { return read_matrix_market<double>(good_file(name)); }

TEST(MatrixMarket, ReadsEntriesInAnyOrder) {
  const Csr<double> matrix = good("general.mtx");
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.cols, 4);
  EXPECT_EQ(check(matrix), "");
  EXPECT_EQ(dense(matrix), (Dense{1.5, 0, 0, 0, 0, 0, 0, 300, 0, -2, 0, .25}));
}

TEST(MatrixMarket, BlanksCommentsAndLineEndsDoNotMatter) {
  for (const char* name : {"free_format.mtx", "no_final_newline.mtx", "duplicates.mtx"}) {
    SCOPED_TRACE(name);
    expect_equal(good(name), good("general.mtx"));
  }
}

TEST(MatrixMarket, PackedFilesAreToldByTheirContent) {
  const TemporaryFolder folder;
  for (const char* name : {"general.mtx.gz", "general.mtx.xz"}) {
    SCOPED_TRACE(name);
    const std::string misnamed = folder.file(std::string(name) + ".txt");
    std::filesystem::copy(good_file(name), misnamed);
    try {
      expect_equal(good(name), good("general.mtx"));
      expect_equal(read_matrix_market<double>(misnamed), good("general.mtx"));
    } catch (const Error& error) {
      if (lacks_library(error)) GTEST_SKIP() << error.what();
      throw;
    }
  }
}

TEST(MatrixMarket, FieldsAndSymmetriesAreExpanded) {
  EXPECT_EQ(dense(good("integer.mtx")), (Dense{7, 0, -3, 9007199254740992}));
  EXPECT_EQ(dense(good("pattern_symmetric.mtx")), (Dense{1, 1, 0, 1, 0, 1, 0, 1, 0}));
  EXPECT_EQ(dense(good("symmetric_upper.mtx")), (Dense{4, 5, 0, 5, 0, 6, 0, 6, 0}));
  EXPECT_EQ(dense(good("hermitian.mtx")), (Dense{4, 5, 0, 5, 0, 6, 0, 6, 0}));
  EXPECT_EQ(dense(good("skew.mtx")), (Dense{0, -5, 0, 5, 0, -6, 0, 6, 0}));
}

TEST(MatrixMarket, TheHeadersSymmetryIsMarked) {
  EXPECT_EQ(good("general.mtx").symmetry, Symmetry::general);
  EXPECT_EQ(good("pattern_symmetric.mtx").symmetry, Symmetry::symmetric);
  EXPECT_EQ(good("hermitian.mtx").symmetry, Symmetry::symmetric);
  EXPECT_EQ(good("array_symmetric.mtx").symmetry, Symmetry::symmetric);
  EXPECT_EQ(good("skew.mtx").symmetry, Symmetry::skew);
  EXPECT_EQ(good("array_skew.mtx").symmetry, Symmetry::skew);
}

HalfCsr<double> half_of(const std::string& name) {
  return std::get<HalfCsr<double>>(read_matrix_market_as_stored<double>(good_file(name)));
}

TEST(MatrixMarket, AsStoredASymmetricFileStaysItsLowerHalf) {
  EXPECT_EQ(dense(half_of("pattern_symmetric.mtx").lower), (Dense{1, 0, 0, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(dense(half_of("symmetric_upper.mtx").lower), (Dense{4, 0, 0, 5, 0, 0, 0, 6, 0})) << "moved below";
  EXPECT_EQ(dense(half_of("skew.mtx").lower), (Dense{0, 0, 0, 5, 0, 0, 0, 6, 0}));
  EXPECT_EQ(dense(half_of("array_symmetric.mtx").lower), (Dense{1, 0, 0, 2, 4, 0, 0, 5, 6}));
  EXPECT_EQ(dense(half_of("array_skew.mtx").lower), (Dense{0, 0, 0, 1, 0, 0, 2, 3, 0}));
  EXPECT_EQ(half_of("hermitian.mtx").symmetry, Symmetry::symmetric);
  EXPECT_EQ(half_of("skew.mtx").symmetry, Symmetry::skew);
  const AsStored<double> general = read_matrix_market_as_stored<double>(good_file("general.mtx"));
  expect_equal(std::get<Csr<double>>(general), good("general.mtx"));
}

/// Entries on both sides of the diagonal are the same place.
TEST(MatrixMarket, AsStoredDuplicatesAreThoseOfTheWholeMatrix) {
  const auto text = [](const char* symmetry, const char* lines) {
    return std::string("%%MatrixMarket matrix coordinate real ") + symmetry + "\n3 3 4\n" + lines;
  };
  const char* const lines = "1 2 5\n2 1 7\n3 1 1\n1 2 -2\n";
  const auto half = [&](const char* symmetry) {
    return std::get<HalfCsr<double>>(parse_matrix_market_as_stored<double>(text(symmetry, lines), "a"));
  };
  EXPECT_EQ(dense(half("symmetric").lower), (Dense{0, 0, 0, 10, 0, 0, 1, 0, 0}));
  EXPECT_EQ(dense(half("skew-symmetric").lower), (Dense{0, 0, 0, 4, 0, 0, 1, 0, 0}));
  ReadOptions options;
  options.duplicates = Duplicates::refuse;
  for (const char* symmetry : {"symmetric", "skew-symmetric"})
    EXPECT_STREQ(error_of([&] { parse_matrix_market_as_stored<double>(text(symmetry, lines), "a", options); }).what(),
                 "a:4: the entry at row 2, column 1 is a duplicate of the one at row 1, column 2 in line 3");
}

TEST(MatrixMarket, ArraysAreReadByColumnsWithoutTheirZeros) {
  EXPECT_EQ(dense(good("array.mtx")), (Dense{1, 2, 0, 0, 3, 4}));
  EXPECT_EQ(good("array.mtx").nonzeros(), 4);
  EXPECT_EQ(dense(good("array_symmetric.mtx")), (Dense{1, 2, 0, 2, 4, 5, 0, 5, 6}));
  EXPECT_EQ(dense(good("array_skew.mtx")), (Dense{0, -1, -2, 1, 0, -3, 2, 3, 0}));
}

TEST(MatrixMarket, MatricesWithoutEntriesAreFine) {
  const Csr<double> matrix = good("no_entries.mtx");
  EXPECT_EQ(matrix.rows, 3);
  EXPECT_EQ(matrix.cols, 0);
  EXPECT_EQ(matrix.nonzeros(), 0);
}

TEST(MatrixMarket, VectorsComeAsArrayCoordinatesOrPlainNumbers) {
  const auto vector = [](const char* name) {
    const Array<double> values = read_vector<double>(good_file(name));
    return Dense(values.begin(), values.end());
  };
  EXPECT_EQ(vector("vector_array.mtx"), (Dense{1, 2.5, -3}));
  EXPECT_EQ(vector("vector_coordinate.mtx"), (Dense{1, 0, -3}));
  EXPECT_EQ(vector("vector_plain.txt"), (Dense{1, 2.5, -3}));
  const Error wide = error_of([&] { vector("array.mtx"); });
  EXPECT_EQ(wide.what(), good_file("array.mtx") + ":3: a vector has one column, but this file has 3");
  const Error text = error_of([] { parse_vector<double>("1\n2\nthree\n", "x.txt"); });
  EXPECT_STREQ(text.what(), "x.txt:3: 'three' stands where a value belongs");
}

TEST(Columns, AreVectorsOfOneLengthBesideEachOther) {
  const Columns<double> array =
      parse_columns<double>("%%MatrixMarket matrix array real general\n3 2\n1\n2\n3\n4\n5\n6\n", "b.mtx");
  EXPECT_EQ(array.rows, 3U);
  EXPECT_EQ(array.count, 2U);
  EXPECT_EQ(Dense(array[1].begin(), array[1].end()), (Dense{4, 5, 6}));
  const Columns<double> entries =
      parse_columns<double>("%%MatrixMarket matrix coordinate real general\n3 2 2\n1 1 7\n3 2 -1\n", "b.mtx");
  EXPECT_EQ(Dense(entries.values.begin(), entries.values.end()), (Dense{7, 0, 0, 0, 0, -1}));
  EXPECT_EQ(parse_columns<double>("1\n2\n", "b.txt").count, 1U);
}

TEST(Columns, ReadBackAsTheyWereWritten) {
  const testing::TemporaryFolder folder;
  Columns<double> columns{2, 3, Array<double>{1, 0.1, -2, 1e-300, 5, 6}};
  write_columns(folder.file("b.mtx"), columns);
  const Columns<double> again = read_columns<double>(folder.file("b.mtx"));
  EXPECT_EQ(again.rows, 2U);
  EXPECT_EQ(Dense(again.values.begin(), again.values.end()), Dense(columns.values.begin(), columns.values.end()));
  columns[2][1] = std::numeric_limits<double>::quiet_NaN();
  const Error error = error_of([&] { write_columns(folder.file("c.mtx"), columns); });
  EXPECT_NE(std::string(error.what()).find("position 2 of column 3"), std::string::npos) << error.what();
  EXPECT_EQ(folder.files(), std::vector<std::string>{"b.mtx"});
}

TEST(Columns, WithoutAnyOrWithFarTooManyAreRefused) {
  const Error none =
      error_of([] { parse_columns<double>("%%MatrixMarket matrix array real general\n3 0\n", "b.mtx"); });
  EXPECT_STREQ(none.what(), "b.mtx:2: the file has no columns");
  const Error many = error_of([] {
    parse_columns<double>("%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 0\n", "b.mtx");
  });
  EXPECT_EQ(many.code(), ErrorCode::unsupported);
}

/// A matrix large enough for several chunks, with entries that stand in random order and some twice.
std::string large_text(const char* symmetry, int entries) {
  std::mt19937_64 random(5);
  std::string text = std::string("%%MatrixMarket matrix coordinate real ") + symmetry + "\n5000 5000 " +
                     std::to_string(entries) + "\n";
  for (int i = 0; i < entries; ++i) {
    auto row = random() % 5000 + 1, column = random() % 5000 + 1;
    if (symmetry[1] == 'k' && row == column) column = row % 5000 + 1;
    text += std::to_string(row) + " " + std::to_string(column) + " " +
            std::to_string(static_cast<double>(random() % 1000000) / 1024 - 400) + "\n";
    if (random() % 1000 == 0) text += "\n% a comment\n";
  }
  return text;
}

/// Chunks of one line, of some, and the whole text in one.
TEST(MatrixMarket, TheResultDoesNotDependOnTheChunks) {
  const std::string text = large_text("symmetric", 300);
  const Csr<double> whole = parse_matrix_market<double>(text, "whole");
  const std::string wrong = text + "1 1 1\n";
  const Error error = error_of([&] { parse_matrix_market<double>(wrong, "file"); });
  const Threads used(2);
  for (const std::size_t chunk_bytes : {1, 16, 100, 1000}) {
    expect_equal(parse_matrix_market<double>(text, "small", {}, chunk_bytes), whole);
    EXPECT_STREQ(error_of([&] { parse_matrix_market<double>(wrong, "file", {}, chunk_bytes); }).what(), error.what());
  }
}

/// As many lines as entries are announced, but one of them holds none; a wrong line behind it does not matter.
TEST(MatrixMarket, ABlankLineIsNoEntry) {
  for (const char* last : {"2 2 2", "2 2 two"}) {
    const std::string text =
        std::string("%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n\n") + last + "\n";
    for (const std::size_t chunk_bytes : {std::size_t{1}, usual_chunk_bytes})
      EXPECT_STREQ(error_of([&] { parse_matrix_market<double>(text, "a", {}, chunk_bytes); }).what(),
                   "a:5: the file ends after 2 of the 3 entries that the size line announces");
  }
}

TEST(MatrixMarket, TheResultDoesNotDependOnTheNumberOfThreads) {
  for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
    const std::string text = large_text(symmetry, 200000);
    set_threads(1);
    const Csr<double> one = parse_matrix_market<double>(text, "large");
    EXPECT_EQ(check(one), "");
    for (const int threads : {2, 3, 8}) {
      const Threads used(threads);
      expect_equal(parse_matrix_market<double>(text, "large"), one);
    }
    set_threads(0);
  }
}

template <Value V>
Csr<V> random_matrix(Index rows, Index cols, int entries) {
  std::mt19937_64 random(11);
  Coo<V> coo{rows, cols, Array<Index>(entries), Array<Index>(entries), Array<V>(entries)};
  for (int i = 0; i < entries; ++i) {
    coo.row_indices[i] = static_cast<Index>(random() % rows);
    coo.column_indices[i] = static_cast<Index>(random() % cols);
    do {
      if constexpr (sizeof(V) == 8)
        coo.values[i] = std::bit_cast<double>(random());
      else
        coo.values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    } while (!std::isfinite(coo.values[i]) || std::abs(coo.values[i]) > std::numeric_limits<V>::max() / 4);
  }
  return to_csr(coo);
}

template <Value V>
void expect_round_trip(const std::string& name) {
  const TemporaryFolder folder;
  const Csr<V> matrix = random_matrix<V>(3000, 100, 150000);
  std::string first;
  for (const int threads : {1, 4}) {
    const Threads used(threads);
    write_matrix(folder.file(name), matrix);
    EXPECT_EQ(folder.files(), std::vector<std::string>{name});
    if (first.empty()) first = read_bytes(folder.file(name));
    EXPECT_TRUE(first == read_bytes(folder.file(name))) << "other bytes with " << threads << " threads";
    expect_equal(read_matrix_market<V>(folder.file(name)), matrix);
  }
}

TEST(MatrixMarket, WrittenValuesReadBackExactly) {
  expect_round_trip<double>("matrix.mtx");
  expect_round_trip<float>("matrix.mtx");
}

TEST(MatrixMarket, PackedFilesReadBackExactly) {
  try {
    expect_round_trip<double>("matrix.mtx.gz");
  } catch (const Error& error) {
    if (lacks_library(error)) GTEST_SKIP() << error.what();
    throw;
  }
}

TEST(MatrixMarket, WrittenVectorsReadBackExactly) {
  const TemporaryFolder folder;
  const std::vector<double> vector = {0.1, -1e-300, 3, 1.0 / 3};
  write_vector<double>(folder.file("x.mtx"), vector);
  const Array<double> back = read_vector<double>(folder.file("x.mtx"));
  EXPECT_EQ(Dense(back.begin(), back.end()), vector);
}

/// Two threads would meet the second of these first: it begins the second range that is written.
TEST(MatrixMarket, TheFirstValueThatIsNotFiniteIsRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  const Index size = 200000;
  Coo<double> diagonal{size, size, Array<Index>(size), Array<Index>(size), Array<double>(size, 1)};
  for (Index i = 0; i < size; ++i) diagonal.row_indices[i] = diagonal.column_indices[i] = i;
  diagonal.values[65535] = std::numeric_limits<double>::quiet_NaN();
  diagonal.values[65536] = -std::numeric_limits<double>::infinity();
  const Csr<double> matrix = to_csr(diagonal);
  const std::string log = folder.file("log");
  const int descriptor = ::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(descriptor, 0);
  std::filesystem::create_symlink("/dev/fd/" + std::to_string(descriptor), folder.file("log.mtx"));
  for (const int threads : {1, 2})
    for (const char* name : {"a.mtx", "log.mtx"}) {
      const Threads used(threads);
      const std::string path = folder.file(name);
      const auto sentence = [&](const char* place) {
        return "cannot write " + path + ": the value at " + place +
               " is not a finite number, which Matrix Market has no text for";
      };
      const Error error = error_of([&] { write_matrix(path, matrix); });
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.what(), sentence("row 65536, column 65536"));
      EXPECT_EQ(error_of([&] { write_vector<double>(path, matrix.values); }).what(), sentence("position 65536"));
    }
  ::close(descriptor);
  EXPECT_EQ(read_bytes(log), "");
  EXPECT_EQ(folder.files().size(), 2u) << "only the log and the link";
}

TEST(MatrixMarket, AnUnknownEndingIsRefusedBeforeAnythingIsWritten) {
  for (const char* name : {"matrix.csv", "/dev/shm/weft-matrix.csv"}) {
    const Error error = error_of([&] { write_matrix<double>(name, {}); });
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
  }
}

TEST(MatrixMarket, ProgressRisesToOneInAboutAHundredSteps) {
  const std::string text = large_text("general", 300000);
  for (const int threads : {1, 3}) {
    const Threads used(threads);
    std::vector<double> told;
    ReadOptions options;
    options.progress = [&](double fraction) {
      told.push_back(fraction);
      return true;
    };
    parse_matrix_market<double>(text, "large", options);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    EXPECT_EQ(told.back(), 1);
    EXPECT_GE(told.size(), 3u);
    EXPECT_LE(told.size(), 102u);
  }
}

TEST(MatrixMarket, ProgressCanCancel) {
  const TemporaryFolder folder;
  const auto stop = [](double) { return false; };
  const std::string text = large_text("general", 300000);
  ReadOptions options;
  options.progress = stop;
  EXPECT_EQ(error_of([&] { parse_matrix_market<double>(text, "large", options); }).code(), ErrorCode::cancelled);
  const Csr<double> matrix = parse_matrix_market<double>(text, "large");
  for (const char* name : {"a.mtx", "a.weft"})
    EXPECT_EQ(error_of([&] { write_matrix(folder.file(name), matrix, stop); }).code(), ErrorCode::cancelled);
  EXPECT_TRUE(folder.files().empty());
}

}  // namespace
}  // namespace weft::io::testing
