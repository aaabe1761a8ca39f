#include "solve/precondition/device_systems.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "solve/precondition/solve_systems.hpp"
#include "sparse/source_state.hpp"

namespace weft::precondition {
namespace {

/// The largest systems of each class: a launch reserves memory for the largest one it has.
constexpr std::array<Offset, 7> class_limits = {8, 16, 32, 48, 76, 160, 4096};

struct SortedGroups {
  std::vector<Index> groups;
  std::vector<GroupClass> classes;  ///< without pointers
};

SortedGroups sort_groups(const Pattern& pattern) {
  std::array<std::vector<Index>, class_limits.size()> members;
  std::array<GroupClass, class_limits.size()> found;
  for (Index group = 0; group < pattern.groups(); ++group) {
    const Offset unknowns = pattern.unknowns(group);
    const auto place = static_cast<std::size_t>(
        std::lower_bound(class_limits.begin(), class_limits.end() - 1, unknowns) - class_limits.begin());
    members[place].push_back(group);
    found[place].max_unknowns = std::max(found[place].max_unknowns, static_cast<int>(unknowns));
    found[place].max_rows = std::max(found[place].max_rows, static_cast<int>(pattern.group_rows(group)));
  }
  SortedGroups sorted;
  for (std::size_t place = 0; place < members.size(); ++place) {
    if (members[place].empty()) continue;
    found[place].count = static_cast<Index>(members[place].size());
    sorted.classes.push_back(found[place]);
    sorted.groups.insert(sorted.groups.end(), members[place].begin(), members[place].end());
  }
  return sorted;
}

template <class T>
DeviceBuffer<T> sent(Device device, const Array<T>& elements) {
  return DeviceBuffer<T>(device, std::span<const T>(elements.data(), elements.size()));
}

}  // namespace

template <Value V, Value R>
DeviceFactor<V, R>::DeviceFactor(Device device, const Pattern& pattern, const Csr<R>& transposed,
                                 const Array<Offset>& positions)
    : device_(device),
      starts_(sent(device, pattern.starts)),
      offsets_(sent(device, pattern.offsets)),
      upper_offsets_(sent(device, transposed.offsets)),
      positions_(sent(device, positions)),
      columns_(sent(device, pattern.columns)),
      upper_columns_(sent(device, transposed.columns)),
      values_(device, pattern.columns.size()),
      upper_values_(device, pattern.columns.size()) {
  SortedGroups sorted = sort_groups(pattern);
  sorted_groups_ = DeviceBuffer<Index>(device, std::span<const Index>(sorted.groups));
  const Index* next = sorted_groups_.data();
  for (GroupClass& one : sorted.classes) {
    one.groups = next;
    next += one.count;
  }
  classes_ = std::move(sorted.classes);
}

template <Value V, Value R>
void DeviceFactor<V, R>::solve(const MatrixSource<V>& A, const Pattern& pattern) {
  SourceState<V>& source = A.state();
  const DeviceEntries<V>& entries = source.on_device(device_);
  const DeviceArray<Offset> offsets = source.offsets64(device_);
  const Systems<V, R> systems{{offsets.data(), entries.columns.data(), entries.values.data()},
                              {starts_.data(), offsets_.data(), columns_.data()},
                              values_.data()};
  const Index failed = WEFT_ON_DEVICE(device_, precondition::factor_inverse<V, R>)(device_, systems, classes_);
  if (failed >= 0) refuse_group(A.host(), pattern, failed);
  WEFT_ON_DEVICE(device_, precondition::pick<R>)
  (device_, values_.data(), positions_.data(), pattern.nonzeros(), upper_values_.data());
  synchronize(device_);
}

#define WEFT_INSTANTIATE(V)              \
  template class DeviceFactor<V, float>; \
  template class DeviceFactor<V, double>;
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::precondition
