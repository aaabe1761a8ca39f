#include "python_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/timer.hpp"
#include "driver_text.hpp"
#include "shared_library.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t longest_answer = 1 << 16;

double timeout_from_environment() {
  constexpr double otherwise = 120;
  const char* text = std::getenv("WEFT_PEER_TIMEOUT");
  const double seconds = text ? std::strtod(text, nullptr) : 0;
  return seconds > 0 && seconds < 1e6 ? seconds : otherwise;
}

/// How a process ended, in words.
std::string end_text(int status) {
  if (WIFSIGNALED(status)) return "was ended by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

SharedMemory::SharedMemory(std::size_t size) : size_(std::max<std::size_t>(size, 1)) {
  file_ = memfd_create("weft", MFD_CLOEXEC);
  const auto length = static_cast<off_t>(size_);
  // Reserved at once: a page that cannot be had later would end the process.
  if (file_ >= 0 && posix_fallocate(file_, 0, length) == 0) {
    void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (memory != MAP_FAILED) data_ = static_cast<std::byte*>(memory);
  }
  if (data_) return;
  if (file_ >= 0) close(file_);
  throw Error(ErrorCode::out_of_memory, "cannot share " + std::to_string(size_) + " bytes with another process");
}

SharedMemory::~SharedMemory() {
  if (data_) munmap(data_, size_);
  if (file_ >= 0) close(file_);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept { *this = std::move(other); }

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

std::string python_program() {
  if (const char* chosen = std::getenv("WEFT_PYTHON"); chosen && *chosen) return chosen;
  const std::string beside = peer_folders("bin").back() + "/python";
  return access(beside.c_str(), X_OK) == 0 ? beside : "python3";
}

PythonProcess::PythonProcess(const SharedMemory& memory) : timeout_(timeout_from_environment()) {
  // A socket and not a pipe: writing to a dead reader is then an error, and no signal that would end the tool.
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw Error(ErrorCode::io, std::string("no socket to talk to Python: ") + std::strerror(errno));
  channel_ = ends[0];

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Sources first above the targets, so that none is overwritten before it is used.
  const int socket = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  const int shared = memory.file() >= 0 ? fcntl(memory.file(), F_DUPFD_CLOEXEC, 10) : -1;
  posix_spawn_file_actions_adddup2(&actions, socket, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  if (shared >= 0) posix_spawn_file_actions_adddup2(&actions, shared, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;
  sigemptyset(&usual);
  for (int number : {SIGINT, SIGPIPE, SIGXFSZ}) sigaddset(&usual, number);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);

  const std::string program = python_program();
  std::string option = "-c";
  std::string text = driver_text;
  std::string name = program;
  char* arguments[] = {name.data(), option.data(), text.data(), nullptr};
  const int problem = posix_spawnp(&process_, program.c_str(), &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  for (int file : {ends[1], socket, shared})
    if (file >= 0) close(file);
  if (problem == 0) return;
  process_ = -1;
  close(std::exchange(channel_, -1));
  throw Error(ErrorCode::io, program + " cannot be started: " + std::strerror(problem));
}

PythonProcess::~PythonProcess() { end(); }

void PythonProcess::end() {
  if (channel_ >= 0) close(std::exchange(channel_, -1));
  if (process_ <= 0) return;
  // It has nothing to save, and may be busy for long.
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

void PythonProcess::give_up(const std::string& why) {
  end();
  throw Error(ErrorCode::io, why);
}

nlohmann::json PythonProcess::ask(const nlohmann::json& question) {
  if (channel_ < 0) throw Error(ErrorCode::io, "Python's process is not there any more");
  send(question.dump() + "\n");
  const nlohmann::json answer = nlohmann::json::parse(receive(), nullptr, false);
  if (!answer.is_object()) give_up("Python's process gave an answer that makes no sense");
  if (const auto refusal = answer.find("error"); refusal != answer.end())
    throw Error(ErrorCode::unsupported, refusal->is_string() ? refusal->get<std::string>() : "Python refused");
  return answer;
}

void PythonProcess::send(const std::string& text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::send(channel_, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count > 0)
      sent += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      return;  // it has ended; receiving tells how
  }
}

std::string PythonProcess::receive() {
  const Stopwatch watch;
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (received_.size() > longest_answer) give_up("Python's process gave an answer that makes no sense");
    const double left = timeout_ - watch.seconds();
    if (left <= 0) {
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, "%g", timeout_);
      give_up(std::string("Python's process did not answer within ") + seconds + " s");
    }
    pollfd wait = {.fd = channel_, .events = POLLIN, .revents = 0};
    if (poll(&wait, 1, static_cast<int>(std::ceil(std::min(left, 60.0) * 1000))) <= 0) continue;
    char part[4096];
    const ssize_t count = recv(channel_, part, sizeof part, 0);
    if (count > 0) {
      received_.append(part, static_cast<std::size_t>(count));
    } else if (count == 0 || errno != EINTR) {
      // The socket closes a moment before the process is gone; one that lives on is ended.
      int status = 0;
      for (int patience = 0; patience < 200; ++patience) {
        if (waitpid(process_, &status, WNOHANG) != 0) {
          process_ = -1;
          give_up("Python's process " + end_text(status));
        }
        usleep(10000);
      }
      give_up("Python's process stopped talking");
    }
  }
}

}  // namespace weft::bench
