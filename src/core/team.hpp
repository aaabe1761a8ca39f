#pragma once
#include <cstdint>

// The library's own team of threads, for loops of 10 microseconds and more. An OpenMP region costs a multiple of what
// handing work to a thread that is already looking for some costs, and its threads wait for each other: one that lost
// its core to another process holds up all.
namespace weft {

using PieceBody = void (*)(void* context, int thread, std::int64_t piece);

/// Calls body(context, thread, piece) once for every piece of 0..pieces, on the calling thread and up to `threads` - 1
/// others, and returns when all are done. Thread t begins with the t-th part of the pieces, the same in every call, so
/// that what it reads stays in its own cache; when it is done it takes over pieces of threads that are not, so that
/// nobody waits for a thread that is late. Bodies must not throw. At a time, each has a `thread` of its own, below
/// `threads`.
///
/// The calling thread works alone inside one of its own OpenMP regions and inside a body. Callers on different threads
/// share the team: together they use `weft::threads()` threads, or as many as there are callers.
/// Threads look for work for a bounded time, then sleep; one that keeps losing its core leaves the work to the others
/// for a while. A forked child gets a team of its own. Allocates nothing.
void run_pieces(std::int64_t pieces, int threads, PieceBody body, void* context);

/// Starts the threads that run_pieces(..., threads, ...) would, which takes some 30 microseconds for each.
void prepare_team(int threads);

}  // namespace weft
