#pragma once
#include <weft/export.hpp>

#include <stdexcept>
#include <string>

namespace weft {

enum class ErrorCode {
  invalid_argument,  ///< a caller's argument is wrong (length, name, range)
  invalid_matrix,    ///< arrays that are not a matrix (offsets fall, index out of range, duplicates refused)
  io,                ///< the operating system refused: no such file, disk full, ...
  parse,             ///< a file's content is wrong; the message starts with file:line, or file: for a binary one
  unsupported,       ///< well formed, but this build, format or device cannot do it
  no_device,         ///< the device asked for does not exist or cannot be used
  out_of_memory,
  cancelled,  ///< a progress callback asked to stop
  internal,   ///< a bug in Weft; please report
};

/// Everything Weft throws but std::bad_alloc. `what()` is one sentence a user can act on.
class WEFT_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace weft
