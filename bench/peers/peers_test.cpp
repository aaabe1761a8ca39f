#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/coo.hpp>
#include <weft/generate.hpp>

#include <cmath>
#include <csignal>
#include <cstdlib>
#include <limits>

#include "bench/harness/verify.hpp"
#include "bench/harness/workspace.hpp"
#include "bsr.hpp"
#include "peer.hpp"

namespace weft::bench {
namespace {

/// CI installs every library there is for the CPU and says so; elsewhere those that are absent are skipped.
bool all_required() { return std::getenv("WEFT_REQUIRE_PEERS") != nullptr; }

template <Value V>
std::vector<std::unique_ptr<Peer<V>>> cpu_peers() {
  std::vector<std::string> missing;
  auto peers = find_peers<V>(Device::cpu(), "all", missing);
  if (all_required()) {
    EXPECT_THAT(missing, testing::IsEmpty());
  }
  return peers;
}

template <Value V>
Csr<V> without_entries(Index rows, Index cols) {
  return make_csr<V>(rows, cols, Array<Offset>(static_cast<std::size_t>(rows) + 1, 0), Array<Index>(), Array<V>());
}

/// Entry (i, j) where `there(i, j)`, with a value that tells its place.
template <Value V, class There>
Csr<V> pattern(Index rows, Index cols, There&& there) {
  std::vector<Offset> offsets = {0};
  std::vector<Index> columns;
  std::vector<V> values;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < cols; ++j)
      if (there(i, j)) {
        columns.push_back(j);
        values.push_back(static_cast<V>(1.5 + i % 7 - 0.25 * (j % 5)));
      }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  return make_csr<V>(rows, cols, Array<Offset>(std::move(offsets)), Array<Index>(std::move(columns)),
                     Array<V>(std::move(values)));
}

template <Value V>
std::vector<std::pair<std::string, Csr<V>>> awkward_matrices() {
  std::vector<std::pair<std::string, Csr<V>>> list;
  list.emplace_back("0 x 5", without_entries<V>(0, 5));
  list.emplace_back("5 x 0", without_entries<V>(5, 0));
  list.emplace_back("0 x 0", without_entries<V>(0, 0));
  list.emplace_back("no entries", without_entries<V>(40, 30));
  list.emplace_back("1 x 1", pattern<V>(1, 1, [](Index, Index) { return true; }));
  list.emplace_back("empty rows", pattern<V>(50, 50, [](Index i, Index j) { return i % 3 == 1 && (i + j) % 4 == 0; }));
  list.emplace_back("wide", pattern<V>(7, 90, [](Index i, Index j) { return (i * j) % 5 == 1; }));
  list.emplace_back("tall", pattern<V>(90, 7, [](Index i, Index j) { return (i + j) % 3 == 0; }));
  list.emplace_back("one huge row", pattern<V>(300, 300, [](Index i, Index j) { return i == 17 || i == j; }));
  list.emplace_back("dense", pattern<V>(33, 33, [](Index, Index) { return true; }));
  list.emplace_back("mesh", generate<V>("gen:elasticity3d:4"));
  return list;
}

template <Value V>
bool takes_only_f64(const Peer<V>& peer) {
  return peer.name() == "petsc:aij" && std::is_same_v<V, float>;
}

/// y of `peer`, every entry NaN before.
template <Value V>
Array<V> product(Peer<V>& peer, const Csr<V>& matrix, const Array<V>& x) {
  Array<V> y(static_cast<std::size_t>(matrix.rows), std::numeric_limits<V>::quiet_NaN());
  peer.run(x.data(), y.data());
  return y;
}

template <class V>
class PeersOn : public testing::Test {};
using Types = testing::Types<double, float>;
TYPED_TEST_SUITE(PeersOn, Types);

TYPED_TEST(PeersOn, AwkwardMatricesAreRightEachTime) {
  using V = TypeParam;
  auto matrices = awkward_matrices<V>();
  // A library that keeps something of another matrix shows when it gets the same one again.
  matrices.push_back(matrices.back());
  matrices.emplace_back("empty rows again", matrices[5].second);
  for (const auto& [title, matrix] : matrices)
    for (auto& peer : cpu_peers<V>()) {
      SCOPED_TRACE(peer->name() + " on " + title);
      if (takes_only_f64<V>(*peer)) continue;
      const Array<V> x = random_vector<V>(static_cast<std::size_t>(matrix.cols), 3);
      const Reference<V> reference(Op::none, V(1), matrix, x, V(0), {});
      peer->prepare(matrix, 100);
      for (int repeat = 0; repeat < 2; ++repeat) {
        const Array<V> y = product(*peer, matrix, x);
        EXPECT_TRUE(reference.compare(y).correct);
      }
    }
}

TYPED_TEST(PeersOn, AnotherXIsAnotherProduct) {
  using V = TypeParam;
  const Csr<V> matrix = generate<V>("gen:elasticity3d:3");
  for (auto& peer : cpu_peers<V>()) {
    if (takes_only_f64<V>(*peer)) continue;
    peer->prepare(matrix, 10);
    for (std::uint64_t seed : {1, 2}) {
      const Array<V> x = random_vector<V>(static_cast<std::size_t>(matrix.cols), seed);
      const Reference<V> reference(Op::none, V(1), matrix, x, V(0), {});
      EXPECT_TRUE(reference.compare(product(*peer, matrix, x)).correct) << peer->name();
      if (!peer->keeps_time()) continue;
      Array<V> y(static_cast<std::size_t>(matrix.rows));
      const double one = peer->time(x.data(), y.data(), 1);
      EXPECT_GT(one, 0) << peer->name();
      EXPECT_LT(one, 10) << peer->name();
    }
  }
}

TYPED_TEST(PeersOn, TellWhatTheyAre) {
  using V = TypeParam;
  const Csr<V> matrix = generate<V>("gen:elasticity3d:5");
  for (auto& peer : cpu_peers<V>()) {
    SCOPED_TRACE(peer->name());
    if (takes_only_f64<V>(*peer)) continue;
    peer->prepare(matrix, 10);
    const PeerInfo info = peer->info();
    if (!peer->name().starts_with("librsb")) {
      EXPECT_THAT(info.version, testing::MatchesRegex("[0-9]+[.][0-9.]+"));
    }
    EXPECT_FALSE(info.details.empty());
    EXPECT_GE(info.bytes, matrix.values.bytes());
    EXPECT_LE(info.bytes, 2 * matrix.bytes());
    EXPECT_EQ(info.estimated, peer->name() == "mkl");
    EXPECT_GE(info.upload_seconds, 0);
  }
}

TYPED_TEST(PeersOn, TooManyEntriesAreRefusedBeforeTheyAreTouched) {
  using V = TypeParam;
  Csr<V> matrix;
  matrix.rows = 1;
  matrix.cols = std::numeric_limits<Index>::max();
  matrix.offsets = Array<Offset>{0, (Offset{1} << 31) + 5};
  for (auto& peer : cpu_peers<V>()) {
    try {
      peer->prepare(matrix, 10);
      ADD_FAILURE() << peer->name() << " took it";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_THAT(error.what(), testing::HasSubstr("32 bits")) << peer->name();
    }
  }
}

TEST(Peers, PetscRefusesSinglePrecisionInASentence) {
  std::vector<std::string> missing;
  auto peers = find_peers<float>(Device::cpu(), "petsc", missing);
  if (peers.empty()) GTEST_SKIP() << missing.front();
  const Csr<float> matrix = generate<float>("gen:poisson2d:4");
  try {
    peers.front()->prepare(matrix, 1);
    FAIL() << "it took f32";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("f64"));
  }
}

/// What a signal does to this process.
void (*handler_of(int number))(int) {
  struct sigaction now{};
  sigaction(number, nullptr, &now);
  return now.sa_handler;
}

// ctest gives this test a process of its own: libraries that start once start here.
TEST(Peers, LeaveSignalsAsTheyWere) {
  std::signal(SIGHUP, SIG_IGN);
  const Csr<double> matrix = generate<double>("gen:poisson2d:4");
  for (auto& peer : cpu_peers<double>()) {
    std::vector<void (*)(int)> before;
    for (int number = 1; number < 32; ++number) before.push_back(handler_of(number));
    peer->prepare(matrix, 10);
    for (int number = 1; number < 32; ++number)
      EXPECT_EQ(handler_of(number), before[static_cast<std::size_t>(number) - 1]) << peer->name() << ", " << number;
  }
  std::signal(SIGHUP, SIG_DFL);
}

TEST(Peers, AllOnAnEmulatorIsNothingAndNeedsNoNote) {
  std::vector<std::string> missing;
  EXPECT_TRUE(find_peers<double>(Device::emulator(), "all", missing).empty());
  EXPECT_THAT(missing, testing::IsEmpty());
}

TEST(Peers, ALibraryForAnotherDeviceIsNotedWhenAskedForByName) {
  for (const char* name : {"cusparse", "cupy", "torch"}) {
    std::vector<std::string> missing;
    EXPECT_TRUE(find_peers<double>(Device::cpu(), name, missing).empty());
    ASSERT_EQ(missing.size(), 1U);
    EXPECT_THAT(missing.front(), testing::StartsWith(std::string("no comparison with ") + name + ": "));
  }
}

TEST(Bsr, HoldsEveryEntryInFullBlocks) {
  for (Index size : {2, 3}) {
    const Csr<double> matrix = pattern<double>(12, 18, [](Index i, Index j) { return (i * 5 + j * 3) % 11 < 2; });
    const Bsr<double> bsr = to_bsr(matrix, size);
    const Csr<double> blocks = make_csr<double>(12 / size, 18 / size, bsr.offsets, bsr.columns,
                                                Array<double>(bsr.columns.size(), 1), Duplicates::refuse);
    EXPECT_EQ(check(blocks), "");
    Array<double> dense(std::size_t{12} * 18, 0);
    for (Index row = 0; row < 12 / size; ++row)
      for (Offset b = bsr.offsets[row]; b < bsr.offsets[row + 1]; ++b) {
        bool used = false;
        for (Index i = 0; i < size; ++i)
          for (Index j = 0; j < size; ++j) {
            const double value = bsr.values[(b * size + i) * size + j];
            dense[(row * size + i) * 18 + bsr.columns[b] * size + j] = value;
            used = used || value != 0;
          }
        EXPECT_TRUE(used) << "a block without entries is stored";
      }
    for (Index i = 0; i < 12; ++i) {
      for (Offset k = matrix.offsets[i]; k < matrix.offsets[i + 1]; ++k) {
        EXPECT_EQ(dense[i * 18 + matrix.columns[k]], matrix.values[k]);
        dense[i * 18 + matrix.columns[k]] = 0;
      }
    }
    EXPECT_THAT(std::vector<double>(dense.begin(), dense.end()), testing::Each(0));
  }
}

TEST(Peers, NamesAreCheckedAgainstTheRegistry) {
  EXPECT_EQ(peer_library_names(), "eigen, mkl, librsb, petsc, scipy, cusparse, cupy, torch");
  EXPECT_EQ(check_peer_names("all"), "");
  EXPECT_EQ(check_peer_names("mkl,librsb:tuned,torch"), "");
  EXPECT_THAT(check_peer_names("mkl,abacus"),
              testing::AllOf(testing::HasSubstr("'abacus'"), testing::HasSubstr("petsc")));
}

TEST(Peers, AVariantThatIsNotThereIsNoted) {
  std::vector<std::string> missing;
  if (find_peers<double>(Device::cpu(), "librsb", missing).empty()) GTEST_SKIP() << missing.front();
  EXPECT_TRUE(find_peers<double>(Device::cpu(), "librsb:quick", missing).empty());
  EXPECT_THAT(missing, testing::ElementsAre(
                           "no comparison with librsb:quick: there is no such peer; there are: librsb, librsb:tuned"));
  const auto tuned = find_peers<double>(Device::cpu(), "librsb:tuned", missing);
  ASSERT_EQ(tuned.size(), 1U);
  EXPECT_EQ(tuned.front()->name(), "librsb:tuned");
}

}  // namespace
}  // namespace weft::bench
