#pragma once
#include <string>
#include <string_view>

namespace weft::app {

/// Writes a result to standard output and makes sure that it arrived: throws Error(io) when it did not.
void print(std::string_view text);

/// Writes `text` to the file, which appears complete or not at all; "-" is standard output.
void write_text(const std::string& path, const std::string& text);

/// Says one sentence on standard error, in one line. Where that cannot be written there is nobody to tell.
void complain(std::string_view sentence) noexcept;

/// Says something on standard error that is no result and no error, unless --quiet was given.
void note(std::string_view sentence);
void show_notes(bool shown);

}  // namespace weft::app
