#include "core/team.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>
#include <weft/runtime.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

namespace weft {
namespace {

template <class F>
void run(std::int64_t pieces, int threads, F&& body) {
  run_pieces(
      pieces, threads,
      [](void* context, int thread, std::int64_t piece) {
        (*static_cast<std::remove_reference_t<F>*>(context))(thread, piece);
      },
      &body);
}

/// How often each piece was run, and that thread numbers were below `threads` and used by one body at a time.
struct Count {
  explicit Count(std::int64_t pieces, int threads)
      : runs(static_cast<std::size_t>(pieces)), inside(static_cast<std::size_t>(threads)) {}
  void operator()(int thread, std::int64_t piece) {
    if (thread < 0 || thread >= static_cast<int>(inside.size())) {
      wrong_thread = true;
      return;
    }
    std::atomic<int>& here = inside[static_cast<std::size_t>(thread)];
    if (here.fetch_add(1) != 0) shared_thread = true;
    runs[static_cast<std::size_t>(piece)].fetch_add(1);
    here.fetch_sub(1);
  }
  void expect_once() const {
    EXPECT_TRUE(std::ranges::all_of(runs, [](const auto& times) { return times == 1; }));
    EXPECT_FALSE(wrong_thread);
    EXPECT_FALSE(shared_thread);
  }
  std::vector<std::atomic<int>> runs, inside;
  std::atomic<bool> wrong_thread{false}, shared_thread{false};
};

TEST(Team, RunsEveryPieceOnce) {
  for (const int threads : {1, 2, 3, 7, 16})
    for (const std::int64_t pieces : {0, 1, 2, 5, 16, 1000}) {
      Count count(pieces, threads);
      run(pieces, threads, count);
      count.expect_once();
    }
}

TEST(Team, ManyJobsAfterOneAnother) {
  Count count(64, 4);
  for (int i = 0; i < 2000; ++i) run(64, 4, count);
  EXPECT_TRUE(std::ranges::all_of(count.runs, [](const auto& times) { return times == 2000; }));
  EXPECT_FALSE(count.wrong_thread);
  EXPECT_FALSE(count.shared_thread);
}

TEST(Team, ThreadsThatSleepAreWoken) {
  run(64, 4, [](int, std::int64_t) {});
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // longer than they look for work
    std::atomic<int> inside{0};
    std::atomic<bool> together{false};
    // Two pieces that wait for each other for a while: only with two threads can both be inside.
    for (int tries = 0; tries < 20 && !together; ++tries) {
      run(2, 2, [&](int, std::int64_t) {
        inside.fetch_add(1);
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
        while (inside < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
        if (inside == 2) together = true;
      });
      inside = 0;
    }
    EXPECT_TRUE(together);
  }
}

TEST(Team, CallersShareIt) {
  constexpr int callers = 6;
  std::vector<std::thread> others;
  for (int c = 0; c < callers; ++c)
    others.emplace_back([] {
      for (int i = 0; i < 200; ++i) {
        Count count(50, 4);
        run(50, 4, count);
        count.expect_once();
      }
    });
  for (std::thread& other : others) other.join();
}

TEST(Team, MoreCallersThanJobs) {
  constexpr int callers = 20;
  std::atomic<int> started{0};
  std::vector<std::thread> others;
  for (int c = 0; c < callers; ++c)
    others.emplace_back([&] {
      Count count(30, 3);
      started.fetch_add(1);
      while (started < callers) std::this_thread::yield();
      run(30, 3, [&](int thread, std::int64_t piece) {
        count(thread, piece);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      });
      count.expect_once();
    });
  for (std::thread& other : others) other.join();
}

TEST(Team, WorksAloneInsideABody) {
  Count outer(8, 4);
  std::atomic<int> inner{0};
  std::atomic<bool> elsewhere{false};
  run(8, 4, [&](int thread, std::int64_t piece) {
    outer(thread, piece);
    const auto self = std::this_thread::get_id();
    run(10, 4, [&](int, std::int64_t) {
      if (std::this_thread::get_id() != self) elsewhere = true;
      inner.fetch_add(1);
    });
  });
  outer.expect_once();
  EXPECT_EQ(inner, 80);
  EXPECT_FALSE(elsewhere);
}

TEST(Team, WorksAloneInAnOpenMpRegion) {
  std::atomic<int> done{0};
  std::atomic<bool> elsewhere{false};
#pragma omp parallel num_threads(3)
  {
    const auto self = std::this_thread::get_id();
    run(10, 4, [&](int thread, std::int64_t) {
      if (std::this_thread::get_id() != self || thread != 0) elsewhere = true;
      done.fetch_add(1);
    });
  }
  EXPECT_EQ(done % 10, 0);
  EXPECT_GE(done, 10);
  EXPECT_FALSE(elsewhere);
}

TEST(Team, WithOneThreadPiecesAreInOrder) {
  std::vector<std::int64_t> order;
  run(5, 1, [&](int, std::int64_t piece) { order.push_back(piece); });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Team, LateThreadsHoldUpNobody) {
  // One piece takes long. The thread that has it does nothing else: the others take over its share.
  Count count(64, 2);
  std::atomic<int> long_thread{-1};
  std::vector<std::atomic<int>> by(64);
  run(64, 2, [&](int thread, std::int64_t piece) {
    count(thread, piece);
    by[static_cast<std::size_t>(piece)] = thread;
    if (piece != 32) return;
    long_thread = thread;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  });
  count.expect_once();
  if (long_thread == 1) {  // else the second thread came too late to have any share
    const auto others = std::count_if(by.begin() + 33, by.end(), [](const auto& thread) { return thread == 0; });
    EXPECT_EQ(others, 31);
  }
}

TEST(Team, AForkedChildHasATeamOfItsOwn) {
  run(64, 4, [](int, std::int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    Count count(1000, 4);
    run(1000, 4, count);
    const bool once = std::ranges::all_of(count.runs, [](const auto& times) { return times == 1; });
    _exit(once ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/// Runs jobs until both threads have had a piece.
template <class F>
void run_on_both(F&& body) {
  std::atomic<bool> both{false};
  for (int job = 0; job < 1000 && !both; ++job)
    run(2, 2, [&](int thread, std::int64_t) {
      body();
      if (thread == 1) both = true;
      if (thread == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
  EXPECT_TRUE(both);
}

TEST(Team, ThreadsDieOfTheirOwnFaultsAndLeaveOtherSignalsToTheProgram) {
  run_on_both([] {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) EXPECT_EQ(sigismember(&blocked, own), 0);
  });
  std::atomic<int> open{0};
  const std::thread::id caller = std::this_thread::get_id();
  run_on_both([&] {
    sigset_t blocked;
    pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
    if (std::this_thread::get_id() != caller && sigismember(&blocked, SIGTERM) == 0) ++open;
  });
  EXPECT_EQ(open, 0);
}

#ifdef __x86_64__
TEST(Team, RoundsAsTheCallerDoes) {
  run(64, 2, [](int, std::int64_t) {});  // its thread has begun with another mode
  const unsigned before = __builtin_ia32_stmxcsr();
  constexpr unsigned flush_to_zero = 1u << 15;
  __builtin_ia32_ldmxcsr(before | flush_to_zero);
  std::atomic<int> others{0};
  run_on_both([&] {
    if ((__builtin_ia32_stmxcsr() & flush_to_zero) == 0) ++others;
  });
  __builtin_ia32_ldmxcsr(before);
  EXPECT_EQ(others, 0);
  run_on_both([&] {
    if ((__builtin_ia32_stmxcsr() & flush_to_zero) != 0) ++others;
  });
  EXPECT_EQ(others, 0);
}
#endif

}  // namespace
}  // namespace weft
