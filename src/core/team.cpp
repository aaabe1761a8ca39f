// How a call of run_pieces goes:
// 1. The caller takes a free job, cuts its pieces into a range per thread, opens the job and announces it.
// 2. Threads that were looking for work, or sleeping, enter the job. Each takes pieces from the front of its own range,
//    then from the back of the others'.
// 3. The caller works like the others. When there is nothing left to take it closes the job, so that nobody enters any
//    more, and waits for those that are still inside, each with its last piece.
#include "core/team.hpp"

#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int max_threads = 256;  ///< per job; a larger request gets so many
constexpr int job_count = 8;      ///< at a time; further callers work alone
constexpr std::size_t line = 64;  ///< what is written by different threads must not share one

/// Looking for work longer than this costs others more than the wake-up that it avoids.
constexpr microseconds idle_spin(200);
/// The caller's last wait: threads inside have one piece each, which takes less unless they lost their cores. A caller
/// that sleeps leaves its core to them.
constexpr microseconds final_spin(50);
/// A thread that keeps losing its core leaves the work to the others for this long, then twice as long.
constexpr microseconds shortest_leave(5'000), longest_leave(320'000);

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// How a thread rounds, and whether it keeps numbers below the smallest normal one.
class FloatingPointMode {
 public:
  static FloatingPointMode of_this_thread() {
    FloatingPointMode mode;
#if defined(__x86_64__)
    mode.bits_ = __builtin_ia32_stmxcsr();
#endif
    return mode;
  }
  void set() const {
#if defined(__x86_64__)
    __builtin_ia32_ldmxcsr(bits_);
#endif
  }

 private:
  unsigned bits_ = 0;
};

/// Calls `done` until it returns true, for the given time at most.
template <class F>
bool spin(microseconds limit, F&& done) {
  constexpr int looks_per_clock = 32;
  for (int look = 0; look < looks_per_clock; ++look, pause())
    if (done()) return true;
  for (const Clock::time_point end = Clock::now() + limit; Clock::now() < end;)
    for (int look = 0; look < looks_per_clock; ++look, pause())
      if (done()) return true;
  return done();
}

/// Pieces that are not taken yet. The owner takes them from the front, others from the back.
class alignas(line) Range {
 public:
  void set(std::uint32_t begin, std::uint32_t end) { ends_.store(pack(begin, end), std::memory_order_relaxed); }
  bool take_first(std::uint32_t& piece) {
    return take([&](std::uint32_t begin, std::uint32_t end) {
      piece = begin;
      return pack(begin + 1, end);
    });
  }
  bool take_last(std::uint32_t& piece) {
    return take([&](std::uint32_t begin, std::uint32_t end) {
      piece = end - 1;
      return pack(begin, end - 1);
    });
  }

 private:
  static std::uint64_t pack(std::uint32_t begin, std::uint32_t end) { return std::uint64_t{end} << 32 | begin; }
  template <class F>
  bool take(F&& left) {
    std::uint64_t ends = ends_.load(std::memory_order_relaxed);
    for (;;) {
      const auto begin = static_cast<std::uint32_t>(ends), end = static_cast<std::uint32_t>(ends >> 32);
      if (begin >= end) return false;
      if (ends_.compare_exchange_weak(ends, left(begin, end), std::memory_order_relaxed)) return true;
    }
  }
  std::atomic<std::uint64_t> ends_{0};
};

/// One call of run_pieces.
class Job {
 public:
  bool claim() { return !claimed_.load(std::memory_order_relaxed) && !claimed_.exchange(true); }
  void release() { claimed_.store(false, std::memory_order_release); }

  void open(std::int64_t pieces, int threads, PieceBody body, void* context) {
    // Ranges count in 32 bits: of more pieces several make one.
    constexpr std::int64_t max_units = std::numeric_limits<std::uint32_t>::max() / 2;
    pieces_ = pieces;
    pieces_per_unit_ = (pieces - 1) / max_units + 1;
    const std::int64_t units = (pieces - 1) / pieces_per_unit_ + 1;
    threads_ = static_cast<int>(std::min<std::int64_t>(threads, units));
    body_ = body;
    context_ = context;
    mode_ = FloatingPointMode::of_this_thread();
    for (int t = 0; t < threads_; ++t)
      ranges_[t].set(static_cast<std::uint32_t>(units * t / threads_),
                     static_cast<std::uint32_t>(units * (t + 1) / threads_));
    gate_.store(is_open, std::memory_order_release);
  }

  /// By a thread of the team; false: it has no place in this job.
  bool enter(int thread) {
    std::uint32_t gate = gate_.load(std::memory_order_relaxed);
    do {
      if (!(gate & is_open)) return false;
    } while (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed));
    if (thread < threads_) return true;
    leave();
    return false;
  }
  void leave() {
    if (gate_.fetch_sub(1, std::memory_order_release) == 1) gate_.notify_one();
  }

  void work(int thread) {
    if (thread > 0) mode_.set();  // the caller's, so that it does not matter who takes a piece
    std::uint32_t unit = 0;
    while (ranges_[thread].take_first(unit)) run(thread, unit);
    for (int other = thread + 1; other < thread + threads_; ++other)
      while (ranges_[other % threads_].take_last(unit)) run(thread, unit);
  }

  void close_and_wait() {
    if (gate_.fetch_and(~is_open, std::memory_order_acquire) == is_open) return;
    if (spin(final_spin, [&] { return gate_.load(std::memory_order_acquire) == 0; })) return;
    for (std::uint32_t gate = 0; (gate = gate_.load(std::memory_order_acquire)) != 0;)
      gate_.wait(gate, std::memory_order_acquire);
  }

 private:
  static constexpr std::uint32_t is_open = 1u << 31;

  void run(int thread, std::uint32_t unit) const {
    const std::int64_t end = std::min(pieces_, (std::int64_t{unit} + 1) * pieces_per_unit_);
    for (std::int64_t piece = std::int64_t{unit} * pieces_per_unit_; piece < end; ++piece)
      body_(context_, thread, piece);
  }

  alignas(line) std::atomic<std::uint32_t> gate_{0};  ///< is_open, and how many threads of the team are inside
  alignas(line) std::atomic<bool> claimed_{false};
  std::int64_t pieces_ = 0, pieces_per_unit_ = 1;
  int threads_ = 0;
  PieceBody body_ = nullptr;
  void* context_ = nullptr;
  FloatingPointMode mode_;
  Range ranges_[max_threads];
};

thread_local bool inside_a_body = false;

/// How often this thread had to give up its core.
long cores_lost() {
#ifdef RUSAGE_THREAD
  rusage usage{};
  if (getrusage(RUSAGE_THREAD, &usage) == 0) return usage.ru_nivcsw;
#endif
  return 0;
}

/// When a thread of the team stays away because it would only hold up the others: after two jobs in a row in which it
/// lost its core more often than now and then.
class Leave {
 public:
  /// Before a job.
  void begin(Clock::time_point now) {
    begin_ = now;
    // Asking the system is not for free. What was lost a little before this job counts as lost in it.
    if (now - counted_at_ < long_job) return;
    counted_at_ = now;
    lost_ = cores_lost();
  }
  /// After it. Short jobs are not looked at: nothing was lost in them.
  void end(Clock::time_point now) {
    const auto elapsed = now - begin_;
    if (elapsed < long_job) return;
    const long lost = cores_lost() - lost_;
    counted_at_ = now;
    lost_ += lost;
    if (lost <= elapsed / now_and_then) {
      jobs_in_a_row_ = 0;
      length_ = std::max(shortest_leave, length_ / 2);
      return;
    }
    const bool was_well = begin_ - std::max(lost_at_, end_) > now_and_then;
    lost_at_ = now;
    if (was_well) {
      jobs_in_a_row_ = 0;
      length_ = shortest_leave;
    }
    if (++jobs_in_a_row_ < 2) return;
    end_ = now + length_;
    length_ = std::min(longest_leave, 2 * length_);
    jobs_in_a_row_ = 1;
    lasting_ = true;
  }
  bool is_due() const { return lasting_; }
  /// Sleeps until it is over.
  void take() {
    if (!lasting_) return;
    lasting_ = false;
    std::this_thread::sleep_until(end_);
  }

 private:
  static constexpr microseconds long_job{1000};
  static constexpr microseconds now_and_then{20'000};
  bool lasting_ = false;
  Clock::time_point begin_{}, counted_at_{}, lost_at_{}, end_{};
  microseconds length_ = shortest_leave;
  int jobs_in_a_row_ = 0;
  long lost_ = 0;
};

/// The CPUs that the process may use. A thread that OpenMP has bound to one of them has a narrower mask, which threads
/// that it starts would inherit.
cpu_set_t allowed_cpus() {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  if (sched_getaffinity(0, sizeof cpus, &cpus) == 0 && CPU_COUNT(&cpus) >= omp_get_num_procs()) return cpus;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> ids(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, ids.data());
    for (const int id : ids)
      if (id >= 0 && id < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(id), &cpus);
  }
  return cpus;
}

class Team;

/// What others know of a thread of the team.
struct alignas(line) Seat {
  Team* team = nullptr;
  int number = 0;
  pthread_t thread{};
  std::atomic<bool> asleep{false};
  std::atomic<int> avoided_cpu{-1};
};

class Team {
 public:
  /// Starts threads until there are `count`; fewer where the system has no more.
  void grow(int count) {
    count = std::min(count, max_threads - 1);
    if (asked_for_.load(std::memory_order_acquire) >= count) return;
    const std::lock_guard lock(growing_);
    if (asked_for_.load(std::memory_order_relaxed) >= count) return;
    if (CPU_COUNT(&cpus_) == 0) cpus_ = allowed_cpus();
    // Signals from outside are for the program's own threads.
    sigset_t outside, before;
    sigfillset(&outside);
    for (const int own : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) sigdelset(&outside, own);
    pthread_sigmask(SIG_BLOCK, &outside, &before);
    for (int number = started_.load(std::memory_order_relaxed) + 1; number <= count; ++number) {
      Seat& seat = seats_[number];
      seat.team = this;
      seat.number = number;
      if (pthread_create(&seat.thread, nullptr, &Team::main_of_thread, &seat) != 0) break;
      pthread_detach(seat.thread);
      pthread_setaffinity_np(seat.thread, sizeof cpus_, &cpus_);
      started_.store(number, std::memory_order_release);
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    asked_for_.store(count, std::memory_order_release);  // what the system refused it is not asked for again
  }

  /// False: all jobs are taken.
  bool run(std::int64_t pieces, int threads, PieceBody body, void* context) {
    Job* const job = std::ranges::find_if(jobs_, [](Job& some) { return some.claim(); });
    if (job == std::end(jobs_)) return false;
    max_busy_.store(weft::threads(), std::memory_order_relaxed);  // the caller's: OpenMP keeps a number per thread
    busy_.fetch_add(1, std::memory_order_relaxed);
    job->open(pieces, threads, body, context);
    make_way(threads);
    announced_.fetch_add(1);
    announced_.notify_all();
    job->work(0);
    job->close_and_wait();
    busy_.fetch_sub(1, std::memory_order_relaxed);
    job->release();
    return true;
  }

  /// The one of this process. Never destroyed: threads look at it until the process ends.
  static Team& get() {
    if (Team* const team = current.load(std::memory_order_acquire)) return *team;
    // A child of a fork has only the thread that forked, and makes a team of its own when it needs one.
    if (!minds_forks.exchange(true))
      pthread_atfork(nullptr, nullptr, [] { current.store(nullptr, std::memory_order_release); });
    Team *const made = new Team, *other = nullptr;
    if (current.compare_exchange_strong(other, made)) return *made;
    delete made;
    return *other;
  }

 private:
  static constinit inline std::atomic<Team*> current{nullptr};
  static constinit inline std::atomic<bool> minds_forks{false};

  static void* main_of_thread(void* seat_of_thread) {
    Seat& seat = *static_cast<Seat*>(seat_of_thread);
    seat.team->help(seat);
    return nullptr;
  }

  /// Systems like to wake a thread on the CPU of the one that wakes it, and leave both there for milliseconds. So
  /// threads that sleep are kept off the caller's.
  void make_way(int threads) {
    int cpu = -1;
    for (int t = 1; t < threads && t <= started_.load(std::memory_order_relaxed); ++t) {
      Seat& seat = seats_[t];
      if (!seat.asleep.load(std::memory_order_relaxed)) continue;
      if (cpu < 0) cpu = sched_getcpu();
      if (cpu < 0 || cpu >= CPU_SETSIZE || CPU_COUNT(&cpus_) < 2) return;
      if (seat.avoided_cpu.exchange(cpu, std::memory_order_relaxed) == cpu) continue;
      cpu_set_t others = cpus_;
      CPU_CLR(static_cast<std::size_t>(cpu), &others);
      pthread_setaffinity_np(seat.thread, sizeof others, &others);
    }
  }

  void help(Seat& seat) {
    const int thread = seat.number;
    inside_a_body = true;
    Leave leave;
    for (;;) {
      leave.take();
      const std::uint32_t seen = announced_.load();
      for (Job& job : jobs_) {
        if (busy_.load(std::memory_order_relaxed) >= max_busy_.load(std::memory_order_relaxed) || !job.enter(thread))
          continue;
        busy_.fetch_add(1, std::memory_order_relaxed);
        leave.begin(Clock::now());
        job.work(thread);
        busy_.fetch_sub(1, std::memory_order_relaxed);
        job.leave();
        leave.end(Clock::now());
      }
      if (leave.is_due() || spin(idle_spin, [&] { return announced_.load() != seen; })) continue;
      seat.asleep.store(true, std::memory_order_relaxed);
      announced_.wait(seen);
      seat.asleep.store(false, std::memory_order_relaxed);
    }
  }

  Job jobs_[job_count];
  alignas(line) std::atomic<std::uint32_t> announced_{0};  ///< jobs so far
  alignas(line) std::atomic<int> busy_{0};                 ///< callers and threads with work
  std::atomic<int> max_busy_{1};
  std::atomic<int> started_{0}, asked_for_{0};
  std::mutex growing_;
  Seat seats_[max_threads];
  cpu_set_t cpus_{};
};

}  // namespace

void prepare_team(int threads) {
  if (threads > 1 && !inside_a_body && omp_in_parallel() == 0) Team::get().grow(threads - 1);
}

void run_pieces(std::int64_t pieces, int threads, PieceBody body, void* context) {
  threads = std::min(threads, max_threads);
  if (pieces > 1 && threads > 1 && !inside_a_body && omp_in_parallel() == 0) {
    prepare_team(threads);
    inside_a_body = true;
    const bool done = Team::get().run(pieces, threads, body, context);
    inside_a_body = false;
    if (done) return;
  }
  for (std::int64_t piece = 0; piece < pieces; ++piece) body(context, 0, piece);
}

}  // namespace weft
