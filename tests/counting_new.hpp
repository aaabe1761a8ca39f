#pragma once

namespace weft::test {

/// How often this program has called operator new so far; always 0 under the address sanitizer, which has its own.
long allocations();

}  // namespace weft::test
