#pragma once
#include <initializer_list>
#include <string>
#include <vector>

namespace weft::bench {

/// Folders where peers are looked for besides the system's own places: those of the environment variable WEFT_PEERS
/// (separated by colons), then `below` in the virtual environment beside the build folder this program lies in.
std::vector<std::string> peer_folders(const std::string& below);

/// A library opened at run time and never closed: the tool must start where it is absent.
class SharedLibrary {
 public:
  /// Opens the first of the files `names` that the loader finds, else that lies in one of the `peer_folders`. When
  /// there is none, `problem` says so of `title`.
  SharedLibrary(const std::string& title, const std::vector<std::string>& names);

  /// Empty, or why the library cannot be used.
  const std::string& problem() const { return problem_; }

  /// Finds a function or variable; one that is missing becomes the library's problem.
  template <class T>
  void find(T*& symbol, const char* name) {
    symbol = reinterpret_cast<T*>(look_up(name));
    if (!symbol && problem_.empty()) problem_ = file_ + " has no " + name + ", another version is needed";
  }

  /// Null when it is missing.
  void* look_up(const char* name) const;

 private:
  void open(const std::string& file);

  void* handle_ = nullptr;
  std::string file_;
  std::string problem_;
};

}  // namespace weft::bench
