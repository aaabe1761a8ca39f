#include "store/container.hpp"

#include <cstring>

#include "io/io_testing.hpp"
#include "store/container_testing.hpp"
#include "store/csr_container.hpp"

namespace weft::io::testing {
namespace {

Csr<double> small_matrix() { return {3, 4, {0, 2, 2, 3}, {0, 3, 1}, {1.5, -0.0, 0.1}}; }

std::string small_file() {
  const TemporaryFolder folder;
  write_weft(folder.file("a.weft"), small_matrix());
  return read_bytes(folder.file("a.weft"));
}

Csr<double> parse(const std::string& bytes) {
  FileBytes file;
  if (!bytes.empty()) {
    Array<std::byte> memory = Array<std::byte>::copy_of(std::as_bytes(std::span(bytes)));
    const auto owner = std::make_shared<Array<std::byte>>(memory);
    file = {owner, {owner->data(), owner->size()}};
  }
  return csr_from_container<double>(Container(file, "a.weft"));
}

template <class Record, class Change>
std::string forged(std::size_t at, Change&& change) {
  std::string bytes = small_file();
  Record record;
  std::memcpy(&record, bytes.data() + at, sizeof(record));
  change(record);
  std::memcpy(bytes.data() + at, &record, sizeof(record));
  sign(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

std::size_t record_at(int section) { return sizeof(FileHeader) + section * sizeof(SectionRecord); }
std::size_t content_at(int section) {
  SectionRecord record;
  std::memcpy(&record, small_file().data() + record_at(section), sizeof(record));
  return record.offset;
}
enum { kind, shape, offsets, columns, values };

TEST(Checksum, AgreesWithThePublishedAlgorithm) {
  const auto hash = [](std::string_view text) { return hash64(std::as_bytes(std::span(text))); };
  EXPECT_EQ(hash(""), 0xEF46DB3751D8E999u);
  EXPECT_EQ(hash("a"), 0xD24EC4F1A98C6E5Bu);
  EXPECT_EQ(hash("abc"), 0x44BC2CF5AD770999u);
  EXPECT_EQ(hash("abcdefghijklmnopqrstuvwxyz"), 0xCFE1F278FA89835Cu);
  EXPECT_EQ(hash("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

/// Five pieces of 1 MiB; the number was computed by another program from docs/container.md.
TEST(Checksum, OfALargeSectionDoesNotDependOnTheNumberOfThreads) {
  std::vector<std::byte> bytes(5 << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  set_threads(1);
  const std::uint64_t one = section_checksum(bytes);
  EXPECT_EQ(one, 0xAACD5EE1DD9BE117u);
  const Threads used(4);
  EXPECT_EQ(section_checksum(bytes), one);
  bytes[3 << 20] ^= std::byte{1};
  EXPECT_NE(section_checksum(bytes), one);
}

TEST(Container, MatricesReadBackExactly) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  write_weft(path, small_matrix());
  EXPECT_EQ(folder.files(), std::vector<std::string>{"a.weft"});
  expect_equal(read_weft<double>(path), small_matrix());
  write_weft(path, Csr<double>{});
  expect_equal(read_weft<double>(path), Csr<double>{});
}

TEST(Container, ValuesAreConvertedToTheTypeAskedFor) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  write_weft(path, small_matrix());
  expect_equal(read_weft<float>(path), convert<float>(small_matrix()));
  write_weft(path, convert<float>(small_matrix()));
  expect_equal(read_weft<double>(path), convert<double>(convert<float>(small_matrix())));
}

TEST(Container, ArraysAreMappedAndWritingToThemLeavesTheFileAlone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  write_weft(path, small_matrix());
  Csr<double> matrix = read_weft<double>(path);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(matrix.values.data()) % 64, 0u);
  // They lie as they do in the file.
  const auto address = [](const auto& array) { return reinterpret_cast<std::uintptr_t>(array.data()); };
  EXPECT_EQ(address(matrix.columns) - address(matrix.offsets), content_at(columns) - content_at(offsets));
  EXPECT_EQ(address(matrix.values) - address(matrix.offsets), content_at(values) - content_at(offsets));
  matrix.values[0] = 77;
  expect_equal(read_weft<double>(path), small_matrix());
}

TEST(Container, EveryTruncationIsRefused) {
  const std::string whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = error_of([&] { parse(whole.substr(0, size)); });
    EXPECT_EQ(error.code(), ErrorCode::parse) << size;
  }
  EXPECT_STREQ(error_of([&] { parse(whole + std::string(64, '\0')); }).what(),
               ("a.weft: the .weft file should have " + std::to_string(whole.size()) + " bytes but has " +
                std::to_string(whole.size() + 64) + ": it was cut or altered")
                   .c_str());
}

TEST(Container, EveryFlippedBitIsRefused) {
  std::string bytes = small_file();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    const Error error = error_of([&] { parse(bytes); });
    EXPECT_TRUE(error.code() == ErrorCode::parse || error.code() == ErrorCode::unsupported) << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  }
  expect_equal(parse(bytes), small_matrix());
}

TEST(Container, LaterVersionsAndOtherByteOrdersAreNamed) {
  const Error later = error_of([] { parse(forged<FileHeader>(0, [](FileHeader& h) { h.version = 2; })); });
  EXPECT_EQ(later.code(), ErrorCode::unsupported);
  EXPECT_STREQ(later.what(),
               "a.weft: the .weft file has format version 2, but this Weft reads version 1; a newer Weft may read it");
  const Error swapped =
      error_of([] { parse(forged<FileHeader>(0, [](FileHeader& h) { h.byte_order = 0x04030201; })); });
  EXPECT_STREQ(swapped.what(), "a.weft: the .weft file was written on a machine with the other byte order");
}

void expect_refused(const std::string& bytes, const std::string& sentence, ErrorCode code = ErrorCode::parse) {
  const Error error = error_of([&] { parse(bytes); });
  EXPECT_EQ(error.what(), "a.weft: " + sentence);
  EXPECT_EQ(error.code(), code);
}

/// Files whose checksums agree but which claim what cannot be.
TEST(Container, ForgedHeadersAreRefused) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 61;
  const auto header = [](auto&& change) { return forged<FileHeader>(0, change); };
  const std::string size = std::to_string(small_file().size());
  expect_refused(header([](FileHeader& h) { h.sections = 0xffffffff; }),
                 "the .weft file claims 4294967295 sections, more than it can hold");
  for (const unsigned sections : {4u, 6u})
    expect_refused(header([&](FileHeader& h) { h.sections = sections; }),
                   "section 'kind' of the .weft file lies outside the file");
  expect_refused(header([](FileHeader& h) { h.file_bytes = huge; }),
                 "the .weft file should have 2305843009213693952 bytes but has " + size + ": it was cut or altered");
  expect_refused(header([](FileHeader& h) { h.reserved[27] = 1; }),
                 "the header of the .weft file is damaged: its checksum does not agree");

  std::string longer = header([](FileHeader& h) { h.file_bytes += 64; }) + std::string(64, '\0');
  sign(std::as_writable_bytes(std::span(longer)));
  expect_refused(longer, "the .weft file has bytes that belong to no section");
}

TEST(Container, ForgedSectionRecordsAreRefusedWithoutTakingMemory) {
  constexpr std::uint64_t huge = std::uint64_t{1} << 61;
  const auto record = [](auto&& change) { return forged<SectionRecord>(record_at(values), change); };
  const auto name = [](SectionRecord& r, const char* text) { std::strcpy(r.name.data(), text); };
  for (const std::uint64_t count : {huge, ~std::uint64_t{0}, std::uint64_t{1000}})
    expect_refused(record([&](SectionRecord& r) { r.count = count; }),
                   "section 'values' of the .weft file lies outside the file");
  for (const std::uint64_t offset : {huge, ~std::uint64_t{0} - 7, std::uint64_t{0}, std::uint64_t{64}})
    expect_refused(record([&](SectionRecord& r) { r.offset = offset; }),
                   "section 'values' of the .weft file lies outside the file");
  const std::string not_described = "section 5 of the .weft file is not described as the format demands";
  expect_refused(record([](SectionRecord& r) { r.type = 99; }), not_described);
  expect_refused(record([](SectionRecord& r) { r.name.fill('x'); }), not_described);
  expect_refused(record([](SectionRecord& r) { r.name.fill('\0'); }), not_described);
  expect_refused(record([](SectionRecord& r) { r.name[31] = 'x'; }), not_described);
  expect_refused(record([](SectionRecord& r) { r.reserved = 1; }), not_described);
  expect_refused(record([&](SectionRecord& r) { name(r, "columns"); }), not_described);
  expect_refused(record([](SectionRecord& r) { r.type = 8; }),
                 "section 'values' of the .weft file holds i64 where f64 belongs");
  expect_refused(record([&](SectionRecord& r) { name(r, "weights"); }), "the .weft file has no section 'values'");
}

TEST(Container, ForgedMatricesAreRefused) {
  using Pair = std::array<std::int64_t, 2>;
  const auto shaped = [](Pair size) { return forged<Pair>(content_at(shape), [&](Pair& s) { s = size; }); };
  for (const Pair size : {Pair{-1, 4}, Pair{3, -4}})
    expect_refused(shaped(size), "the .weft file's section 'shape' is not the size of a matrix");
  for (const Pair size : {Pair{std::int64_t{1} << 40, 4}, Pair{3, std::int64_t{1} << 31}})
    expect_refused(shaped(size),
                   "the matrix has " + std::to_string(size[0]) + " rows and " + std::to_string(size[1]) +
                       " columns, past the 2147483647 that are supported",
                   ErrorCode::unsupported);
  const std::string no_matrix = "the .weft file holds no matrix: ";
  expect_refused(shaped({2, 4}), no_matrix + "the matrix has 2 rows and so needs 3 offsets, not 4");
  expect_refused(shaped({3, 3}),
                 no_matrix + "entry 1 (row 0) is in column 3, but the matrix has 3 columns, counted from 0");

  const auto offset = [](int at, std::int64_t number) {
    return forged<std::array<std::int64_t, 4>>(content_at(offsets), [&](auto& o) { o[at] = number; });
  };
  for (const std::int64_t last : {std::int64_t{2}, std::int64_t{4}, std::int64_t{1} << 60})
    expect_refused(offset(3, last),
                   no_matrix + "the last offset is " + std::to_string(last) + " but there are 3 entries");
  expect_refused(offset(3, -1), no_matrix + "the offsets fall from 2 to -1 at row 2");
  expect_refused(offset(1, std::int64_t{1} << 60),
                 no_matrix + "the offsets fall from 1152921504606846976 to 2 at row 1");

  const auto column = [](int at, std::int32_t number) {
    return forged<std::array<std::int32_t, 3>>(content_at(columns), [&](auto& c) { c[at] = number; });
  };
  expect_refused(column(0, 3), no_matrix + "entry 1 (row 0, column 3) repeats the column of the entry before it");
  expect_refused(column(2, -1),
                 no_matrix + "entry 2 (row 2) is in column -1, but the matrix has 4 columns, counted from 0");
  expect_refused(forged<std::array<char, 3>>(content_at(kind), [](auto& k) { k[0] = 'x'; }),
                 "the .weft file holds no csr matrix");
}

Csr<double> symmetric_matrix(Symmetry symmetry) {
  return {2, 2, {0, 1, 2}, {1, 0}, {1.5, symmetry == Symmetry::skew ? -1.5 : 1.5}, symmetry};
}

TEST(Container, TheMarkOfSymmetryReadsBack) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  for (const Symmetry symmetry : {Symmetry::general, Symmetry::symmetric, Symmetry::skew}) {
    write_weft(path, symmetric_matrix(symmetry));
    EXPECT_EQ(Container::open(path).has("symmetry"), symmetry != Symmetry::general) << "as files had it before";
    EXPECT_EQ(read_weft<double>(path).symmetry, symmetry);
    EXPECT_EQ(read_weft<float>(path).symmetry, symmetry) << "converted";
    EXPECT_EQ(read_matrix<double>(path).symmetry, symmetry);
  }
}

TEST(Container, ForgedMarksOfSymmetryAreRefused) {
  const auto file = [](std::string_view mark, std::int64_t rows) {
    const TemporaryFolder folder;
    const std::vector<std::int64_t> size = {rows, 3}, starts(static_cast<std::size_t>(rows) + 1, 0);
    const std::string_view csr = "csr";
    ContainerWriter writer;
    writer.add("kind", std::span(reinterpret_cast<const std::uint8_t*>(csr.data()), csr.size()));
    writer.add("shape", std::span<const std::int64_t>(size));
    writer.add("symmetry", std::span(reinterpret_cast<const std::uint8_t*>(mark.data()), mark.size()));
    writer.add("offsets", std::span<const std::int64_t>(starts));
    writer.add("columns", std::span<const std::int32_t>());
    writer.add("values", std::span<const double>());
    writer.write(folder.file("a.weft"));
    return read_bytes(folder.file("a.weft"));
  };
  EXPECT_EQ(parse(file("skew-symmetric", 3)).symmetry, Symmetry::skew);
  for (const char* mark : {"", "general", "symmetri", "symmetric ", "hermitian"})
    expect_refused(file(mark, 3), "the .weft file's section 'symmetry' is neither 'symmetric' nor 'skew-symmetric'");
  expect_refused(file("symmetric", 2), "the .weft file marks a matrix as symmetric that has 2 rows and 3 columns");
  expect_refused(file("skew-symmetric", 4),
                 "the .weft file marks a matrix as skew-symmetric that has 4 rows and 3 columns");
}

/// A damaged section is noticed when it is used, by verify() and not before; no section is hashed twice.
TEST(Container, SectionsAreVerifiedOnceAndOnlyWhenTheyAreUsed) {
  std::string bytes = small_file();
  const std::size_t value = content_at(values);
  bytes[value] ^= 1;
  const auto owner = std::make_shared<Array<std::byte>>(Array<std::byte>::copy_of(std::as_bytes(std::span(bytes))));
  const Container container({owner, {owner->data(), owner->size()}}, "a.weft");
  EXPECT_EQ(kind_of(container), "csr");
  const std::string damaged = "a.weft: section 'values' of the .weft file is damaged: its checksum does not agree";
  EXPECT_EQ(error_of([&] { container.verify(); }).what(), damaged);
  EXPECT_EQ(error_of([&] { container.section<double>("values"); }).what(), damaged) << "a refusal is not forgotten";
  (*owner)[value] ^= std::byte{1};
  EXPECT_EQ(container.section<double>("values")[0], 1.5);
  (*owner)[value] ^= std::byte{1};  // as a user who writes to the view does
  container.section<double>("values");
  std::vector<double> reported;
  container.verify([&](double fraction) {
    reported.push_back(fraction);
    return true;
  });
  EXPECT_TRUE(reported.empty()) << "nothing was left to verify";
}

TEST(Container, NumbersTooLargeForTheTypeAskedForAreRefused) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  write_weft(path, Csr<double>{3, 4, {0, 2, 2, 3}, {0, 3, 1}, {-infinity, 1e-300, 3e38}});
  EXPECT_EQ(read_weft<float>(path).values[0], -std::numeric_limits<float>::infinity()) << "stored so, read so";
  write_weft(path, Csr<double>{3, 4, {0, 2, 2, 3}, {0, 3, 1}, {infinity, 1, -1e300}});
  const Error error = error_of([&] { read_weft<float>(path); });
  EXPECT_EQ(error.code(), ErrorCode::parse);
  EXPECT_EQ(error.what(), path + ": the value '-1e+300' at row 3, column 2 is too large for f32");
  EXPECT_EQ(read_weft<double>(path).values[2], -1e300);
}

TEST(Container, ProgressRisesToOne) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const std::size_t size = 1 << 20;
  Csr<double> matrix{1, size, {0, size}, Array<Index>(size), Array<double>(size, 1)};
  for (std::size_t i = 0; i < size; ++i) matrix.columns[i] = static_cast<Index>(i);
  write_weft(path, matrix);
  for (const int threads : {1, 3}) {
    const Threads used(threads);
    std::vector<double> told;
    ReadOptions options;
    options.progress = [&](double fraction) {
      told.push_back(fraction);
      return true;
    };
    read_weft<double>(path, options);
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    ASSERT_GE(told.size(), 3u) << "large sections report while they are read";
    EXPECT_GE(told.front(), 0);
    EXPECT_LT(told.front(), 0.5);
    EXPECT_EQ(told.back(), 1);
    EXPECT_EQ(std::count(told.begin(), told.end(), 1), 1);
  }
  ReadOptions options;
  options.progress = [](double) { return false; };
  EXPECT_EQ(error_of([&] { read_weft<double>(path, options); }).code(), ErrorCode::cancelled);
}

TEST(Container, SectionsOfAnyTypeReadBack) {
  const TemporaryFolder folder;
  const std::vector<std::uint16_t> shorts = {1, 2, 65535};
  const std::vector<float> floats(300000, 1.25f);
  ContainerWriter writer;
  writer.add("shorts", std::span<const std::uint16_t>(shorts));
  writer.add("floats", std::span<const float>(floats));
  writer.add("none", std::span<const std::int64_t>());
  EXPECT_EQ(error_of([&] { writer.add("none", std::span<const float>(floats)); }).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(error_of([&] { writer.add(std::string(32, 'x'), std::span<const float>(floats)); }).code(),
            ErrorCode::invalid_argument);
  writer.write(folder.file("any.weft"));
  ContainerWriter full;
  for (int i = 0; i < 4096; ++i) full.add(std::to_string(i), std::span<const float>());
  EXPECT_STREQ(error_of([&] { full.add("more", std::span<const float>()); }).what(),
               "a .weft file has at most 4096 sections");
  const Container container = Container::open(folder.file("any.weft"));
  const Array<std::uint16_t> back = container.section<std::uint16_t>("shorts");
  EXPECT_EQ(std::vector<std::uint16_t>(back.begin(), back.end()), shorts);
  EXPECT_EQ(container.section<float>("floats").size(), floats.size());
  EXPECT_TRUE(container.section<std::int64_t>("none").empty());
  EXPECT_FALSE(container.has("other"));
  const Error other = error_of([&] { container.section<float>("shorts"); });
  EXPECT_EQ(other.what(), folder.file("any.weft") + ": section 'shorts' of the .weft file holds u16 where f32 belongs");
}

}  // namespace
}  // namespace weft::io::testing
