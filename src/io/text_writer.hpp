#pragma once
#include <weft/runtime.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace weft::io {

/// Writes a text file atomically: `header`, then what append(begin, end, text) makes of consecutive ranges that cover
/// 0..count, formatted in parallel and written in order; the same bytes for any number of threads. A name that ends in
/// .gz is compressed (one gzip member a range, which every gunzip reads as one file).
void write_text_file(const std::string& path, const std::string& header, std::int64_t count, const Progress& progress,
                     const std::function<void(std::int64_t begin, std::int64_t end, std::string& text)>& append);

}  // namespace weft::io
