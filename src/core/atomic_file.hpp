#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace weft::io {

/// A file that appears under its name complete or not at all.
///
/// The content is written into a file without a name (O_TMPFILE) in the target's directory, or where the file system
/// has none of those, into `.NAME.PID.N.tmp`; `commit` gives it its name. Destroyed without commit, it leaves nothing
/// behind. Links are followed. A target that is a device, a pipe or an open descriptor (/dev/stdout, /dev/fd/3) is
/// written straight into. All members throw Error(io) when the operating system refuses, a full disk included.
class AtomicFile {
 public:
  enum class Way { unnamed_where_possible, named };
  explicit AtomicFile(const std::string& path, Way way = Way::unnamed_where_possible);
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
  void take_temporary_name(const std::function<int(const char* name)>& create);

  std::string path_;    ///< as the caller gave it, for sentences
  std::string target_;  ///< with links at its end followed
  std::string directory_;
  std::string temporary_;  ///< empty while the file has no name
  int descriptor_ = -1;
  int slot_ = -1;  ///< where remove_unfinished_files finds the temporary name
  bool direct_ = false;
};

/// Whether the name, links followed, stands for a descriptor of this process: /dev/stdout, /dev/fd/3 and the like.
bool is_open_descriptor(const std::string& path);

}  // namespace weft::io
