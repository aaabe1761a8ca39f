#include "core/file_bytes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <weft/error.hpp>

#include <cerrno>
#include <limits>
#include <system_error>

#include "core/decompress.hpp"

namespace weft::io {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::size_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::numeric_limits<std::size_t>::max();
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
}

std::string system_sentence(const std::string& what, const std::string& path, int error_number) {
  return what + " " + path + ": " + std::system_category().message(error_number);
}

FileBytes map_file(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to must not wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) throw Error(ErrorCode::io, system_sentence("cannot open", path, errno));
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) throw Error(ErrorCode::io, system_sentence("cannot read", path, errno));
  if (S_ISDIR(status.st_mode)) throw Error(ErrorCode::io, "cannot read " + path + ": it is a directory");
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorCode::io, "cannot read " + path + ": it is a pipe or a device; store its content in a file first");
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return {};
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file.number(), 0);
  if (memory == MAP_FAILED) throw Error(ErrorCode::io, system_sentence("cannot map", path, errno));
  ::madvise(memory, size, MADV_SEQUENTIAL);
  return {std::shared_ptr<void>(memory, [size](void* mapped) { ::munmap(mapped, size); }),
          {static_cast<std::byte*>(memory), size}};
}

FileBytes read_file(const std::string& path) { return unpacked(map_file(path), path); }

FileBytes unpacked(FileBytes file, const std::string& path) {
  const Compression compression = detect_compression(file.bytes);
  if (compression == Compression::none) return file;
  return decompress(file.bytes, compression, path);
}

}  // namespace weft::io
