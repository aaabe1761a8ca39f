#include "core/atomic_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/error.hpp>
#include <weft/io.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

#include "core/file_bytes.hpp"

namespace weft {
namespace io {
namespace {

/// Names of temporary files on disk, where a signal handler can find them: fixed memory, no locks.
struct UnfinishedFile {
  enum State { free, taken, listed };
  std::atomic<int> state{free};
  char path[PATH_MAX] = {};
};
constexpr int slots = 32;
std::array<UnfinishedFile, slots> unfinished;
static_assert(std::atomic<int>::is_always_lock_free);

/// -1 when the table is full: the file is then only removed on the ordinary paths.
int list_unfinished(const std::string& path) {
  if (path.size() >= PATH_MAX) return -1;
  for (int slot = 0; slot < slots; ++slot) {
    int expected = UnfinishedFile::free;
    if (!unfinished[slot].state.compare_exchange_strong(expected, UnfinishedFile::taken)) continue;
    std::memcpy(unfinished[slot].path, path.c_str(), path.size() + 1);
    unfinished[slot].state = UnfinishedFile::listed;
    return slot;
  }
  return -1;
}

void forget_unfinished(int slot) {
  if (slot >= 0) unfinished[slot].state = UnfinishedFile::free;
}

std::string temporary_name(const std::string& directory, const std::string& target) {
  static std::atomic<unsigned> counter{0};
  const std::string base = target.substr(target.rfind('/') + 1).substr(0, 200);
  return directory + "/." + base + "." + std::to_string(::getpid()) + "." + std::to_string(counter++) + ".tmp";
}

/// The descriptor that /dev/fd/3 or /proc/self/fd/3 stands for; -1 for other names. What the system says it leads to
/// would not do: a shell may have opened that file to append to it.
int descriptor_of(const std::string& path) {
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const char* const end = path.data() + path.size();
    int descriptor = -1;
    const auto [stopped, error] = std::from_chars(path.data() + folder.size(), end, descriptor);
    if (error == std::errc{} && stopped == end) return descriptor;
  }
  return -1;
}

/// The name at the end of a chain of links, whether a file is there or not.
std::string follow_links(const std::string& path) {
  std::filesystem::path at = path;
  for (int links = 0; links < 40; ++links) {
    if (descriptor_of(at) >= 0) return at;
    std::error_code error;
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) return at;
    at = at.parent_path() / next;
  }
  throw Error(ErrorCode::io, system_sentence("cannot write", path, ELOOP));
}

}  // namespace

bool is_open_descriptor(const std::string& path) { return descriptor_of(follow_links(path)) >= 0; }

// 1. Look at what the name stands for now. 2. Open a file without a name beside it, or one with a temporary name.
AtomicFile::AtomicFile(const std::string& path, Way way) : path_(path), target_(follow_links(path)) {
  if (const int open = descriptor_of(target_); open >= 0) {
    direct_ = true;
    descriptor_ = ::fcntl(open, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  const std::size_t slash = target_.rfind('/');
  directory_ = slash == std::string::npos ? "." : slash == 0 ? "/" : target_.substr(0, slash);
  struct stat status{};
  const bool exists = ::stat(target_.c_str(), &status) == 0;
  if (path.empty() || (exists && S_ISDIR(status.st_mode)) || target_.back() == '/')
    throw Error(ErrorCode::io,
                "cannot write " + (path.empty() ? "a file without a name" : path + ": it is a directory"));
  if (exists && !S_ISREG(status.st_mode)) {
    direct_ = true;
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(errno);
    return;
  }
  if (exists && ::access(target_.c_str(), W_OK) != 0) fail(errno);
  if (way == Way::unnamed_where_possible) open_unnamed();
  if (descriptor_ < 0) open_named();
  // A replaced file keeps its permissions; failing that is no reason to lose the data.
  if (exists && ::fchmod(descriptor_, status.st_mode & 07777) != 0) errno = 0;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget_unfinished(slot_);
}

void AtomicFile::fail(int error_number) const {
  throw Error(ErrorCode::io, system_sentence("cannot write", path_, error_number));
}

void AtomicFile::open_unnamed() {
#ifdef O_TMPFILE
  descriptor_ = ::open(directory_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
}

void AtomicFile::open_named() {
  take_temporary_name([&](const char* name) {
    descriptor_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return descriptor_;
  });
}

/// create(name) makes the file, or gives -1 and errno. A name that is taken, by what a killed process with the same
/// number left behind, is passed over.
void AtomicFile::take_temporary_name(const std::function<int(const char* name)>& create) {
  int error_number = EEXIST;
  while (error_number == EEXIST) {
    temporary_ = temporary_name(directory_, target_);
    slot_ = list_unfinished(temporary_);
    if (create(temporary_.c_str()) >= 0) return;
    error_number = errno;
    temporary_.clear();
    forget_unfinished(slot_);
    slot_ = -1;
  }
  fail(error_number);
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    if (written == 0) fail(ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

/// linkat cannot replace a file that is there, so the name is a temporary one until the rename.
void AtomicFile::name_unnamed() {
  const std::string handle = "/proc/self/fd/" + std::to_string(descriptor_);
  take_temporary_name(
      [&](const char* name) { return ::linkat(AT_FDCWD, handle.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW); });
}

void AtomicFile::commit() {
  if (direct_) {
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail(errno);
    return;
  }
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail(errno);
  if (temporary_.empty()) name_unnamed();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  forget_unfinished(slot_);
  slot_ = -1;
  // The name itself reaches the disk with the directory; a file system that cannot do that still has the file.
  const int directory = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

}  // namespace io

void remove_unfinished_files() noexcept {
  for (io::UnfinishedFile& file : io::unfinished)
    if (file.state.load() == io::UnfinishedFile::listed) ::unlink(file.path);
}

}  // namespace weft
