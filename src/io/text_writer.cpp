#include "io/text_writer.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <vector>

#include "core/atomic_file.hpp"
#include "core/parallel.hpp"
#include "core/progress_meter.hpp"

#ifdef WEFT_HAS_ZLIB
#include <zlib.h>
#endif

namespace weft::io {
namespace {

/// Items a range: some megabytes of text, so that a few ranges a thread keep all threads busy without much memory.
constexpr std::int64_t range_items = 1 << 16;

#ifdef WEFT_HAS_ZLIB
/// Replaces `text`, which is no longer than a range makes it, by a gzip member.
void compress(std::string& text) {
  z_stream stream{};
  constexpr int gzip_format = 16 + MAX_WBITS, memory_level = 8;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_format, memory_level, Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ErrorCode::out_of_memory, "cannot start zlib");
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int status = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw Error(ErrorCode::internal, "zlib did not finish");
  text = std::move(packed);
}
#else
void compress(std::string&) {
  throw Error(ErrorCode::unsupported,
              "this build of Weft lacks zlib; write a name without .gz and pack the file with gzip");
}
#endif

}  // namespace

void write_text_file(const std::string& path, const std::string& header, std::int64_t count, const Progress& progress,
                     const std::function<void(std::int64_t begin, std::int64_t end, std::string& text)>& append) {
  const bool packed = path.ends_with(".gz");
  AtomicFile file(path);
  std::string first = header;
  if (packed) compress(first);
  file.write(first);

  ProgressMeter meter(progress, count);
  const std::int64_t group_items = range_items * std::max(1, threads()) * 2;
  std::vector<std::string> texts(static_cast<std::size_t>(group_items / range_items));
  for (std::int64_t group = 0; group < count; group += group_items) {
    const std::int64_t items = std::min(group_items, count - group);
    parallel_ranges(items, range_items, [&](std::int64_t begin, std::int64_t end) {
      std::string& text = texts[static_cast<std::size_t>(begin / range_items)];
      text.clear();
      append(group + begin, group + end, text);
      if (packed) compress(text);
    });
    for (std::int64_t range = 0; range * range_items < items; ++range)
      file.write(texts[static_cast<std::size_t>(range)]);
    meter.add(items);
  }
  file.commit();
}

}  // namespace weft::io
