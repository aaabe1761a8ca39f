// The greedy of Algorithm 2 (Tang et al. 2013), almost, on a few slices' rows, with at most 64 clusters, so that a word
// says in which clusters something is.
#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "order/bar.hpp"

namespace weft::ordering {
namespace {

using ClusterSet = std::uint64_t;
static_assert(chunk_slices <= 64);

/// Numbers the pairs (j, line of x) that the j-th entries of the rows touch: the things clusters share or not.
class LineNumbers {
 public:
  explicit LineNumbers(Offset entries)
      : keys_(std::bit_ceil(static_cast<std::size_t>(std::max<Offset>(16, entries + entries / 2))), free_key),
        numbers_(keys_.size()) {}

  std::uint32_t number(Offset j, Index line) {
    const std::uint64_t key = static_cast<std::uint64_t>(j) << 32 | static_cast<std::uint32_t>(line);
    const std::size_t mask = keys_.size() - 1;
    std::size_t slot = (key * 0x9E3779B97F4A7C15ull >> 24) & mask;
    while (keys_[slot] != key) {
      if (keys_[slot] == free_key) {
        keys_[slot] = key;
        numbers_[slot] = count_++;
        break;
      }
      slot = (slot + 1) & mask;
    }
    return numbers_[slot];
  }
  std::uint32_t count() const { return count_; }

 private:
  static constexpr std::uint64_t free_key = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> numbers_;
  std::uint32_t count_ = 0;
};

/// What one cluster has come to. Its lines are kept apart, as sets of clusters.
struct Cluster {
  std::vector<Index> rows;
  std::vector<std::uint8_t> widths;  // bits of the j-th step
  Offset bits = 0;                   // their sum
  std::size_t room = 0;              // rows it may still take
};

/// What taking in a row would cost besides lines: symbols, then bits that do not fill a symbol yet, then the distance
/// from where the row stands among the sorted ones.
struct Price {
  Offset symbols = std::numeric_limits<Offset>::max();
  Offset bits = 0;
  int distance = 0;
  auto operator<=>(const Price&) const = default;
};

/// How many of the added sets hold each cluster: 64 counters side by side, bit i of all of them in planes_[i].
class SharedCounts {
 public:
  void clear() {
    std::fill(planes_.begin(), planes_.begin() + used_, ClusterSet(0));
    used_ = 0;
  }
  void add(ClusterSet set) {
    for (int i = 0; set != 0; ++i) {
      used_ = std::max(used_, i + 1);
      const ClusterSet carry = planes_[i] & set;
      planes_[i] ^= set;
      set = carry;
    }
  }
  /// Those of `among` with the largest count.
  ClusterSet most(ClusterSet among) const {
    for (int i = used_ - 1; i >= 0; --i)
      if ((among & planes_[i]) != 0) among &= planes_[i];
    return among;
  }

 private:
  std::array<ClusterSet, 33> planes_{};
  int used_ = 0;
};

class Greedy {
 public:
  Greedy(const Pattern& pattern, std::span<const Index> rows, const BarModel& model, Index line_elements)
      : pattern_(pattern), model_(model), rows_(rows.begin(), rows.end()) {
    sort_by_length();
    number_lines(line_elements);
    const std::size_t slice = static_cast<std::size_t>(model.slice_rows);
    clusters_.resize((rows_.size() + slice - 1) / slice);
    for (std::size_t t = 0; t < clusters_.size(); ++t) clusters_[t].room = std::min(slice, rows_.size() - t * slice);
  }

  void run() {
    const std::size_t slice = static_cast<std::size_t>(model_.slice_rows);
    open_ = clusters_.size() == 64 ? ~ClusterSet(0) : (ClusterSet(1) << clusters_.size()) - 1;
    for (std::size_t t = 0; t < clusters_.size(); ++t) place(t * slice, t);
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (i % slice != 0) place(i, best_cluster(i));
  }

  /// The rows, cluster after cluster; in a cluster as they are numbered, and so the clusters, but for a short one,
  /// which stays the last.
  void take_order(std::span<Index> rows) {
    for (Cluster& cluster : clusters_) std::sort(cluster.rows.begin(), cluster.rows.end());
    const bool last_is_short = rows.size() % static_cast<std::size_t>(model_.slice_rows) != 0;
    std::sort(clusters_.begin(), clusters_.end() - (last_is_short ? 1 : 0),
              [](const Cluster& a, const Cluster& b) { return a.rows.front() < b.rows.front(); });
    auto to = rows.begin();
    for (const Cluster& cluster : clusters_) to = std::copy(cluster.rows.begin(), cluster.rows.end(), to);
  }

 private:
  /// The longest first; equally long ones as they stand, which is what keeps neighbours together.
  void sort_by_length() {
    std::vector<std::pair<Offset, Index>> keys;  // (-length, place)
    for (std::size_t i = 0; i < rows_.size(); ++i) keys.emplace_back(-pattern_.length(rows_[i]), static_cast<Index>(i));
    std::sort(keys.begin(), keys.end());
    const std::vector<Index> before = rows_;
    for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = before[keys[i].second];
  }

  void number_lines(Index line_elements) {
    starts_.assign(1, 0);
    for (const Index row : rows_) starts_.push_back(starts_.back() + pattern_.length(row));
    LineNumbers numbers(starts_.back());
    lines_.resize(static_cast<std::size_t>(starts_.back()));
    bits_.resize(lines_.size());
    // The j-th line of the row before is the likeliest guess.
    struct Known {
      Index line = -1;
      std::uint32_t number = 0;
    };
    std::vector<Known> before;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Index* columns = pattern_.columns + pattern_.offsets[rows_[i]];
      const Offset length = starts_[i + 1] - starts_[i];
      if (static_cast<Offset>(before.size()) < length) before.resize(static_cast<std::size_t>(length));
      for (Offset j = 0; j < length; ++j) {
        const Index line = columns[j] / line_elements;
        if (before[j].line != line) before[j] = {line, numbers.number(j, line)};
        lines_[starts_[i] + j] = before[j].number;
        bits_[starts_[i] + j] = static_cast<std::uint8_t>(step_bits(j == 0 ? -1 : columns[j - 1], columns[j]));
      }
    }
    holders_.assign(numbers.count(), 0);
  }

  /// Bits by which the cluster's row would grow.
  Offset wider_by(const Cluster& cluster, std::size_t i) const {
    const std::uint8_t* bits = bits_.data() + starts_[i];
    const Offset length = starts_[i + 1] - starts_[i];
    const Offset common = std::min(length, static_cast<Offset>(cluster.widths.size()));
    const std::uint8_t* widths = cluster.widths.data();
    Offset total = 0;
    for (Offset begin = 0; begin < common; begin += 4096) {  // short enough for an int
      const Offset end = std::min(common, begin + 4096);
      int sum = 0;
      for (Offset j = begin; j < end; ++j) sum += bits[j] > widths[j] ? bits[j] - widths[j] : 0;
      total += sum;
    }
    for (Offset j = common; j < length; ++j) total += bits[j];
    return total;
  }

  Offset symbols(Offset bits) const { return (bits + model_.symbol_bits - 1) / model_.symbol_bits; }

  /// Of the open clusters that share most lines with the row, the one that gets the least more expensive. Algorithm 2
  /// would also ask those that share fewer lines but widen less; on the test's twenty matrices that came out worse.
  std::size_t best_cluster(std::size_t i) {
    shared_.clear();
    for (Offset k = starts_[i]; k < starts_[i + 1]; ++k) shared_.add(holders_[lines_[k]]);
    const int own = static_cast<int>(i / static_cast<std::size_t>(model_.slice_rows));
    Price best;
    int chosen = 0;
    for (ClusterSet rest = shared_.most(open_); rest != 0; rest &= rest - 1) {
      const int t = std::countr_zero(rest);
      const Cluster& cluster = clusters_[t];
      const Offset wider = wider_by(cluster, i);
      const Price price{symbols(cluster.bits + wider) - symbols(cluster.bits), wider, std::abs(t - own)};
      if (best < price || (price == best && t > chosen)) continue;
      best = price;
      chosen = t;
    }
    return static_cast<std::size_t>(chosen);
  }

  void place(std::size_t i, std::size_t t) {
    Cluster& cluster = clusters_[t];
    cluster.bits += wider_by(cluster, i);
    const Offset length = starts_[i + 1] - starts_[i];
    if (static_cast<Offset>(cluster.widths.size()) < length) cluster.widths.resize(static_cast<std::size_t>(length), 0);
    for (Offset j = 0; j < length; ++j) {
      cluster.widths[j] = std::max(cluster.widths[j], bits_[starts_[i] + j]);
      holders_[lines_[starts_[i] + j]] |= ClusterSet(1) << t;
    }
    cluster.rows.push_back(rows_[i]);
    if (--cluster.room == 0) open_ &= ~(ClusterSet(1) << t);
  }

  const Pattern& pattern_;
  const BarModel& model_;
  std::vector<Index> rows_;           // the longest first
  std::vector<Offset> starts_;        // where a row's entries begin in the two below
  std::vector<std::uint32_t> lines_;  // numbers of (j, line)
  std::vector<std::uint8_t> bits_;    // of the steps
  std::vector<ClusterSet> holders_;   // of each (j, line)
  std::vector<Cluster> clusters_;
  ClusterSet open_ = 0;
  SharedCounts shared_;
};

}  // namespace

void improve_chunk(const Pattern& pattern, std::span<Index> rows, const BarModel& model, Index line_elements) {
  if (rows.size() <= static_cast<std::size_t>(model.slice_rows)) return;
  SliceCounter counter(pattern, model, line_elements);
  const auto cost = [&](std::span<const Index> order) {
    Offset sum = 0;
    const std::size_t slice = static_cast<std::size_t>(model.slice_rows);
    for (std::size_t begin = 0; begin < order.size(); begin += slice)
      sum += counter.cost(order.subspan(begin, std::min(slice, order.size() - begin)));
    return sum;
  };
  Greedy greedy(pattern, rows, model, line_elements);
  greedy.run();
  std::vector<Index> found(rows.size());
  greedy.take_order(found);
  if (cost(found) < cost(rows)) std::copy(found.begin(), found.end(), rows.begin());
}

}  // namespace weft::ordering
