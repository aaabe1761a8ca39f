#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace weft::io {

/// A file that appears under its name complete or not at all.
///
/// The content is written into a file without a name (O_TMPFILE) in the target's directory, or where the file system
/// has none of those, into `.NAME.PID.tmp`; `commit` gives it its name. Destroyed without commit, it leaves nothing
/// behind. A target that is a device or a pipe is written straight into. All members throw Error(io) when the operating
/// system refuses, a full disk included.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  void commit();

 private:
  [[noreturn]] void fail(int error_number) const;
  void open_unnamed();
  void open_named();
  void name_unnamed();

  std::string path_;    ///< as the caller gave it, for sentences
  std::string target_;  ///< with a link at its end followed
  std::string directory_;
  std::string temporary_;  ///< empty while the file has no name
  int descriptor_ = -1;
  int slot_ = -1;  ///< where remove_unfinished_files finds the temporary name
  bool direct_ = false;
};

}  // namespace weft::io
