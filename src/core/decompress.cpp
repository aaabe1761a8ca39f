#include "core/decompress.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <limits>

#ifdef WEFT_HAS_ZLIB
#include <zlib.h>
#endif
#ifdef WEFT_HAS_LZMA
#include <lzma.h>
#endif

namespace weft::io {
namespace {

bool begins_with(std::span<const std::byte> bytes, std::initializer_list<unsigned char> magic) {
  return bytes.size() >= magic.size() &&
         std::equal(magic.begin(), magic.end(), bytes.begin(),
                    [](unsigned char expected, std::byte found) { return std::byte{expected} == found; });
}

#if defined(WEFT_HAS_ZLIB) || defined(WEFT_HAS_LZMA)
/// Memory that grows by doubling; large blocks are moved by the kernel, not copied.
class GrowingBytes {
 public:
  explicit GrowingBytes(const std::string& name) : name_(name), limit_(machine_memory()) {}
  GrowingBytes(const GrowingBytes&) = delete;
  GrowingBytes& operator=(const GrowingBytes&) = delete;
  ~GrowingBytes() { std::free(memory_); }

  /// Room for at least that many more bytes.
  std::span<std::byte> room(std::size_t least) {
    if (capacity_ - size_ < least) grow(least);
    return {memory_ + size_, capacity_ - size_};
  }
  void filled(std::size_t count) { size_ += count; }

  FileBytes take() {
    if (size_ == 0) return {};
    if (void* fitted = std::realloc(memory_, size_)) memory_ = static_cast<std::byte*>(fitted);
    FileBytes result{std::shared_ptr<void>(memory_, std::free), {memory_, size_}};
    memory_ = nullptr;
    return result;
  }

 private:
  void grow(std::size_t least) {
    // The last step goes up to the limit: what fits must not be refused because twice as much would not.
    const std::size_t wanted = std::max(size_ + least, std::min(capacity_ * 2, limit_));
    void* grown = wanted <= limit_ ? std::realloc(memory_, wanted) : nullptr;
    if (!grown)
      throw Error(ErrorCode::out_of_memory, name_ + ": the unpacked file does not fit into this machine's memory");
    memory_ = static_cast<std::byte*>(grown);
    capacity_ = wanted;
  }

  const std::string& name_;
  std::size_t limit_;
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

constexpr std::size_t least_room = std::size_t{1} << 16;

[[noreturn]] void refuse(const std::string& name, const char* kind, bool cut) {
  throw Error(ErrorCode::parse, name + ": the " + kind + " file is " +
                                    (cut ? "cut: it ends before its content does" : "damaged and cannot be unpacked"));
}
#endif

#ifdef WEFT_HAS_ZLIB
FileBytes decompress_gzip(std::span<const std::byte> packed, const std::string& name) {
  GrowingBytes out(name);
  z_stream stream{};
  constexpr int gzip_only = 16 + MAX_WBITS;
  if (inflateInit2(&stream, gzip_only) != Z_OK) throw Error(ErrorCode::out_of_memory, name + ": cannot start zlib");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> closer(&stream, inflateEnd);

  std::size_t taken = 0;
  constexpr std::size_t step = std::numeric_limits<uInt>::max() / 2;
  while (true) {
    if (stream.avail_in == 0) {
      const std::size_t piece = std::min(packed.size() - taken, step);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + taken));
      stream.avail_in = static_cast<uInt>(piece);
      taken += piece;
    }
    const std::span<std::byte> room = out.room(least_room);
    const auto offered = static_cast<uInt>(std::min(room.size(), step));
    stream.next_out = reinterpret_cast<Bytef*>(room.data());
    stream.avail_out = offered;
    const int status = inflate(&stream, Z_NO_FLUSH);
    out.filled(offered - stream.avail_out);
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0 && taken == packed.size()) return out.take();
      // A gzip file may be several, one after the other; zero padding after the last is common and harmless.
      const std::span<const std::byte> rest = packed.subspan(taken - stream.avail_in);
      if (std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0}; })) return out.take();
      if (inflateReset(&stream) != Z_OK) refuse(name, "gzip", false);
    } else if (status == Z_BUF_ERROR || (status == Z_OK && stream.avail_in == 0 && taken == packed.size())) {
      if (stream.avail_out != 0) refuse(name, "gzip", true);
    } else if (status != Z_OK) {
      refuse(name, "gzip", false);
    }
  }
}
#endif

#ifdef WEFT_HAS_LZMA
FileBytes decompress_xz(std::span<const std::byte> packed, const std::string& name) {
  GrowingBytes out(name);
  lzma_stream stream = LZMA_STREAM_INIT;
  constexpr std::uint64_t dictionary_limit = std::uint64_t{1} << 30;
  if (lzma_stream_decoder(&stream, dictionary_limit, LZMA_CONCATENATED) != LZMA_OK)
    throw Error(ErrorCode::out_of_memory, name + ": cannot start liblzma");
  const std::unique_ptr<lzma_stream, void (*)(lzma_stream*)> closer(&stream, lzma_end);

  stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
  stream.avail_in = packed.size();
  while (true) {
    const std::span<std::byte> room = out.room(least_room);
    stream.next_out = reinterpret_cast<std::uint8_t*>(room.data());
    stream.avail_out = room.size();
    const lzma_ret status = lzma_code(&stream, LZMA_FINISH);
    out.filled(room.size() - stream.avail_out);
    if (status == LZMA_STREAM_END) return out.take();
    if (status == LZMA_MEMLIMIT_ERROR || status == LZMA_MEM_ERROR)
      throw Error(ErrorCode::out_of_memory, name + ": unpacking the xz file needs more than 1 GiB for its dictionary");
    if (status == LZMA_BUF_ERROR) refuse(name, "xz", true);
    if (status != LZMA_OK) refuse(name, "xz", false);
  }
}
#endif

}  // namespace

Compression detect_compression(std::span<const std::byte> bytes) {
  if (begins_with(bytes, {0x1f, 0x8b})) return Compression::gzip;
  if (begins_with(bytes, {0xfd, '7', 'z', 'X', 'Z', 0x00})) return Compression::xz;
  if (begins_with(bytes, {'B', 'Z', 'h'})) return Compression::bzip2;
  if (begins_with(bytes, {0x28, 0xb5, 0x2f, 0xfd})) return Compression::zstd;
  return Compression::none;
}

FileBytes decompress(std::span<const std::byte> packed, Compression compression, const std::string& name) {
  switch (compression) {
#ifdef WEFT_HAS_ZLIB
    case Compression::gzip:
      return decompress_gzip(packed, name);
#else
    case Compression::gzip:
      throw Error(ErrorCode::unsupported, name + ": this build of Weft lacks zlib; unpack the file with gunzip first");
#endif
#ifdef WEFT_HAS_LZMA
    case Compression::xz:
      return decompress_xz(packed, name);
#else
    case Compression::xz:
      throw Error(ErrorCode::unsupported, name + ": this build of Weft lacks liblzma; unpack the file with unxz first");
#endif
    case Compression::bzip2:
      throw Error(ErrorCode::unsupported, name + ": bzip2 is not supported; unpack the file with bunzip2 first");
    case Compression::zstd:
      throw Error(ErrorCode::unsupported, name + ": zstd is not supported; unpack the file with unzstd first");
    case Compression::none:
      break;
  }
  throw Error(ErrorCode::internal, name + ": decompress was called for a file that is not compressed");
}

}  // namespace weft::io
