#include "signals.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
#include <weft/io.hpp>

#include <cerrno>

namespace weft::app {
namespace {

extern "C" void end_by_signal(int number) {
  remove_unfinished_files();
  // The line a progress bar may stand on.
  static constexpr char erase[] = "\r\033[K";
  if (number == SIGINT && isatty(STDERR_FILENO) && write(STDERR_FILENO, erase, 4) < 0) {
    // Nothing can be done about it here.
  }
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action{};
  action.sa_handler = end_by_signal;
  sigemptyset(&action.sa_mask);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before{};
    // A signal that is ignored on purpose (nohup, a background job) stays ignored.
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
  // A file that may not grow further is an error to tell, not a reason to be killed.
  signal(SIGXFSZ, SIG_IGN);
}

void secure_standard_streams() {
  for (int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is the one that is missing. Opened the wrong way round on purpose, so that use still
    // fails.
    const int opened = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened >= 0 && opened != descriptor) close(opened);
  }
}

}  // namespace weft::app
