#include "io/container.hpp"

#include <cstring>

#include "io/checksum.hpp"
#include "io/container_layout.hpp"
#include "io/csr_container.hpp"
#include "io/io_testing.hpp"

namespace weft::io::testing {
namespace {

Csr<double> small_matrix() { return {3, 4, {0, 2, 2, 3}, {0, 3, 1}, {1.5, -2, 0.1}}; }

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

/// Makes the checksums agree again after a change, as somebody who forges a file would.
void sign(std::string& bytes) {
  FileHeader header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::size_t table = std::min(bytes.size(), sizeof(FileHeader) + header.sections * sizeof(SectionRecord));
  for (std::size_t at = sizeof(FileHeader); at + sizeof(SectionRecord) <= table; at += sizeof(SectionRecord)) {
    SectionRecord record;
    std::memcpy(&record, bytes.data() + at, sizeof(record));
    const std::size_t size = record.count * element_size(static_cast<ElementType>(record.type));
    if (record.offset > bytes.size() || size > bytes.size() - record.offset) continue;
    record.checksum = section_checksum(std::as_bytes(std::span(bytes)).subspan(record.offset, size));
    std::memcpy(bytes.data() + at, &record, sizeof(record));
  }
  header.checksum = 0;
  std::memcpy(bytes.data(), &header, sizeof(header));
  header.checksum = hash64(std::as_bytes(std::span(bytes)).first(table));
  std::memcpy(bytes.data(), &header, sizeof(header));
}

template <class Record, class Change>
std::string forged(std::size_t at, Change&& change) {
  std::string bytes = small_file();
  Record record;
  std::memcpy(&record, bytes.data() + at, sizeof(record));
  change(record);
  std::memcpy(bytes.data() + at, &record, sizeof(record));
  sign(bytes);
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
  EXPECT_EQ(hash("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1u);
}

TEST(Checksum, DoesNotDependOnTheNumberOfThreads) {
  std::vector<std::byte> bytes(5 << 20);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  set_threads(1);
  const std::uint64_t one = section_checksum(bytes);
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
  matrix.values[0] = 77;
  expect_equal(read_weft<double>(path), small_matrix());
}

TEST(Container, EveryTruncationIsRefused) {
  const std::string whole = small_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = error_of([&] { parse(whole.substr(0, size)); });
    EXPECT_EQ(error.code(), ErrorCode::parse) << size;
  }
  EXPECT_EQ(error_of([&] { parse(whole + std::string(64, '\0')); }).code(), ErrorCode::parse);
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

/// Files whose checksums agree but which claim what cannot be.
TEST(Container, ForgedTablesAreRefusedWithoutTakingMemory) {
  const auto refused = [](const std::string& bytes) {
    EXPECT_EQ(error_of([&] { parse(bytes); }).code(), ErrorCode::parse);
  };
  constexpr std::uint64_t huge = std::uint64_t{1} << 61;
  refused(forged<FileHeader>(0, [](FileHeader& h) { h.sections = 0xffffffff; }));
  refused(forged<FileHeader>(0, [](FileHeader& h) { h.sections = 6; }));
  refused(forged<FileHeader>(0, [](FileHeader& h) { h.sections = 4; }));
  refused(forged<FileHeader>(0, [](FileHeader& h) { h.file_bytes = huge; }));
  for (const std::uint64_t count : {huge, ~std::uint64_t{0}, std::uint64_t{1000}})
    refused(forged<SectionRecord>(record_at(values), [&](SectionRecord& r) { r.count = count; }));
  for (const std::uint64_t offset : {huge, ~std::uint64_t{0} - 7, std::uint64_t{0}, std::uint64_t{64}})
    refused(forged<SectionRecord>(record_at(values), [&](SectionRecord& r) { r.offset = offset; }));
  refused(forged<SectionRecord>(record_at(values), [](SectionRecord& r) { r.type = 99; }));
  refused(forged<SectionRecord>(record_at(values), [](SectionRecord& r) { r.type = 8; }));
  refused(forged<SectionRecord>(record_at(values), [](SectionRecord& r) { r.name.fill('x'); }));
  refused(forged<SectionRecord>(record_at(values), [](SectionRecord& r) { r.name[31] = 'x'; }));
  refused(forged<SectionRecord>(record_at(values), [](SectionRecord& r) { std::strcpy(r.name.data(), "columns"); }));
  refused(forged<SectionRecord>(record_at(values), [](SectionRecord& r) { std::strcpy(r.name.data(), "weights"); }));
}

TEST(Container, ForgedMatricesAreRefused) {
  using Pair = std::array<std::int64_t, 2>;
  const auto refused = [](const std::string& bytes) {
    EXPECT_EQ(error_of([&] { parse(bytes); }).code(), ErrorCode::parse);
  };
  for (const Pair size : {Pair{-1, 4}, Pair{3, -4}, Pair{std::int64_t{1} << 40, 4}, Pair{2, 4}, Pair{3, 3}})
    refused(forged<Pair>(content_at(shape), [&](Pair& s) { s = size; }));
  for (const std::int64_t last : {std::int64_t{2}, std::int64_t{4}, std::int64_t{1} << 60, std::int64_t{-1}})
    refused(forged<std::array<std::int64_t, 4>>(content_at(offsets), [&](auto& o) { o[3] = last; }));
  refused(forged<std::array<std::int64_t, 4>>(content_at(offsets), [](auto& o) { o[1] = std::int64_t{1} << 60; }));
  refused(forged<std::array<std::int32_t, 3>>(content_at(columns), [](auto& c) { c[0] = 3; }));
  refused(forged<std::array<std::int32_t, 3>>(content_at(columns), [](auto& c) { c[2] = -1; }));
  refused(forged<std::array<char, 3>>(content_at(kind), [](auto& k) { k[0] = 'x'; }));
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
