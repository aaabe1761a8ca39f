#include "store/packed_container.hpp"

#include <weft/generate.hpp>
#include <weft/io.hpp>
#include <weft/plan.hpp>

#include <cstring>
#include <limits>
#include <random>

#include "io/io_testing.hpp"
#include "store/container_testing.hpp"
#include "store/csr_container.hpp"

namespace weft::io::testing {
namespace {

std::vector<Csr<double>> matrices() {
  std::vector<Csr<double>> all;
  all.push_back({});
  all.push_back({5, 4, Array<Offset>(6, 0), {}, {}});
  all.push_back(make_csr<double>(1, 2000000000, {0, 2}, {0, 1999999999}, {1, 2}));
  all.push_back(make_csr<double>(3, 4, {0, 2, 2, 3}, {0, 3, 1}, {1.5, -0.0, std::numeric_limits<double>::infinity()}));
  for (const char* source : {"gen:poisson2d:13", "gen:uniform:300:5", "gen:empty-rows:200", "gen:dense:70"})
    all.push_back(generate<double>(source));
  return all;
}

/// Where a section's elements begin in the bytes.
std::size_t find_section(const std::string& bytes, const std::string& name) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  for (std::uint32_t i = 0; i < header.sections; ++i) {
    SectionRecord record;
    std::memcpy(&record, bytes.data() + sizeof(FileHeader) + i * sizeof(record), sizeof(record));
    if (name == record.name.data()) return record.offset;
  }
  ADD_FAILURE() << "no section " << name;
  return 0;
}

TEST(PackedContainer, MatricesReadBackExactly) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  for (const Csr<double>& matrix : matrices())
    for (const std::string& name : names()) {
      SCOPED_TRACE(name + ", " + std::to_string(matrix.rows) + " rows");
      write_weft_as(path, matrix, name);
      expect_equal(read_weft<double>(path), matrix);
      expect_equal(read_matrix<double>(path), matrix);
      EXPECT_EQ(stored_format(path), format_of(name));
    }
}

TEST(PackedContainer, TheMarkOfSymmetryReadsBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  Csr<double> matrix = generate<double>("gen:poisson2d:13");
  for (const Symmetry symmetry : {Symmetry::symmetric, Symmetry::general})
    for (const std::string& name : formats_stored()) {
      matrix.symmetry = symmetry;
      write_weft_as(path, matrix, name);
      EXPECT_EQ(read_weft<double>(path).symmetry, symmetry) << name;
      EXPECT_EQ(read_weft<float>(path).symmetry, symmetry) << name;
    }
}

/// Its header and section table are enough: a large file is not read.
TEST(PackedContainer, TheStoredFormatIsFoundWithoutReadingTheMatrix) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  for (const char* name : {"csr", "bro-ell"}) {
    write_weft_as(path, generate<double>("gen:poisson2d:13"), name);
    const std::string whole = read_bytes(path);
    std::string bytes = whole;
    bytes[find_section(bytes, "values")] ^= 1;
    write_bytes(path, bytes);
    EXPECT_EQ(stored_format(path), name);
    EXPECT_EQ(error_of([&] { load_plan<double>(path); }).code(), ErrorCode::parse);
    EXPECT_EQ(error_of([&] { read_weft<double>(path); }).code(), ErrorCode::parse);
    for (const char* section : {"kind", "table"}) {
      bytes = whole;
      bytes[section == std::string("kind") ? find_section(bytes, "kind") : sizeof(FileHeader)] ^= 1;
      write_bytes(path, bytes);
      EXPECT_EQ(error_of([&] { stored_format(path); }).code(), ErrorCode::parse) << section;
    }
  }
}

TEST(PackedContainer, CsrIsAFormatToStore) {
  const TemporaryFolder folder;
  const Csr<double> matrix = generate<double>("gen:poisson2d:4");
  write_weft_as(folder.file("a.weft"), matrix, "csr");
  write_weft(folder.file("b.weft"), matrix);
  EXPECT_EQ(read_bytes(folder.file("a.weft")), read_bytes(folder.file("b.weft")));
  EXPECT_EQ(stored_format(folder.file("a.weft")), "csr");
  write_matrix_market(folder.file("a.mtx"), matrix);
  EXPECT_EQ(stored_format(folder.file("a.mtx")), "");
}

TEST(PackedContainer, OtherFormatsAreRefusedWithThoseThatCan) {
  const TemporaryFolder folder;
  const Error error = error_of([&] { write_weft_as(folder.file("a.weft"), Csr<double>{}, "sell"); });
  EXPECT_EQ(error.code(), ErrorCode::unsupported);
  EXPECT_STREQ(error.what(), "a .weft file cannot hold format 'sell'; it can hold: csr, bro-ell, bro-coo, ehyb");
  EXPECT_TRUE(folder.files().empty());
}

TEST(PackedContainer, ValuesAreConvertedToTheTypeAskedFor) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const Csr<double> matrix = make_csr<double>(2, 3, {0, 2, 3}, {0, 2, 1}, {0.1, -3, 1e30});
  for (const std::string& name : formats_stored()) {
    write_weft_as(path, matrix, name);
    expect_equal(read_weft<float>(path), convert<float>(matrix));
    write_weft_as(path, convert<float>(matrix), name);
    expect_equal(read_weft<double>(path), convert<double>(convert<float>(matrix)));
    write_weft_as(path, make_csr<double>(1, 1, {0, 1}, {0}, {1e300}), name);
    EXPECT_STREQ(error_of([&] { read_weft<float>(path); }).what(),
                 (path + ": the value '1e+300' is too large for f32").c_str());
  }
}

Csr<double> small_matrix() { return generate<double>("gen:uniform:70:3"); }

std::string file_as(const std::string& name) {
  const TemporaryFolder folder;
  write_weft_as(folder.file("a.weft"), small_matrix(), name);
  return read_bytes(folder.file("a.weft"));
}

Container container_of(const std::string& bytes) {
  const auto owner = std::make_shared<Array<std::byte>>(Array<std::byte>::copy_of(std::as_bytes(std::span(bytes))));
  return Container({owner, {owner->data(), owner->size()}}, "a.weft");
}

TEST(PackedContainer, EveryTruncationAndEveryFlippedBitIsRefused) {
  for (const std::string& name : formats_stored()) {
    std::string bytes = file_as(name);
    for (std::size_t size = 1; size < bytes.size(); size += 7)
      EXPECT_EQ(error_of([&] { csr_from_container<double>(container_of(bytes.substr(0, size))); }).code(),
                ErrorCode::parse);
    for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 3) {
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
      const ErrorCode code = error_of([&] { csr_from_container<double>(container_of(bytes)); }).code();
      EXPECT_TRUE(code == ErrorCode::parse || code == ErrorCode::unsupported) << bit;
      bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    }
  }
}

/// The sentence for a file with one element of a section changed and checksums that agree.
template <class T>
std::string sentence_for(const std::string& format, const std::string& section, std::size_t element, T value) {
  std::string bytes = file_as(format);
  std::memcpy(bytes.data() + find_section(bytes, section) + element * sizeof(T), &value, sizeof(T));
  sign(std::as_writable_bytes(std::span(bytes)));
  const Error error = error_of([&] { csr_from_container<double>(container_of(bytes)); });
  EXPECT_EQ(error.code(), ErrorCode::parse);
  return error.what();
}

TEST(PackedContainer, ForgedContentIsRefusedInASentence) {
  const std::string ell = "a.weft: the .weft file holds no bro-ell matrix: ";
  EXPECT_EQ(sentence_for("bro-ell", "layout", 0, std::int64_t(48)), ell + "its 'layout' is none that there is");
  EXPECT_EQ(sentence_for("bro-ell", "layout", 0, std::int64_t(32)),
            ell + "its 'num_col' has 1 elements where 3 belong");
  EXPECT_EQ(sentence_for("bro-ell", "layout", 1, std::int64_t(64)), ell + "slice 1 needs more symbols than there are");
  EXPECT_EQ(sentence_for("bro-ell", "num_col", 0, std::int32_t(71)), ell + "slice 1 has more columns than the matrix");
  EXPECT_EQ(sentence_for("bro-ell", "num_col", 0, std::int32_t(-1)), ell + "slice 1 has more columns than the matrix");
  EXPECT_EQ(sentence_for("bro-ell", "num_col", 0, std::int32_t(70)),
            ell + "slice 1 needs more values or widths than there are");
  EXPECT_EQ(sentence_for("bro-ell", "bit_alloc", 0, std::uint8_t(32)), ell + "slice 1 has widths that no delta has");
  EXPECT_EQ(sentence_for("bro-ell", "bit_alloc", 0, std::uint8_t(0)), ell + "slice 1 has widths that no delta has");
  EXPECT_EQ(sentence_for("bro-ell", "bit_alloc", 3, std::uint8_t(1)), ell + "slice 1 has widths that no delta has");
  EXPECT_EQ(sentence_for("bro-ell", "symbols", 0, ~0u),
            ell + "row 1 is not ascending columns of the matrix and zeros behind them");
  EXPECT_EQ(sentence_for("bro-ell", "symbols", 1, 0u),
            ell + "row 2 is not ascending columns of the matrix and zeros behind them");
  // 70 rows have room for 96 in their slice: the last ones, of symbols and of values, are padding.
  EXPECT_EQ(sentence_for("bro-ell", "symbols", 95, 1u << 31),
            ell + "row 70 is not ascending columns of the matrix and zeros behind them");
  EXPECT_EQ(sentence_for("bro-ell", "values", 95, std::numeric_limits<double>::quiet_NaN()),
            ell + "row 70 is not ascending columns of the matrix and zeros behind them");
  const std::string coo = "a.weft: the .weft file holds no bro-coo matrix: ";
  EXPECT_EQ(sentence_for("bro-coo", "layout", 0, std::int64_t(-1)),
            coo + "its 'layout' does not fit the number of its columns");
  EXPECT_EQ(sentence_for("bro-coo", "layout", 0, std::numeric_limits<std::int64_t>::max()),
            coo + "its 'layout' does not fit the number of its columns");
  EXPECT_EQ(sentence_for("bro-coo", "layout", 1, std::int64_t(0)), coo + "its 'layout' is none that there is");
  EXPECT_EQ(sentence_for("bro-coo", "layout", 2, std::int64_t(16)), coo + "its 'layout' is none that there is");
  EXPECT_EQ(sentence_for("bro-coo", "widths", 0, std::uint8_t(32)), coo + "its 'widths' are more than 31 bits");
  EXPECT_EQ(sentence_for("bro-coo", "symbols", 0, ~0u), coo + "the row numbers of interval 1 lead out of the matrix");
  EXPECT_EQ(sentence_for("bro-coo", "columns", 0, std::int32_t(70)),
            coo + "the columns of row 1 are not ascending numbers of the matrix");
}

TEST(PackedContainer, UnknownKindsAreRefused) {
  std::string bytes = file_as("bro-coo");
  bytes[find_section(bytes, "kind")] = 'x';
  sign(std::as_writable_bytes(std::span(bytes)));
  EXPECT_STREQ(error_of([&] { csr_from_container<double>(container_of(bytes)); }).what(),
               "a.weft: the .weft file holds no csr matrix");
}

TEST(PackedContainer, MoreRowsThanMemoryAreRefused) {
  ContainerWriter writer;
  const MatrixHead head("bro-coo", std::numeric_limits<Index>::max(), 1);
  head.add_to(writer);
  const TemporaryFolder folder;
  writer.write(folder.file("a.weft"));
  const ErrorCode code = error_of([&] { read_weft<double>(folder.file("a.weft")); }).code();
  EXPECT_TRUE(code == ErrorCode::out_of_memory || code == ErrorCode::parse);
}

// Random changes with checksums that agree: refused, or a matrix that kernels can take.
TEST(PackedContainer, RandomForgeriesNeverGetThrough) {
  std::mt19937 random(1);
  for (const std::string& name : names()) {
    const std::string whole = file_as(name);
    const std::size_t begin = find_section(whole, "layout");
    for (int trial = 0; trial < 2000; ++trial) {
      std::string bytes = whole;
      for (int change = 0; change <= trial % 3; ++change)
        bytes[std::uniform_int_distribution<std::size_t>(begin, bytes.size() - 1)(random)] ^=
            static_cast<char>(1 << random() % 8);
      sign(std::as_writable_bytes(std::span(bytes)));
      try {
        EXPECT_EQ(check(csr_from_container<double>(container_of(bytes))), "");
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::parse);
      }
    }
  }
}

}  // namespace
}  // namespace weft::io::testing
