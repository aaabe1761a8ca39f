#pragma once
#include <gtest/gtest.h>
#include <weft/plan.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "formats/registry.hpp"
#include "sparse/callers_csr.hpp"
#ifdef WEFT_HAS_EMULATOR
#include "simt/emulator_device.hpp"
#endif

/// For tests of csr:merge and csr:speculative, which cut rows anywhere: matrices given by where rows begin, filled with
/// small integers so that sums are exact in any order and every element of y can be compared bit by bit.
namespace weft::test {

/// A GPU, or the emulator in one of its lane orders.
struct Place {
  Device device;
  int lane_order = 0;  // 0 forward, 1 reverse, 2 and more: random, by this seed
};

inline std::vector<Place> places() {
  std::vector<Place> all;
  for (const Device device : devices_with_kernels())
    for (int order = 0; order < (device.kind() == Device::Kind::emulator ? 3 : 1); ++order)
      all.push_back({device, order});
  return all;
}

/// "emulator_forward": tests named so run in one lane order only where time is short (.ci/run).
inline std::string name_of(const Place& place) {
  static const char* const orders[] = {"_forward", "_reverse", "_random"};
  const bool emulated = place.device.kind() == Device::Kind::emulator;
  return place.device.name() + (emulated ? orders[place.lane_order] : "");
}

/// Runs launches in the place's lane order to the end of the scope.
class PlaceScope {
 public:
#ifdef WEFT_HAS_EMULATOR
  explicit PlaceScope(const Place& place) : order_(lane_order(place.lane_order)) {}

 private:
  static simt::emulator::LaneOrder lane_order(int order) {
    using simt::emulator::LaneOrder;
    if (order == 0) return {LaneOrder::Kind::forward};
    if (order == 1) return {LaneOrder::Kind::reverse};
    return {LaneOrder::Kind::random, static_cast<std::uint64_t>(order)};
  }
  simt::emulator::LaneOrderScope order_;
#else
  explicit PlaceScope(const Place&) {}
#endif
};

template <Value V>
std::unique_ptr<Operator<V>> build_variant(const std::string& name, Device device, const Csr<V>& matrix,
                                           const std::any& tuning = {}) {
  const FormatChoice choice = find_format(name, device, sizeof(V) == 4 ? ValueType::f32 : ValueType::f64);
  return choice.format->build.template get<V>()(matrix, {device, choice.variant, {}, tuning, choice.parameters});
}

/// The matrix whose rows begin at `offsets`, the last of which is the end.
template <Value V>
Csr<V> integer_matrix(const std::vector<Offset>& offsets) {
  Index longest = 0;
  Array<Index> columns(static_cast<std::size_t>(offsets.back()));
  Array<V> values(columns.size());
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    for (Offset k = offsets[row]; k < offsets[row + 1]; ++k) {
      columns[k] = static_cast<Index>(k - offsets[row] + row % 3);
      values[k] = static_cast<V>(1 + k * 7 % 11);
      longest = std::max(longest, columns[k] + 1);
    }
  Array<Offset> starts(offsets.size());
  std::copy(offsets.begin(), offsets.end(), starts.begin());
  return make_csr<V>(static_cast<Index>(offsets.size()) - 1, longest, std::move(starts), std::move(columns),
                     std::move(values));
}

template <Value V>
Array<V> apply(Operator<V>& built, Device device, V alpha, const Array<V>& x, V beta, const Array<V>& before) {
  if (device.is_cpu()) {
    Array<V> y = before.clone();
    built.apply({alpha, x.data(), x.size(), beta, y.data(), y.size(), 1}, {});
    return y;
  }
  DeviceBuffer<V> from(device, x), to(device, before);
  built.apply({alpha, from.data(), x.size(), beta, to.data(), before.size(), 1}, {});
  return to.download();
}

/// 2 A x on any device, of several vectors; y is NaN before.
inline std::vector<double> product(Plan<double>& planned, Device device, const std::vector<double>& x, std::size_t rows,
                                   int vectors) {
  const auto count = static_cast<std::size_t>(vectors);
  std::vector<double> y(rows * count, std::numeric_limits<double>::quiet_NaN());
  if (device.is_cpu()) {
    planned.apply(Op::none, 2.0, Vectors<const double>{x, vectors, x.size() / count}, 0.0,
                  Vectors<double>{y, vectors, rows});
    return y;
  }
  const DeviceBuffer<double> x_there(device, x);
  DeviceBuffer<double> y_there(device, y);
  planned.apply(Op::none, 2.0, DeviceVectors<const double>{x_there, vectors, x.size() / count}, 0.0,
                DeviceVectors<double>{y_there, vectors, rows});
  const Array<double> downloaded = y_there.download();
  return {downloaded.begin(), downloaded.end()};
}

/// Multiplies an integer matrix by integers. With beta == 0, y starts as NaN.
template <Value V>
::testing::AssertionResult multiplies_exactly(Operator<V>& built, Device device, const Csr<V>& matrix, V beta) {
  const V alpha = 2;
  Array<V> x(static_cast<std::size_t>(matrix.cols)), before(static_cast<std::size_t>(matrix.rows));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<V>(1 + i * 3 % 5);
  for (std::size_t i = 0; i < before.size(); ++i)
    before[i] = beta == V(0) ? std::numeric_limits<V>::quiet_NaN() : static_cast<V>(1 + i % 17);
  const Array<V> y = apply(built, device, alpha, x, beta, before);
  for (Index row = 0; row < matrix.rows; ++row) {
    V sum = 0;
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k)
      sum += matrix.values[k] * x[matrix.columns[k]];
    const V expected = beta == V(0) ? alpha * sum : alpha * sum + beta * before[row];
    if (y[row] != expected)
      return ::testing::AssertionFailure() << "row " << row << " of " << matrix.rows << ", entries "
                                           << matrix.offsets[row] << " to " << matrix.offsets[row + 1] << " of "
                                           << matrix.nonzeros() << ", is " << y[row] << ", expected " << expected;
  }
  return ::testing::AssertionSuccess();
}

/// Where rows begin, written down from the first entry on.
class RowWriter {
 public:
  /// A row up to `entry`.
  RowWriter& end_at(Offset entry) {
    offsets_.push_back(entry);
    return *this;
  }
  RowWriter& empty(int rows) {
    offsets_.insert(offsets_.end(), static_cast<std::size_t>(rows), offsets_.back());
    return *this;
  }
  RowWriter& row(Offset length) { return end_at(offsets_.back() + length); }
  /// Rows of `length` entries, the last maybe shorter, up to `entry`.
  RowWriter& rows_up_to(Offset entry, Offset length) {
    while (offsets_.back() < entry) end_at(std::min(offsets_.back() + length, entry));
    return *this;
  }
  Offset entries() const { return offsets_.back(); }
  Index rows() const { return static_cast<Index>(offsets_.size()) - 1; }
  const std::vector<Offset>& offsets() const { return offsets_; }

 private:
  std::vector<Offset> offsets_{0};
};

/// What is walked through the positions of a tile, a bunch or a share.
enum class Walked {
  border,            // a long row ends before the position, another starts there
  empty_rows,        // the same with one to three empty rows between them
  one_entry,         // a row starts and ends there, between long ones
  empty_among_short  // an empty row before the position, among rows of one entry
};
constexpr Walked all_walked[] = {Walked::border, Walked::empty_rows, Walked::one_entry, Walked::empty_among_short};

inline std::string name_of(Walked walked) {
  static const char* const names[] = {"border", "empty rows", "row of one entry", "empty row among short ones"};
  return names[static_cast<int>(walked)];
}

/// Goes on to `entry`, which is not before the last one, and writes down what is walked there.
inline void walk_to(RowWriter& rows, Walked walked, Offset entry) {
  if (walked == Walked::empty_among_short)
    rows.rows_up_to(entry, 1).empty(1);
  else if (entry > rows.entries())
    rows.end_at(entry);
  if (walked == Walked::empty_rows) rows.empty(1 + static_cast<int>(entry % 3));
  if (walked == Walked::one_entry) rows.row(1);
}

}  // namespace weft::test
