#include "shared_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace weft::bench {

std::vector<std::string> peer_folders(const std::string& below) {
  std::vector<std::string> folders;
  if (const char* listed = std::getenv("WEFT_PEERS")) {
    const std::string list = listed;
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(':', begin), list.size());
      if (end > begin) folders.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  // This program is build/PRESET/FOLDER/PROGRAM; .venv lies beside build.
  std::error_code problem;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (!problem) folders.push_back((program.parent_path() / "../../.." / ".venv" / below).lexically_normal().string());
  return folders;
}

SharedLibrary::SharedLibrary(const std::string& title, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!handle_) open(name);
  for (const std::string& folder : peer_folders("lib"))
    for (const std::string& name : names) {
      std::error_code problem;
      const std::filesystem::path file = std::filesystem::path(folder) / name;
      if (!handle_ && std::filesystem::exists(file, problem)) open(file.string());
    }
  if (handle_)
    problem_.clear();
  else if (problem_.empty())
    problem_ = title + " was not found; make peers installs it";
}

void SharedLibrary::open(const std::string& file) {
  handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_) {
    file_ = file;
    return;
  }
  // "FILE: cannot open ..." of the very file is what absence looks like; anything else is worth telling.
  const char* reason = dlerror();
  const std::string told = reason ? reason : "";
  if (problem_.empty() && !told.empty() && told.rfind(file + ": cannot open shared object file", 0) != 0)
    problem_ = told;
}

void* SharedLibrary::look_up(const char* name) const { return handle_ ? dlsym(handle_, name) : nullptr; }

}  // namespace weft::bench
