#pragma once

namespace weft::test {

/// How often this program has called operator new so far.
long allocations();

}  // namespace weft::test
