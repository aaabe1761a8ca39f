#pragma once
#include <gtest/gtest.h>
#include <weft/coo.hpp>
#include <weft/io.hpp>
#include <weft/partition.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "order/testing.hpp"

// What the tests of this folder share.
namespace weft::ordering {

/// Where kernels run: on a GPU if there is one, else on the emulator; none in a build without both.
inline std::optional<Device> device_with_kernels() {
  std::optional<Device> found;
  for (const Device device : available_devices())
    if (!device.is_cpu() && (!found || found->kind() == Device::Kind::emulator)) found = device;
  return found;
}

/// A square matrix with entries of value 1 at these places.
inline Csr<double> with_entries(Index rows, const std::vector<std::pair<Index, Index>>& places) {
  Coo<double> coo{rows, rows, Array<Index>(places.size()), Array<Index>(places.size()),
                  Array<double>(places.size(), 1.0)};
  for (std::size_t k = 0; k < places.size(); ++k) {
    coo.row_indices[k] = places[k].first;
    coo.column_indices[k] = places[k].second;
  }
  return to_csr(coo);
}

/// Node 0 beside all others.
inline Csr<double> star(Index rows) {
  std::vector<std::pair<Index, Index>> places;
  for (Index row = 1; row < rows; ++row) places.emplace_back(0, row);
  return with_entries(rows, places);
}

/// Some complete graphs of different sizes, without an entry between them.
inline Csr<double> islands(const std::vector<Index>& sizes) {
  std::vector<std::pair<Index, Index>> places;
  Index first = 0;
  for (const Index size : sizes) {
    for (Index i = 0; i < size; ++i)
      for (Index j = 0; j < size; ++j) places.emplace_back(first + i, first + j);
    first += size;
  }
  return with_entries(first, places);
}

struct NamedGraph {
  std::string name;
  Csr<double> matrix;
};

/// Square matrices of all kinds, small enough to partition in every way.
inline std::vector<NamedGraph> kinds_of_graphs() {
  std::vector<NamedGraph> all = {{"star", star(300)},
                                 {"islands", islands({1, 2, 30, 5, 70, 9, 9})},
                                 {"loops only", with_entries(5, {{0, 0}, {3, 3}})},
                                 {"chain", with_entries(4, {{0, 1}, {1, 2}, {2, 3}})}};
  for (const char* name :
       {"gen:poisson2d:21", "gen:poisson3d:11", "gen:stencil27:9", "gen:elasticity3d:6", "gen:rmat:9",
        "gen:circuit:900", "gen:dense:60", "gen:empty-rows:500", "gen:diagonal:97", "gen:arrow:250"})
    all.push_back({name, read_matrix<double>(name)});
  all.push_back({"shuffled grid", shuffle(read_matrix<double>("gen:stencil27:10"), 3)});
  for (auto& [name, matrix] : test::awkward_structures<double>(false))
    if (matrix.rows == matrix.cols) all.push_back({name, matrix});
  return all;
}

/// Those this build has and that need nothing but the matrix.
inline std::vector<Partitioner> usable_partitioners() {
  std::vector<Partitioner> result;
  for (const Partitioner method : partitioners())
    if (method != Partitioner::coordinates && (method != Partitioner::metis || has_metis())) result.push_back(method);
  return result;
}

inline std::vector<Index> sizes_of(const Array<Index>& part_of, Index parts) {
  std::vector<Index> sizes(static_cast<std::size_t>(parts), 0);
  for (const Index part : part_of) ++sizes.at(static_cast<std::size_t>(part));
  return sizes;
}

inline Index largest(const Partition& partition) {
  return partition.parts == 0 ? 0 : std::ranges::max(sizes_of(partition.part_of, partition.parts));
}

inline bool keeps_blocks(const Partition& partition, int block) {
  for (std::size_t row = 0; row < partition.part_of.size(); ++row)
    if (partition.part_of[row] != partition.part_of[row - row % static_cast<std::size_t>(block)]) return false;
  return true;
}

template <class F>
std::string error_of(F&& body, ErrorCode code) {
  try {
    body();
  } catch (const Error& error) {
    return error.code() == code ? error.what() : std::string("of another kind: ") + error.what();
  }
  return "no error";
}

/// `run` reports to the Progress that it is given: shares that rise up to 1; and it can be cancelled at any time.
template <class Run>
void expect_progress_and_cancel(Run&& run, int min_calls) {
  double last = -1;
  int calls = 0;
  run([&](double share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1);
    last = share;
    ++calls;
    return true;
  });
  EXPECT_GE(calls, min_calls);
  for (const int after : {0, 1, 2, calls - 1}) {
    int asked = 0;
    EXPECT_EQ(error_of([&] { run([&](double) { return asked++ < after; }); }, ErrorCode::cancelled), "cancelled");
  }
}

inline bool same(const Partition& a, const Partition& b) {
  return a.parts == b.parts && std::ranges::equal(a.part_of, b.part_of);
}

}  // namespace weft::ordering
