#pragma once
#include <weft/types.hpp>

#include <cstdint>
#include <string>

#include "formats/registry.hpp"

// Formats that pad rows refuse a matrix that would become too large, unless the user allows it by `padding=N`.
namespace weft {

constexpr std::int64_t default_padding_limit = 3;  ///< stored entries per nonzero
constexpr std::int64_t max_padding_limit = 1000000;

/// The parameter by which a user raises the limit.
ParameterInfo padding_parameter();

/// What FormatInfo::refuses says of such a format.
std::string refuses_padding();

/// Throws Error(unsupported) when `stored` entries of `entry_bytes` each for `kept` of the matrix are more than the
/// limit of `options` allows, with the bytes they would need. A few megabytes are always allowed. `instead` is what to
/// use if the limit is not to be raised: "or use hyb".
void require_little_padding(const std::string& format, Offset stored, Offset kept, std::size_t entry_bytes,
                            const BuildOptions& options, const std::string& instead);

/// The same for the part of a hybrid whose width is the hybrid's k: only a smaller k would help.
void require_little_padding_in_part(const std::string& part, const std::string& hybrid, Offset stored, Offset kept,
                                    std::size_t entry_bytes, const BuildOptions& options);

/// "246 MB, 931 times the entries", or empty when the limit allows it.
std::string padding_over(std::int64_t limit, Offset stored, Offset kept, std::size_t entry_bytes);

}  // namespace weft
