#pragma once
#include <weft/csr.hpp>
#include <weft/runtime.hpp>

#include <algorithm>
#include <cstdint>

#include "core/parallel.hpp"
#include "core/progress_meter.hpp"

namespace weft::generation {

/// Throws Error(out_of_memory) when this machine has less memory than `bytes`: a system that promises more memory than
/// it has would end the process instead of refusing the allocation.
void require_memory(double bytes);

/// The size of a matrix whose rows come in groups of `rows_per_group` rows of equal length (the unknowns of a node).
struct RowGroups {
  std::int64_t groups = 0;
  std::int64_t cols = 0;
  double expected_entries = 0;  ///< about how many; to refuse early and to cut the work into even pieces
  std::int64_t rows_per_group = 1;
};

/// Builds a matrix straight into its final arrays, in parallel: count(group) gives the length of each of the group's
/// rows, fill(group, columns, values) writes the group's rows one after the other.
template <Value V, class Count, class Fill>
Csr<V> build_rows(const RowGroups& shape, const Progress& progress, Count&& count, Fill&& fill) {
  const std::int64_t rows = shape.groups * shape.rows_per_group;
  constexpr double entry_bytes = sizeof(Index) + sizeof(V);
  require_memory(static_cast<double>(rows) * sizeof(Offset) + shape.expected_entries * entry_bytes);
  const double per_group = shape.expected_entries / static_cast<double>(std::max<std::int64_t>(1, shape.groups));
  const auto grain = static_cast<std::int64_t>(std::clamp(65536.0 / std::max(per_group, 1.0), 1.0, 65536.0));

  Csr<V> matrix;
  matrix.rows = static_cast<Index>(rows);
  matrix.cols = static_cast<Index>(shape.cols);
  matrix.offsets = Array<Offset>(static_cast<std::size_t>(rows) + 1);
  Offset* offsets = matrix.offsets.data();
  io::ProgressMeter counting(progress, shape.groups, 0, 0.3);
  parallel_ranges(shape.groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      const Offset length = count(group);
      for (std::int64_t row = 0; row < shape.rows_per_group; ++row)
        offsets[group * shape.rows_per_group + row] = length;
    }
    counting.add(end - begin);
  });
  prefix_sum(offsets, rows);

  const auto entries = static_cast<std::size_t>(offsets[rows]);
  require_memory(static_cast<double>(rows) * sizeof(Offset) + static_cast<double>(entries) * entry_bytes);
  matrix.columns = Array<Index>(entries);
  matrix.values = Array<V>(entries);
  Index* columns = matrix.columns.data();
  V* values = matrix.values.data();
  io::ProgressMeter filling(progress, shape.groups, 0.3, 1);
  parallel_ranges(shape.groups, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      const Offset first = offsets[group * shape.rows_per_group];
      fill(group, columns + first, values + first);
    }
    filling.add(end - begin);
  });
  return matrix;
}

}  // namespace weft::generation
