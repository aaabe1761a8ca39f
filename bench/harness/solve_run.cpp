#include "solve_run.hpp"

#include <fmt/format.h>
#include <weft/plan.hpp>
#include <weft/spmv.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <thread>

#include "bench/peers/solver_peer.hpp"
#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "solvers.hpp"
#include "workspace.hpp"

namespace weft::bench {
namespace {

/// One solve: how long, how many iterations, how it ended.
using Outcome = PeerSolve;

/// A solver that is set up and waits to be timed.
template <Value V>
struct Contestant {
  std::size_t place = 0;  // in the case's measurements
  std::function<Outcome()> solve;
  std::shared_ptr<const Plan<V>> plan;
  std::unique_ptr<SolverPeer<V>> peer;
  Array<V> first;             // x of the first solve
  std::vector<double> times;  // seconds
  double spent = 0;
};

/// |b - A x| / |b| in f64, rows summed one after the other.
template <Value V>
double true_residual(const Csr<V>& matrix, const Array<V>& b, const Array<V>& x) {
  Array<double> squares(static_cast<std::size_t>(matrix.rows));
  parallel_for(std::int64_t{matrix.rows}, 1 << 12, [&](std::int64_t row) {
    double sum = static_cast<double>(b[row]);
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      sum -= static_cast<double>(matrix.values[k]) * static_cast<double>(x[matrix.columns[k]]);
    squares[row] = sum * sum;
  });
  double residual = 0, size = 0;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    residual += squares[i];
    size += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return size > 0 ? std::sqrt(residual / size) : std::sqrt(residual);
}

/// Takes one matrix through set-up, check and timing of every solver that competes on it.
template <Value V>
class SolveContest {
 public:
  SolveContest(const Csr<V>& matrix, const SolveRunOptions& options, SolveCase& result)
      : matrix_(matrix), options_(options), result_(result), host_b_(static_cast<std::size_t>(matrix.rows)) {
    const Array<V> x = random_vector<V>(static_cast<std::size_t>(matrix.cols), options.seed);
    reference_apply<V>(Op::none, V(1), matrix, x, V(0), host_b_);
    b_ = Vector<V>(options.device, host_b_);
    x_ = Vector<V>(options.device, x.size());
  }

  void add_ours(const std::string& format, const SolverChoice& choice) {
    SolveMeasurement m{.name = format, .method = choice.method, .preconditioner = choice.preconditioner};
    enter(std::move(m), [&](Contestant<V>& contestant, SolveMeasurement& entry) {
      contestant.plan = plan_of(format, entry);
      SolveOptions<V> how{
          .rtol = options_.rtol, .max_iterations = options_.max_iterations, .restart = options_.restart};
      const PlanOptions low{.device = options_.device,
                            .format = format,
                            .partition = options_.partition,
                            .coordinates = options_.coordinates,
                            .products = options_.products,
                            .remember = false};
      const auto solver = std::make_shared<PreparedSolver<V>>(*contestant.plan, matrix_, choice, how, low);
      entry.preconditioner_seconds = solver->setup_seconds();
      contestant.solve = [this, plan = contestant.plan, solver] {
        const Stopwatch timer;
        const SolveReport report = solver->solve(b_, x_);
        synchronize(options_.device);
        return Outcome{timer.seconds(), report.iterations, report.converged(), std::string(to_string(report.status))};
      };
    });
  }

  void add_peer(std::unique_ptr<SolverPeer<V>> peer) {
    SolveMeasurement m{
        .name = peer->library(), .method = peer->method(), .preconditioner = peer->preconditioner(), .peer = true};
    enter(std::move(m), [&](Contestant<V>& contestant, SolveMeasurement& entry) {
      const Stopwatch watch;
      peer->prepare(matrix_);
      const double seconds = watch.seconds();
      const PeerInfo info = peer->info();
      entry.plan_seconds = std::max(0.0, seconds - info.start_seconds);
      entry.upload_seconds = info.upload_seconds;
      entry.version = info.version;
      entry.details = info.details;
      contestant.peer = std::move(peer);
      contestant.solve = [this, solver = contestant.peer.get()] { return solver->solve(b_.data(), x_.data()); };
    });
  }

  /// Times everyone in turns, a solve each, as long as there is time: A B C A B C.
  void finish() {
    const bool has_peers = std::ranges::any_of(waiting_, [](const Contestant<V>& c) { return c.peer != nullptr; });
    const bool settles = options_.device.is_cpu() && threads() > 1 && has_peers;
    for (int round = 1; round < options_.repeats; ++round) {
      bool any = false;
      for (Contestant<V>& contestant : waiting_) {
        if (contestant.spent + contestant.times.back() > options_.seconds) continue;
        any = true;
        // OpenMP's threads look for work for some milliseconds after a product of a peer.
        if (settles) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        guarded(result_.measurements[contestant.place], [&] { time(contestant, contestant.solve()); });
        tell(1);
      }
      if (!any) break;
    }
    for (Contestant<V>& contestant : waiting_) summarize(contestant);
    waiting_.clear();
  }

 private:
  /// Sets up one contestant, and solves once: that is checked, and warms up.
  template <class SetUp>
  void enter(SolveMeasurement m, SetUp&& set_up) {
    Contestant<V> contestant;
    contestant.place = result_.measurements.size();
    guarded(m, [&] {
      set_up(contestant, m);
      fill<V>(x_, V(0));
      const Outcome outcome = contestant.solve();
      contestant.first = x_.download();
      m.iterations = outcome.iterations;
      m.status = outcome.status;
      m.relative_residual = true_residual(matrix_, host_b_, contestant.first);
      m.reached = m.relative_residual <= residual_slack * options_.rtol;
      time(contestant, outcome);
    });
    result_.measurements.push_back(m);
    if (m.measured()) waiting_.push_back(std::move(contestant));
    tell(static_cast<double>(++entered_));
  }

  template <class Work>
  void guarded(SolveMeasurement& m, Work&& work) {
    try {
      work();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::no_device || error.code() == ErrorCode::cancelled) throw;
      m.failure = error.what();
    } catch (const std::bad_alloc&) {
      m.failure = "not enough memory";
    } catch (const std::exception& error) {
      m.failure = error.what();
    }
  }

  void time(Contestant<V>& contestant, const Outcome& outcome) {
    contestant.times.push_back(outcome.seconds);
    contestant.spent += outcome.seconds;
    if (contestant.times.size() == 1) return;
    const Array<V> x = x_.download();
    if (std::memcmp(x.data(), contestant.first.data(), x.bytes()) != 0)
      result_.measurements[contestant.place].repeatable = false;
  }

  /// The first solve is a warm-up, unless it is the only one.
  void summarize(Contestant<V>& contestant) {
    SolveMeasurement& m = result_.measurements[contestant.place];
    if (!m.measured()) return;
    std::vector<double>& times = contestant.times;
    if (times.size() > 1) times.erase(times.begin());
    m.solves = static_cast<int>(times.size());
    m.solve = quartiles(times);
  }

  /// A format is planned once for all solvers that use it; each counts what that took.
  std::shared_ptr<const Plan<V>> plan_of(const std::string& format, SolveMeasurement& m) {
    auto known = plans_.find(format);
    if (known == plans_.end()) {
      const Stopwatch watch;
      auto made = std::make_shared<const Plan<V>>(plan(MatrixSource<V>(matrix_), {.device = options_.device,
                                                                                  .format = format,
                                                                                  .partition = options_.partition,
                                                                                  .coordinates = options_.coordinates,
                                                                                  .products = options_.products,
                                                                                  .remember = false}));
      synchronize(options_.device);
      known = plans_.emplace(format, Planned{std::move(made), watch.seconds()}).first;
    }
    const PlanInfo& info = known->second.plan->info();
    m.plan_seconds = known->second.seconds;
    m.chosen = info.format;
    m.details = info.details;
    m.recipe = info.recipe;
    return known->second.plan;
  }

  void tell(double steps) const {
    // Nobody knows how many rounds there will be: the set-ups are what can be counted.
    const double share = std::min(1.0, steps / static_cast<double>(std::max<std::size_t>(expected_, 1)));
    if (options_.progress && !options_.progress(share))
      throw Error(ErrorCode::cancelled, "the measurement was cancelled");
  }

 public:
  void expect(std::size_t contestants) { expected_ = contestants; }

 private:
  struct Planned {
    std::shared_ptr<const Plan<V>> plan;
    double seconds = 0;
  };

  const Csr<V>& matrix_;
  const SolveRunOptions& options_;
  SolveCase& result_;
  Array<V> host_b_;
  Vector<V> b_, x_;
  std::map<std::string, Planned> plans_;
  std::vector<Contestant<V>> waiting_;
  std::size_t expected_ = 1;
  std::size_t entered_ = 0;
};

/// Every method with every preconditioner, each once: `auto` may come to one that is there already.
template <Value V>
std::vector<SolverChoice> choices_of(const Csr<V>& matrix, const SolveRunOptions& options) {
  std::vector<SolverChoice> choices;
  for (const std::string& method : options.methods)
    for (const std::string& preconditioner : options.preconditioners) {
      SolverChoice choice = choose_solver(matrix, method, preconditioner);
      if (std::ranges::none_of(choices, [&](const SolverChoice& one) { return one.name() == choice.name(); }))
        choices.push_back(std::move(choice));
    }
  return choices;
}

}  // namespace

template <Value V>
SolveCase run_solve_case(const std::string& source, const Csr<V>& matrix, const SolveRunOptions& options,
                         std::vector<std::string>& notes) {
  if (matrix.rows != matrix.cols)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} rows and {} columns; only square matrices can be solved with", source, matrix.rows,
                            matrix.cols));
  SolveCase result{.source = source,
                   .type = value_type<V>,
                   .rows = matrix.rows,
                   .nonzeros = matrix.nonzeros(),
                   .rtol = options.rtol};
  const std::vector<SolverChoice> choices = choices_of(matrix, options);
  const bool scales =
      std::ranges::any_of(choices, [](const SolverChoice& one) { return one.preconditioner != "none"; });
  const SolveTask task{.method = peers_of(choices.front().method),
                       .preconditioner = scales ? "jacobi" : "none",
                       .rtol = options.rtol,
                       .max_iterations = options.max_iterations,
                       .restart = options.restart};
  std::vector<std::string> missing;
  auto peers = find_solver_peers<V>(options.device, task, options.peers, missing);
  for (const std::string& note : missing)
    if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);

  SolveContest<V> contest(matrix, options, result);
  contest.expect(options.formats.size() * choices.size() + peers.size());
  for (const std::string& format : options.formats)
    for (const SolverChoice& choice : choices) contest.add_ours(format, choice);
  for (auto& peer : peers) contest.add_peer(std::move(peer));
  contest.finish();
  compare(result);
  return result;
}

bool SolveBenchReport::all_reached() const {
  for (const SolveCase& one : cases)
    for (const SolveMeasurement& m : one.measurements)
      if (!m.peer && m.measured() && !m.reached) return false;
  return true;
}

void compare(SolveCase& one) {
  std::vector<SolveMeasurement*> ranked;
  double soonest_peer = 0;
  for (SolveMeasurement& m : one.measurements) {
    if (!m.counts()) continue;
    ranked.push_back(&m);
    if (m.peer && (soonest_peer == 0 || m.total_seconds() < soonest_peer)) soonest_peer = m.total_seconds();
  }
  for (SolveMeasurement* m : ranked) {
    if (m->peer) continue;
    if (soonest_peer > 0 && m->total_seconds() > 0) m->peer_ratio = soonest_peer / m->total_seconds();
    double fastest = 0;
    for (const SolveMeasurement* other : ranked)
      if (other->peer && other->solver() == m->solver() && other->iteration_seconds() > 0 &&
          (fastest == 0 || other->iteration_seconds() < fastest))
        fastest = other->iteration_seconds();
    if (fastest > 0 && m->iteration_seconds() > 0) m->iteration_ratio = fastest / m->iteration_seconds();
  }
  std::ranges::sort(ranked, {}, [](const SolveMeasurement* m) { return m->total_seconds(); });
  const SolveMeasurement* leader = nullptr;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const bool tied = leader && ranked[i]->total_seconds() < leader->total_seconds() * tie;
    ranked[i]->rank = tied ? leader->rank : static_cast<int>(i) + 1;
    if (!tied) leader = ranked[i];
  }
}

#define WEFT_INSTANTIATE(V)                                                                               \
  template SolveCase run_solve_case<V>(const std::string&, const Csr<V>&, const SolveRunOptions& options, \
                                       std::vector<std::string>&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::bench
