#include "order/partition/methods.hpp"
#ifdef WEFT_HAS_METIS
#include <metis.h>
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "core/timer.hpp"
#endif

namespace weft {

bool has_metis() {
#ifdef WEFT_HAS_METIS
  return true;
#else
  return false;
#endif
}

namespace ordering {
#ifdef WEFT_HAS_METIS
namespace {

/// METIS puts handlers of its own for SIGABRT and SIGTERM in place while it runs, and afterwards the former ones back,
/// without their flags. Its handlers jump back into it on the thread they are called on: right for SIGABRT, which it
/// raises itself when memory runs out, but a SIGTERM from outside comes to any thread. So that one is given back to its
/// owner whenever METIS has taken it (its functions call each other, and each takes it), and both are restored with
/// their flags in the end.
class SignalKeeper {
 public:
  SignalKeeper() {
    sigaction(SIGTERM, nullptr, &terminate_);
    sigaction(SIGABRT, nullptr, &abort_);
  }
  void give_terminate_back() const {
    struct sigaction now{};
    sigaction(SIGTERM, nullptr, &now);
    if (now.sa_handler != terminate_.sa_handler || (now.sa_flags & SA_SIGINFO) != (terminate_.sa_flags & SA_SIGINFO))
      sigaction(SIGTERM, &terminate_, nullptr);
  }
  /// Unless somebody else has changed them meanwhile.
  void restore_flags() const {
    const auto restore = [](int number, const struct sigaction& before) {
      struct sigaction now{};
      sigaction(number, nullptr, &now);
      if (now.sa_handler == before.sa_handler) sigaction(number, &before, nullptr);
    };
    restore(SIGTERM, terminate_);
    restore(SIGABRT, abort_);
  }

 private:
  struct sigaction terminate_{}, abort_{};
};

/// One call of METIS and everything it reads and writes, so that it may outlive who asked for it.
struct Call {
  idx_t nodes = 0;
  idx_t parts = 0;
  idx_t imbalance = 30;  // thousandths of a part's mean
  Array<idx_t> offsets;
  Array<idx_t> neighbours;
  Array<idx_t> weights;
  Array<idx_t> node_weights;
  Array<idx_t> part_of;

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<SignalKeeper> signals;  // once it is its turn
  bool done = false;
  int status = METIS_OK;
};

template <class To, class From>
Array<To> converted(const Array<From>& from, Offset count) {
  if constexpr (std::same_as<To, From>) return from;
  Array<To> to(static_cast<std::size_t>(count));
  for (Offset i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
  return to;
}

/// METIS draws its random numbers from std::rand, which a process has one of: one call after the other.
std::mutex& metis_turn() {
  static std::mutex* turn = new std::mutex;  // never destroyed: a call that was cancelled may end after main
  return *turn;
}

void run(Call& call) {
  sigset_t all;  // signals from outside are for the program's own threads
  sigfillset(&all);
  for (const int own : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&all, own);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  int status = METIS_OK;
  {
    const std::lock_guard turn(metis_turn());
    {
      const std::lock_guard lock(call.mutex);
      call.signals.emplace();
    }
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_UFACTOR] = call.imbalance;
    idx_t constraints = 1, cut = 0;
    status = METIS_PartGraphKway(&call.nodes, &constraints, call.offsets.data(), call.neighbours.data(),
                                 call.node_weights.empty() ? nullptr : call.node_weights.data(), nullptr,
                                 call.weights.empty() ? nullptr : call.weights.data(), &call.parts, nullptr, nullptr,
                                 options, &cut, call.part_of.data());
    call.signals->restore_flags();
  }
  const std::lock_guard lock(call.mutex);
  call.done = true;
  call.status = status;
  call.changed.notify_all();
}

/// Waits for the call, which cannot be asked how far it is, and tells an estimate meanwhile.
void wait_for(Call& call, double expected_seconds, const Pulse& pulse) {
  const Stopwatch watch;
  double told = -1;
  std::unique_lock lock(call.mutex);
  while (!call.changed.wait_for(lock, std::chrono::milliseconds(2), [&] { return call.done; })) {
    if (call.signals) call.signals->give_terminate_back();
    if (watch.seconds() < told + 0.05) continue;
    told = watch.seconds();
    lock.unlock();
    pulse(1 - std::exp(-2 * watch.seconds() / expected_seconds));
    lock.lock();
  }
}

// With fewer nodes per part, METIS complains on standard output that it cannot bisect a graph with 0 vertices.
constexpr Index min_nodes_per_part = 8;

/// 1 and the neighbours of each node. A node counts at most half a part: where one weighs as much as several, METIS
/// tries to bisect what is left of them, which is nothing, and complains on standard output.
Array<idx_t> entries_for_metis(const NodeGraph& graph, Index parts) {
  Array<idx_t> weights(static_cast<std::size_t>(graph.nodes));
  Offset total = 0;
  for (Index node = 0; node < graph.nodes; ++node)
    total += weights[node] = static_cast<idx_t>(graph.offsets[node + 1] - graph.offsets[node] + 1);
  constexpr int max_rounds = 20;  // lighter nodes make lighter parts
  for (int round = 0; round < max_rounds; ++round) {
    const Offset heaviest = std::max<Offset>(1, total / (2 * Offset(parts))), before = total;
    total = 0;
    for (idx_t& weight : weights) total += weight = static_cast<idx_t>(std::min<Offset>(weight, heaviest));
    if (total == before) break;
  }
  return weights;
}

/// Sums of weights must fit METIS's numbers as well.
Array<idx_t> weights_for_metis(const NodeGraph& graph) {
  if (graph.edge_weights.empty()) return {};
  Offset sum = 0;
  for (Offset edge = 0; edge < graph.edges(); ++edge) sum += graph.edge_weights[edge];
  int shift = 0;
  while (sum >> shift > std::numeric_limits<idx_t>::max() / 2) ++shift;
  if (shift == 0) return converted<idx_t>(graph.edge_weights, graph.edges());
  Array<idx_t> weights(static_cast<std::size_t>(graph.edges()));
  for (Offset edge = 0; edge < graph.edges(); ++edge)
    weights[edge] = std::max<idx_t>(1, graph.edge_weights[edge] >> shift);
  return weights;
}

}  // namespace

Array<Index> metis_parts(const NodeGraph& graph, const PartSizes& sizes, const Pulse& pulse) {
  if (graph.nodes / sizes.parts < min_nodes_per_part) return multilevel_parts(graph, sizes, pulse);
  const bool fits =
      graph.edges() <= std::numeric_limits<idx_t>::max() / 2 && graph.nodes <= std::numeric_limits<idx_t>::max() / 2;
  if (!fits)
    throw Error(ErrorCode::unsupported, "the graph has " + std::to_string(graph.edges() / 2) +
                                            " edges, which is beyond the " + std::to_string(8 * sizeof(idx_t)) +
                                            "-bit numbers of this METIS; use the partitioner 'multilevel'");
  const Index limit = sizes.even_entries ? sizes.capacity : balanced_limit(graph.nodes, sizes);
  const auto call = std::make_shared<Call>();
  call->nodes = graph.nodes;
  call->parts = sizes.parts;
  const double slack = double(limit) * sizes.parts / graph.nodes - 1;
  call->imbalance = static_cast<idx_t>(std::clamp(1000 * slack, 1.0, 30.0));
  call->offsets = converted<idx_t>(graph.offsets, Offset(graph.nodes) + 1);
  call->neighbours = converted<idx_t>(graph.neighbours, graph.edges());
  call->weights = weights_for_metis(graph);
  if (sizes.even_entries) {
    call->imbalance = 5;
    call->node_weights = entries_for_metis(graph, sizes.parts);
  }
  call->part_of = Array<idx_t>(static_cast<std::size_t>(graph.nodes));

  std::thread([call] { run(*call); }).detach();
  const double expected_seconds = 0.1 + 1e-7 * double(graph.edges()) + 1e-6 * graph.nodes;
  wait_for(*call, expected_seconds, pulse);
  if (call->status == METIS_ERROR_MEMORY)
    throw Error(ErrorCode::out_of_memory,
                "not enough memory for METIS to partition " + std::to_string(graph.nodes) + " nodes");
  if (call->status != METIS_OK)
    throw Error(ErrorCode::internal, "METIS refuses the graph, status " + std::to_string(call->status));
  Array<Index> part_of = converted<Index>(call->part_of, graph.nodes);
  repair(graph, sizes.parts, limit, part_of);
  return part_of;
}
#else
Array<Index> metis_parts(const NodeGraph&, const PartSizes&, const Pulse&) {
  throw Error(ErrorCode::internal, "METIS was asked for in a build without it");
}
#endif

}  // namespace ordering
}  // namespace weft
