#include <weft/generate.hpp>
#include <weft/partition.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "order/partition/testing.hpp"

namespace weft {
namespace {

using ordering::error_of;
using ordering::keeps_blocks;
using ordering::kinds_of_graphs;
using ordering::largest;
using ordering::run_with_threads;
using ordering::same;
using ordering::usable_partitioners;
using ::testing::HasSubstr;

TEST(Partition, NamesGoBothWays) {
  for (const Partitioner one : partitioners()) EXPECT_EQ(parse_partitioner(to_string(one)), one);
  EXPECT_EQ(error_of([] { parse_partitioner("scotch"); }, ErrorCode::invalid_argument),
            "there is no partitioner 'scotch'; there are: automatic, multilevel, metis, coordinates, contiguous");
}

TEST(Partition, NeverExceedsItsCapAndKeepsNodesTogether) {
  for (const auto& [name, matrix] : kinds_of_graphs())
    for (const Partitioner method : usable_partitioners())
      for (const int block : {1, 2, 3, 7})
        for (const Index most_rows : {7, 10, 33, 128, 5000})
          for (const Index parts : {0, 1, 5, 40}) {
            const Partition found =
                partition(matrix, {.parts = parts, .most_rows = most_rows, .block = block, .method = method});
            ASSERT_NO_THROW(require_partition(found, matrix.rows)) << name;
            const auto says = [&] {
              return name + " by " + std::string(to_string(method)) + ", block " + std::to_string(block) + ", cap " +
                     std::to_string(most_rows) + ", parts " + std::to_string(parts);
            };
            ASSERT_LE(largest(found), most_rows) << says();
            ASSERT_TRUE(keeps_blocks(found, block)) << says();
            ASSERT_GE(found.parts, parts) << says();
            const Index whole = most_rows / block * block;
            const Index fewest =
                matrix.rows <= most_rows ? std::min(matrix.rows, 1) : (matrix.rows + whole - 1) / whole;
            ASSERT_EQ(found.parts, std::max(parts, fewest)) << says();
          }
}

TEST(Partition, WithoutACapPartsAreWithinThreePercent) {
  for (const char* name : {"gen:poisson3d:14", "gen:stencil27:12", "gen:elasticity3d:10"}) {
    const Csr<double> matrix = read_matrix<double>(name);
    for (const Partitioner method : usable_partitioners()) {
      const Partition found = partition(matrix, {.parts = 12, .method = method});
      EXPECT_EQ(found.parts, 12);
      EXPECT_LE(largest(found), matrix.rows / 12 * 1.03 + 1) << name << " by " << to_string(method);
      EXPECT_GE(quality(matrix, found).smallest, matrix.rows / 12 / 2) << name << " by " << to_string(method);
    }
  }
}

TEST(Partition, DoesNotDependOnThreadsOrOnTheLastCall) {
  for (const char* name : {"gen:stencil27:25", "gen:elasticity3d:12", "gen:circuit:20000"}) {
    const Csr<double> matrix = read_matrix<double>(name);
    for (const Partitioner method : usable_partitioners())
      for (const int block : {1, 3}) {
        const PartitionOptions options{.most_rows = 600, .block = block, .method = method};
        const Partition one = run_with_threads(1, [&] { return partition(matrix, options); });
        const Partition two = run_with_threads(2, [&] { return partition(matrix, options); });
        EXPECT_TRUE(same(one, two)) << name << " by " << to_string(method);
      }
  }
}

TEST(Partition, DoesNotDependOnTheValueTypeOrTheTranspose) {
  const Csr<double> matrix = read_matrix<double>("gen:circuit:3000");
  for (const Partitioner method : usable_partitioners()) {
    const PartitionOptions options{.parts = 9, .method = method};
    const Partition found = partition(matrix, options);
    EXPECT_TRUE(same(found, partition(convert<float>(matrix), options)));
    EXPECT_TRUE(same(found, partition(transpose(matrix), options)));
  }
}

TEST(Partition, CallsFromSeveralThreadsDoNotDisturbEachOther) {
  const Csr<double> matrix = read_matrix<double>("gen:stencil27:16");
  const PartitionOptions options{.parts = 8};
  const Partition expected = partition(matrix, options);
  std::vector<Partition> found(3);
  {
    std::vector<std::jthread> threads;
    for (Partition& one : found) threads.emplace_back([&] { one = partition(matrix, options); });
  }
  for (const Partition& one : found) EXPECT_TRUE(same(one, expected));
}

TEST(Partition, RefusesWhatMakesNoSense) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:5");
  const auto refusal = [&](const PartitionOptions& options) {
    return error_of([&] { partition(matrix, options); }, ErrorCode::invalid_argument);
  };
  EXPECT_THAT(refusal({.most_rows = 2, .block = 3}), HasSubstr("at most 2 rows cannot hold nodes of 3 rows"));
  EXPECT_THAT(refusal({.parts = -1}), HasSubstr("not -1"));
  EXPECT_THAT(refusal({.most_rows = -4}), HasSubstr("not -4"));
  EXPECT_THAT(refusal({.block = 0}), HasSubstr("not 0"));
  EXPECT_EQ(partition(matrix, {}).parts, 1);
}

TEST(Partition, AutomaticIsMultilevelForSquareMatrices) {
  const Csr<double> matrix = read_matrix<double>("gen:stencil27:12");
  EXPECT_TRUE(
      same(partition(matrix, {.parts = 9}), partition(matrix, {.parts = 9, .method = Partitioner::multilevel})));
}

TEST(Partition, MetisIsThereOrSaysWhatToInstall) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:20");
  if (has_metis())
    EXPECT_EQ(partition(matrix, {.parts = 4, .method = Partitioner::metis}).parts, 4);
  else
    EXPECT_THAT(
        error_of([&] { partition(matrix, {.parts = 4, .method = Partitioner::metis}); }, ErrorCode::unsupported),
        HasSubstr("libmetis-dev"));
}

TEST(Partition, RectangularOnesAreContiguous) {
  const Csr<double> matrix = test::random_rows<double>(30, std::vector<Index>(100, 4));
  for (const Partitioner method : usable_partitioners()) {
    const PartitionOptions options{.parts = 7, .most_rows = 20, .method = method};
    if (method == Partitioner::metis || method == Partitioner::multilevel) {
      EXPECT_THAT(error_of([&] { partition(matrix, options); }, ErrorCode::unsupported), HasSubstr("100 x 30"));
      continue;
    }
    const Partition found = partition(matrix, options);
    EXPECT_TRUE(std::ranges::is_sorted(found.part_of));
    EXPECT_LE(largest(found), 20);
    EXPECT_EQ(found.parts, 7);
    EXPECT_EQ(quality(matrix, found).cut, 0);
  }
}

TEST(Partition, CanBeCancelledAndTellsHowFarItIs) {
  const Csr<double> matrix = ordering::shuffle(read_matrix<double>("gen:stencil27:32"), 1);
  for (const Partitioner method : usable_partitioners()) {
    PartitionOptions options{.parts = 50, .method = method};
    double last = 0;
    bool rises = true;
    int calls = 0;
    options.progress = [&](double fraction) {
      rises &= fraction >= last && fraction <= 1;
      last = fraction;
      ++calls;
      return true;
    };
    const Partition whole = partition(matrix, options);
    EXPECT_TRUE(rises) << to_string(method);
    EXPECT_EQ(last, 1) << to_string(method);
    EXPECT_GE(calls, method == Partitioner::contiguous ? 2 : 3) << to_string(method);
    for (const int after : {0, 1, calls / 2}) {
      int told = 0;
      options.progress = [&](double) { return told++ < after; };
      EXPECT_EQ(error_of([&] { partition(matrix, options); }, ErrorCode::cancelled), "cancelled") << to_string(method);
    }
    options.progress = {};
    EXPECT_TRUE(same(partition(matrix, options), whole)) << "after calls that were cancelled";
  }
}

extern "C" void count_nothing(int, siginfo_t*, void*) {}

TEST(Metis, LeavesSignalHandlersAsTheyWere) {
  if (!has_metis()) GTEST_SKIP() << "this build has no METIS";
  struct sigaction mine{}, before{}, during{}, after{};
  mine.sa_sigaction = count_nothing;
  mine.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&mine.sa_mask);
  sigaddset(&mine.sa_mask, SIGUSR1);
  sigaction(SIGTERM, &mine, &before);
  const Csr<double> matrix = ordering::shuffle(read_matrix<double>("gen:stencil27:32"), 1);
  int calls = 0;
  int mine_during = 0;
  const auto look = [&](double) {
    sigaction(SIGTERM, nullptr, &during);
    mine_during += during.sa_sigaction == count_nothing && (during.sa_flags & SA_SIGINFO) != 0;
    ++calls;
    return true;
  };
  partition(matrix, {.parts = 64, .method = Partitioner::metis, .progress = look});
  sigaction(SIGTERM, &before, &after);
  EXPECT_GE(calls, 3);
  EXPECT_GE(mine_during, calls / 2);  // METIS may have taken it again this very moment
  EXPECT_EQ(after.sa_sigaction, mine.sa_sigaction);
  EXPECT_NE(after.sa_flags & SA_SIGINFO, 0);
  EXPECT_EQ(sigismember(&after.sa_mask, SIGUSR1), 1);
}

/// What a call writes to standard output, past every C++ stream.
template <class F>
std::string written_to_standard_output(F&& body) {
  const std::string path = ::testing::TempDir() + "weft_output_" + std::to_string(getpid());
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO), file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  body();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  std::string text(4096, ' ');
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, pread(file, text.data(), text.size(), 0))));
  close(file);
  close(before);
  std::filesystem::remove(path);
  return text;
}

/// Rows of which a few have entries in all columns.
Csr<double> with_hubs(Index rows, Index hubs, Index others, unsigned seed) {
  test::Dice dice(seed);
  std::vector<std::pair<Index, Index>> places;
  for (Index row = 0; row < rows; ++row) {
    for (Index hub = 0; hub < hubs; ++hub) places.emplace_back(hub, row);
    for (Index i = 0; i < others; ++i) places.emplace_back(row, dice.below(rows));
  }
  return ordering::with_entries(rows, places);
}

TEST(Metis, PrintsNothing) {
  if (!has_metis()) GTEST_SKIP() << "this build has no METIS";
  std::vector<ordering::NamedGraph> graphs = kinds_of_graphs();
  graphs.push_back({"star", ordering::star(700)});
  for (const Index rows : {319, 688, 1161})
    graphs.push_back({"arrow", read_matrix<double>("gen:arrow:" + std::to_string(rows))});
  for (const Index hubs : {1, 3, 5})
    for (const Index others : {0, 1, 2}) graphs.push_back({"hubs", with_hubs(600, hubs, others, 7)});
  for (const auto& [name, matrix] : graphs)
    for (const Index parts : {3, 25, 64})
      for (const bool even_entries : {false, true}) {
        const PartitionOptions options{.parts = parts, .method = Partitioner::metis, .even_entries = even_entries};
        EXPECT_EQ(written_to_standard_output([&] { run_with_threads(1, [&] { return partition(matrix, options); }); }),
                  "")
            << name << " in " << parts << (even_entries ? " parts of even entries" : " parts");
      }
}

TEST(Quality, CountsEntriesBetweenPartsAndRows) {
  const Csr<double> matrix = ordering::with_entries(4, {{0, 0}, {0, 1}, {1, 2}, {2, 1}, {3, 0}});
  const PartitionQuality found = quality(matrix, {4, {0, 0, 2, 2}});
  EXPECT_EQ(found.cut, 3);
  EXPECT_EQ(found.largest, 2);
  EXPECT_EQ(found.smallest, 0);
  EXPECT_EQ(found.empty, 2);
  const auto refusal = [&](const Partition& wrong) {
    return error_of([&] { quality(matrix, wrong); }, ErrorCode::invalid_argument);
  };
  EXPECT_EQ(refusal({2, {0, 1}}), "the partition is of 2 rows, but the matrix has 4");
  EXPECT_THAT(refusal({2, {0, 1, 2, 0}}), HasSubstr("in part 2"));
  EXPECT_THAT(refusal({2, {0, 1, -1, 0}}), HasSubstr("in part -1"));
}

TEST(LimitParts, SplitsTheLargeAndLeavesTheOthers) {
  const Csr<double> matrix = read_matrix<double>("gen:elasticity3d:8");
  Partition given{4, Array<Index>(static_cast<std::size_t>(matrix.rows))};
  for (Index row = 0; row < matrix.rows; ++row) given.part_of[row] = row < 900 ? 0 : row < 960 ? 2 : 3;
  const Partition limited = limit_parts(matrix, given, 100, 3);
  require_partition(limited, matrix.rows);
  EXPECT_LE(largest(limited), 100);
  EXPECT_TRUE(keeps_blocks(limited, 3));
  // Parts of 99 rows, since nodes of three are whole: 10 of 900 rows, and 6 of 576.
  EXPECT_EQ(limited.parts, 4 + 9 + 5);
  for (Index row = 900; row < 960; ++row) EXPECT_EQ(limited.part_of[row], 2);
  for (Index row = 0; row < matrix.rows; ++row)
    EXPECT_TRUE(limited.part_of[row] >= 4 || limited.part_of[row] == given.part_of[row]) << row;
  EXPECT_TRUE(same(limit_parts(matrix, given, 900, 3), given));
  EXPECT_TRUE(same(limit_parts(matrix, given, 0, 3), given));

  given.part_of[1] = 3;  // separates a node: then rows count
  const Partition by_rows = limit_parts(matrix, given, 100, 3);
  EXPECT_LE(largest(by_rows), 100);
  EXPECT_EQ(by_rows.parts, 4 + 8 + 5);
}

TEST(LimitParts, TakesRectangularMatrices) {
  const Csr<double> matrix = test::random_rows<double>(5, std::vector<Index>(50, 2));
  const Partition limited = limit_parts(matrix, {1, Array<Index>(50, 0)}, 20);
  EXPECT_EQ(limited.parts, 3);
  EXPECT_LE(largest(limited), 20);
}

TEST(Partition, EntriesAreEvenIfThatIsRequested) {
  // Rows are longer and longer: even rows would have uneven entries.
  Csr<double> matrix = generate<double>("gen:stencil27:24");
  std::vector<Index> columns;
  Array<Offset> offsets(matrix.offsets.size(), 0);
  for (Index row = 0; row < matrix.rows; ++row) {
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      if (row > matrix.rows / 2 || matrix.columns[i] == row || matrix.columns[i] == row + 1 ||
          matrix.columns[i] == row - 1)
        columns.push_back(matrix.columns[i]);
    offsets[row + 1] = static_cast<Offset>(columns.size());
  }
  matrix.offsets = offsets;
  matrix.values = Array<double>(columns.size(), 1.0);
  matrix.columns = Array<Index>(std::move(columns));
  const auto largest_share = [&](Partitioner method, bool even, Index most_rows) {
    const Partition found =
        partition(matrix, {.parts = 8, .most_rows = most_rows, .method = method, .even_entries = even});
    std::vector<Offset> entries(static_cast<std::size_t>(found.parts)), rows(static_cast<std::size_t>(found.parts));
    for (Index row = 0; row < matrix.rows; ++row) {
      entries[found.part_of[row]] += matrix.offsets[row + 1] - matrix.offsets[row];
      ++rows[found.part_of[row]];
    }
    if (most_rows > 0) {
      EXPECT_LE(std::ranges::max(rows), most_rows);
    }
    return static_cast<double>(std::ranges::max(entries)) * 8 / static_cast<double>(matrix.nonzeros());
  };
  for (const Partitioner method : {Partitioner::multilevel, Partitioner::metis}) {
    if (method == Partitioner::metis && !has_metis()) continue;
    EXPECT_LT(largest_share(method, true, 0), 1.15) << to_string(method);
    EXPECT_GT(largest_share(method, false, 0), 1.4) << to_string(method);
    largest_share(method, true, 2000);  // the limit holds all the same
  }
}

}  // namespace
}  // namespace weft
