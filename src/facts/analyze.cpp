#include <weft/structure.hpp>

#include <array>
#include <bit>
#include <cmath>
#include <span>

#include "core/parallel.hpp"
#include "facts/blocks.hpp"
#include "facts/distinct.hpp"
#include "facts/symmetry.hpp"
#include "facts/tally_pool.hpp"
#include "sparse/row_parts.hpp"

namespace weft {
namespace {

/// What is counted of the entries, for some of them. All integers: sums do not depend on the order.
struct EntryTally {
  Index bandwidth = 0;
  Offset profile = 0;
  Offset gaps = 0;        // sum of the differences of neighbouring columns: last - first of each row
  Offset near_pairs = 0;  // neighbours in one line of x
  Offset zeros = 0;
  Offset not_finite = 0;
  Index dominant_rows = 0;
  MirrorTally mirrors;
  BitSet64 distinct;

  void add(const EntryTally& other) {
    bandwidth = std::max(bandwidth, other.bandwidth);
    profile += other.profile;
    gaps += other.gaps;
    near_pairs += other.near_pairs;
    zeros += other.zeros;
    not_finite += other.not_finite;
    dominant_rows += other.dominant_rows;
    mirrors.add(other.mirrors);
    distinct.insert(other.distinct);
  }
};

/// The part of a row that one range of entries holds, for the comparison of the diagonal with the rest.
struct RowWeight {
  Index row = -1;
  double diagonal = 0;
  double others = 0;
};

template <Value V>
class EntryPass {
 public:
  explicit EntryPass(const Csr<V>& matrix)
      : matrix_(matrix),
        column_used_(static_cast<std::size_t>(matrix.cols)),
        row_ends_(static_cast<std::size_t>(2 * (matrix.nonzeros() / entry_grain + 1))) {
    parallel_ranges(matrix.cols, entry_grain * 8, [&](Offset begin, Offset end) {
      std::fill(column_used_.begin() + begin, column_used_.begin() + end, std::uint8_t(0));
    });
  }

  EntryTally run() {
    TallyPool<EntryTally> pool;
    parallel_ranges(matrix_.nonzeros(), entry_grain, [&](Offset begin, Offset end) {
      pool.use([&](EntryTally& tally) {
        look_at_columns(tally, begin, end);
        look_at_values(tally, begin, end);
        look_at_rows(tally, begin, end);
      });
    });
    EntryTally total = pool.total();
    total.dominant_rows += dominant_among_cut_rows();
    if (total.distinct.size() > Structure::distinct_limit) many_distinct_.store(true);
    return total;
  }

  bool many_distinct() const { return many_distinct_; }

  Index unused_columns() const {
    std::atomic<Index> unused{0};
    parallel_ranges(matrix_.cols, entry_grain * 8, [&](Offset begin, Offset end) {
      unused += static_cast<Index>(std::count(column_used_.begin() + begin, column_used_.begin() + end, 0));
    });
    return unused;
  }

 private:
  void look_at_columns(EntryTally& tally, Offset begin, Offset end) {
    const Index* columns = matrix_.columns.data();
    Offset near_pairs = 0;
#pragma omp simd reduction(+ : near_pairs)
    for (Offset i = std::max<Offset>(begin, 1); i < end; ++i) near_pairs += (columns[i] ^ columns[i - 1]) < 8;
    tally.near_pairs += near_pairs;
    std::uint8_t* used = column_used_.data();
    for (Offset i = begin; i < end; ++i) {
      std::atomic_ref<std::uint8_t> mark(used[columns[i]]);
      if (!mark.load(std::memory_order_relaxed)) mark.store(1, std::memory_order_relaxed);
    }
  }

  void look_at_values(EntryTally& tally, Offset begin, Offset end) {
    const V* values = matrix_.values.data();
    Offset zeros = 0, not_finite = 0;
#pragma omp simd reduction(+ : zeros, not_finite)
    for (Offset i = begin; i < end; ++i) {
      zeros += values[i] == V(0);
      not_finite += !(std::abs(values[i]) <= std::numeric_limits<V>::max());
    }
    tally.zeros += zeros;
    tally.not_finite += not_finite;
    if (!many_distinct_.load(std::memory_order_relaxed))
      collect_distinct(tally.distinct, {values + begin, values + end});
  }

  /// Most matrices with few distinct values repeat them closely: a small table of recent ones spares the set.
  void collect_distinct(BitSet64& distinct, std::span<const V> values) {
    using Bits = std::conditional_t<sizeof(V) == 4, std::uint32_t, std::uint64_t>;
    constexpr int table_bits = 8;
    std::array<Bits, 1 << table_bits> recent;
    recent.fill(std::bit_cast<Bits>(values[0]));
    distinct.insert(recent[0]);
    for (const V& value : values) {
      const Bits bits = std::bit_cast<Bits>(value);
      Bits& slot = recent[bits * 0x9e3779b97f4a7c15u >> (64 - table_bits)];
      if (slot == bits) continue;
      slot = bits;
      distinct.insert(bits);
    }
    if (distinct.size() > Structure::distinct_limit) many_distinct_.store(true, std::memory_order_relaxed);
  }

  void look_at_rows(EntryTally& tally, Offset begin, Offset end) {
    const Offset* offsets = matrix_.offsets.data();
    const Index* columns = matrix_.columns.data();
    const V* values = matrix_.values.data();
    for_row_parts(offsets, matrix_.rows, begin, end, [&](Index row, Offset first, Offset last) {
      const bool opens = first == offsets[row], closes = last == offsets[row + 1];
      if (opens && first > 0) tally.near_pairs -= (columns[first] ^ columns[first - 1]) < 8;
      if (opens) {
        tally.bandwidth = std::max(tally.bandwidth, std::abs(row - columns[first]));
        tally.profile += std::max(0, row - columns[first]);
        tally.gaps -= columns[first];
      }
      if (closes) {
        tally.bandwidth = std::max(tally.bandwidth, std::abs(row - columns[last - 1]));
        tally.gaps += columns[last - 1];
      }

      RowWeight weight{row};
      Offset i = first;
      for (; i < last && columns[i] < row; ++i) weight.others += std::abs(static_cast<double>(values[i]));
      look_for_mirrors(matrix_, row, i, last, tally.mirrors);
      if (i < last && columns[i] == row) weight.diagonal = std::abs(static_cast<double>(values[i++]));
      for (; i < last; ++i) weight.others += std::abs(static_cast<double>(values[i]));
      if (opens && closes)
        tally.dominant_rows += weight.diagonal >= weight.others;
      else
        row_ends_[first / entry_grain * 2 + opens] = weight;
    });
  }

  /// Rows that lie in more than one range: their parts are added in order.
  Index dominant_among_cut_rows() const {
    Index dominant = 0;
    RowWeight sum;
    const auto close = [&] { dominant += sum.row >= 0 && sum.diagonal >= sum.others; };
    for (const RowWeight& part : row_ends_) {
      if (part.row < 0) continue;
      if (part.row != sum.row) {
        close();
        sum = RowWeight{part.row};
      }
      sum.diagonal += part.diagonal;
      sum.others += part.others;
    }
    close();
    return dominant;
  }

  const Csr<V>& matrix_;
  Array<std::uint8_t> column_used_;
  std::vector<RowWeight> row_ends_;  // by range: the end of a row begun before it, the beginning of one that goes on
  std::atomic<bool> many_distinct_{false};
};

double share(Offset part, Offset whole) {
  return whole == 0 ? 1.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

template <Value V>
Structure analyze(const Csr<V>& matrix) {
  Structure facts{analyze_rows(matrix)};

  EntryPass pass(matrix);
  const EntryTally entries = pass.run();
  const Offset pairs = facts.nonzeros - (facts.rows - facts.empty_rows);  // of neighbouring columns in a row
  facts.empty_columns = pass.unused_columns();
  facts.bandwidth = entries.bandwidth;
  facts.profile = entries.profile;
  facts.mean_column_gap = pairs == 0 ? 0 : share(entries.gaps, pairs);
  facts.locality = share(entries.near_pairs, pairs);
  facts.diagonal_entries = static_cast<Index>(entries.mirrors.diagonal);
  facts.dominant_rows = entries.dominant_rows + facts.empty_rows;
  facts.zeros_stored = entries.zeros;
  facts.not_finite = entries.not_finite;
  facts.many_distinct_values = pass.many_distinct();
  facts.distinct_values = facts.many_distinct_values ? Structure::distinct_limit : entries.distinct.size();

  if (matrix.rows == matrix.cols) {
    const SymmetryFacts symmetry = entries.mirrors.facts(facts.nonzeros);
    facts.pattern_symmetry = share(2 * entries.mirrors.mirrored, facts.nonzeros - entries.mirrors.diagonal);
    facts.pattern_symmetric = symmetry.pattern_symmetric;
    facts.values_symmetric = symmetry.values_symmetric;
    facts.values_skew = symmetry.values_skew;
  }

  const BlockFacts blocks = find_blocks(matrix.rows, matrix.cols, matrix.offsets.data(), matrix.columns.data());
  facts.block_size = blocks.size;
  facts.block_fill = blocks.fill;
  return facts;
}

#define WEFT_INSTANTIATE(V) template Structure analyze(const Csr<V>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
