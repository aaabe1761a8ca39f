#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <weft/error.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/atomic_file.hpp"

namespace weft::app {
namespace {
bool notes_shown = true;
}

void print(std::string_view text) {
  // Straight to the descriptor: nothing is left in a buffer that could fail to arrive unnoticed after main.
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Error(ErrorCode::io, fmt::format("cannot write to standard output: {}",
                                             written < 0 ? std::strerror(errno) : "nothing more fits"));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_text(const std::string& path, const std::string& text) {
  if (path == "-") return print(text);
  io::AtomicFile file(path);
  file.write(text);
  file.commit();
}

void complain(std::string_view sentence) noexcept {
  while (sentence.ends_with('\n')) sentence.remove_suffix(1);
  std::fputs("weft: ", stderr);
  for (const char c : sentence) std::fputc(c == '\n' || c == '\r' ? ' ' : c, stderr);
  std::fputc('\n', stderr);
}

void note(std::string_view sentence) {
  if (notes_shown) complain(sentence);
}

void show_notes(bool shown) { notes_shown = shown; }

}  // namespace weft::app
