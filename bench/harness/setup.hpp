#pragma once
#include <weft/source.hpp>

namespace weft::bench {

/// Seconds between the csr matrix on the host and the first product being possible, by what they were spent on. Of
/// `auto`, facts include building and timing what it did not choose.
using Setup = SetupTimes;

}  // namespace weft::bench
