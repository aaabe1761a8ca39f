#include "solve/precondition/solve_systems.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "core/progress_meter.hpp"
#include "facts/tally_pool.hpp"
#include "solve/precondition/common.hpp"
#include "sparse/row_parts.hpp"

namespace weft::precondition {
namespace {

constexpr Index groups_per_range = 64;

/// What a thread computes in.
struct Room {
  std::vector<double> numbers;
  std::vector<Index> places;   ///< per column of the matrix, -1: not touched
  std::vector<Index> touched;  ///< columns with a place

  double* at_least(std::size_t size) {
    if (numbers.size() < size) numbers.resize(size);
    return numbers.data();
  }
};

template <Value V, Value R>
Systems<V, R> systems_of(const Csr<V>& matrix, const Pattern& pattern, R* result) {
  return {{matrix.offsets.data(), matrix.columns.data(), matrix.values.data()}, pattern.view(), result};
}

template <class RoomOf>
std::size_t largest_room(const Pattern& pattern, RoomOf&& room_of) {
  std::size_t largest = 0;
  for (Index group = 0; group < pattern.groups(); ++group)
    largest = std::max(largest, room_of(pattern.unknowns(group), Offset(pattern.group_rows(group))));
  return largest;
}

/// Calls solve(begin, end, room) for ranges of groups, which returns a Failure, and returns the one of the first group.
template <class Solve>
Failure solve_all(const Pattern& pattern, const Progress& progress, Solve&& solve) {
  io::ProgressMeter meter(progress, pattern.groups(), 0.2, 1);
  TallyPool<Room> rooms;
  FirstPosition failed;
  parallel_ranges(pattern.groups(), groups_per_range, [&](Offset begin, Offset end) {
    if (begin > failed.get()) return;
    rooms.use([&](Room& room) {
      const Failure failure = solve(static_cast<Index>(begin), static_cast<Index>(end), room);
      if (failure.group >= 0) failed.report(failure.group);
    });
    meter.add(end - begin);
  });
  if (!failed.found()) return {};
  Room room;
  const auto group = static_cast<Index>(failed.get());
  return solve(group, group + 1, room);
}

/// One sentence about a row, where it shows by itself what is wrong; else empty.
template <Value V>
std::string wrong_entry_of(const Csr<V>& matrix, Index row) {
  for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
    if (!std::isfinite(matrix.values[i]))
      return "the entry of row " + std::to_string(row) + " in column " + std::to_string(matrix.columns[i]) + " is " +
             std::to_string(matrix.values[i]);
  return {};
}

template <Value V>
[[noreturn]] void refuse_not_positive(const Csr<V>& matrix, Index row) {
  std::string sentence = wrong_entry_of(matrix, row);
  if (sentence.empty()) {
    V diagonal = 0;
    bool stored = false;
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      if (matrix.columns[i] == row) {
        diagonal = matrix.values[i];
        stored = true;
      }
    const std::string number = std::to_string(row);
    sentence = !stored         ? "the diagonal entry of row " + number + " is missing"
               : diagonal <= 0 ? "the diagonal entry of row " + number + " is " + std::to_string(diagonal)
                               : "row " + number + ", with rows before it, is not positive definite";
  }
  refuse("fsai", sentence + "; it needs a symmetric, positive definite matrix: isai and spai take others");
}

template <Value V, Value R>
Failure solve_one_least_squares(const Systems<V, R>& systems, const Pattern& pattern, Index cols, Index group,
                                Room& room) {
  if (room.places.empty()) room.places.assign(static_cast<std::size_t>(cols), -1);
  room.touched.clear();
  const Offset from = pattern.offsets[pattern.starts[group]], unknowns = pattern.unknowns(group);
  for (Offset k = from; k < from + unknowns; ++k) {
    const Index row = pattern.columns[k];
    for (Offset i = systems.matrix.offsets[row]; i < systems.matrix.offsets[row + 1]; ++i) {
      Index& place = room.places[systems.matrix.columns[i]];
      if (place >= 0) continue;
      place = static_cast<Index>(room.touched.size());
      room.touched.push_back(systems.matrix.columns[i]);
    }
  }
  const auto touched = static_cast<Offset>(room.touched.size());
  double* const numbers = room.at_least(least_squares_room(unknowns, pattern.group_rows(group), touched));
  const Failure failure =
      WEFT_CALL_ISA(isa(), least_squares<V, R>)(systems, group, room.places.data(), touched, numbers);
  for (const Index column : room.touched) room.places[column] = -1;
  return failure;
}

template <Value V>
[[noreturn]] void refuse_row(const std::string& name, const Csr<V>& matrix, const Failure& failure) {
  const std::string sentence = wrong_entry_of(matrix, failure.row);
  if (!sentence.empty()) refuse(name, sentence);
  const std::string number = std::to_string(failure.row);
  refuse(name, "row " + number + " of the inverse would be 0: none of the rows in its pattern has an entry in column " +
                   number + "; permute the rows so that the diagonal has no zeros, or raise power");
}

}  // namespace

template <Value V, Value R>
void solve_factor_inverse(const Csr<V>& matrix, const Pattern& pattern, R* result, const Progress& progress) {
  const Systems<V, R> systems = systems_of(matrix, pattern, result);
  const std::size_t size = largest_room(pattern, factor_room);
  const Failure failure = solve_all(pattern, progress, [&](Index begin, Index end, Room& room) {
    return WEFT_CALL_ISA(isa(), factor_inverse<V, R>)(systems, begin, end, room.at_least(size));
  });
  if (failure.group >= 0) refuse_not_positive(matrix, failure.row);
}

template <Value V>
void refuse_group(const Csr<V>& matrix, const Pattern& pattern, Index group) {
  Array<V> values(static_cast<std::size_t>(pattern.nonzeros()));
  const Systems<V> systems = systems_of(matrix, pattern, values.data());
  Room room;
  double* const numbers = room.at_least(factor_room(pattern.unknowns(group), pattern.group_rows(group)));
  const Failure failure = WEFT_CALL_ISA(isa(), factor_inverse<V, V>)(systems, group, group + 1, numbers);
  refuse_not_positive(matrix, failure.group >= 0 ? failure.row : pattern.starts[group]);
}

template <Value V, Value R>
Index solve_incomplete(const std::string& name, const Csr<V>& matrix, const Pattern& pattern, bool or_least_squares,
                       R* result, const Progress& progress) {
  const Systems<V, R> systems = systems_of(matrix, pattern, result);
  const std::size_t size = largest_room(pattern, incomplete_room);
  std::atomic<Index> replaced{0};
  const Failure failure = solve_all(pattern, progress, [&](Index begin, Index end, Room& room) {
    while (begin < end) {
      const Failure singular = WEFT_CALL_ISA(isa(), incomplete<V, R>)(systems, begin, end, room.at_least(size));
      if (singular.group < 0) break;
      if (!or_least_squares) return singular;
      const Failure still = solve_one_least_squares(systems, pattern, matrix.cols, singular.group, room);
      if (still.group >= 0) return still;
      ++replaced;
      begin = singular.group + 1;
    }
    return Failure{};
  });
  if (failure.group < 0) return replaced;
  if (or_least_squares) refuse_row(name, matrix, failure);
  const Index first = pattern.starts[failure.group];
  for (Index row = first; row < pattern.starts[failure.group + 1]; ++row)
    if (const std::string sentence = wrong_entry_of(matrix, row); !sentence.empty()) refuse(name, sentence);
  refuse(name, "the block of " + std::to_string(pattern.group_rows(failure.group)) + " rows that begins with row " +
                   std::to_string(first) + " is singular");
}

template <Value V, Value R>
void solve_least_squares(const Csr<V>& matrix, const Pattern& pattern, R* result, const Progress& progress) {
  const Systems<V, R> systems = systems_of(matrix, pattern, result);
  const Failure failure = solve_all(pattern, progress, [&](Index begin, Index end, Room& room) {
    for (Index group = begin; group < end; ++group) {
      const Failure one = solve_one_least_squares(systems, pattern, matrix.cols, group, room);
      if (one.group >= 0) return one;
    }
    return Failure{};
  });
  if (failure.group >= 0) refuse_row("spai", matrix, failure);
}

#define WEFT_INSTANTIATE_FOR(V, R)                                                                                     \
  template void solve_factor_inverse<V, R>(const Csr<V>&, const Pattern&, R*, const Progress&);                        \
  template Index solve_incomplete<V, R>(const std::string&, const Csr<V>&, const Pattern&, bool, R*, const Progress&); \
  template void solve_least_squares<V, R>(const Csr<V>&, const Pattern&, R*, const Progress&);
#define WEFT_INSTANTIATE(V)       \
  WEFT_INSTANTIATE_FOR(V, float)  \
  WEFT_INSTANTIATE_FOR(V, double) \
  template void refuse_group<V>(const Csr<V>&, const Pattern&, Index);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::precondition
