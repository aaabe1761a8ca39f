#pragma once
#include <weft/device.hpp>

#include <cstddef>

namespace weft::gpu {

/// Copies ordinary host memory to a GPU by several threads, each through pinned buffers of its own: the driver alone
/// copies such memory with one thread, at a fraction of what the bus can do. Waits for what is queued on `stream` and
/// for the copy itself. Returns false, having done nothing, where it would not pay or is not possible: few bytes,
/// memory that is pinned already, a stream that is being captured, another such copy under way.
bool staged_copy_in(int index, void* to, const void* from, std::size_t bytes, Stream stream);

}  // namespace weft::gpu
