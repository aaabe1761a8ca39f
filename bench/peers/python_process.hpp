#pragma once
#include <sys/types.h>

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

namespace weft::bench {

/// Memory that a child process maps, too. It has no name and goes with the last who holds it.
class SharedMemory {
 public:
  SharedMemory() = default;
  explicit SharedMemory(std::size_t size);  ///< zeros; throws Error(out_of_memory)
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  int file() const { return file_; }  ///< -1: none

 private:
  int file_ = -1;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The Python to start: that of WEFT_PYTHON, else the virtual environment's beside the build folder, else python3.
std::string python_program();

/// A Python that runs driver.py and answers questions. It ends with this object, and by itself when this process ends.
class PythonProcess {
 public:
  /// Throws Error(io) when Python does not start.
  explicit PythonProcess(const SharedMemory& memory = {});
  ~PythonProcess();
  PythonProcess(const PythonProcess&) = delete;
  PythonProcess& operator=(const PythonProcess&) = delete;

  /// Sends a question and waits for the answer. Throws Error with the answer's own sentence when it is a refusal, or
  /// with ours when the process ends, talks nonsense or is silent for longer than WEFT_PEER_TIMEOUT seconds (else
  /// 120); after those no further question is asked.
  nlohmann::json ask(const nlohmann::json& question);

 private:
  void send(const std::string& text);
  std::string receive();
  [[noreturn]] void give_up(const std::string& why);
  void end();

  pid_t process_ = -1;
  int channel_ = -1;
  double timeout_ = 0;
  std::string received_;  // of an answer that is not complete
};

}  // namespace weft::bench
