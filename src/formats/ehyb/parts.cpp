// How a matrix is cut into parts, and what each of them caches.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/parallel.hpp"
#include "core/timer.hpp"
#include "facts/blocks.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "order/partition/coordinates.hpp"
#include "sparse/group_by_key.hpp"

namespace weft::ehyb {
namespace {

constexpr Index rows_at_once = 2048;         // of a parallel loop
constexpr double min_in_full_blocks = 0.95;  // share of the entries that is in full blocks; else blocks do not pay
constexpr Index smallest_part = 256;         // rows; smaller ones do not occupy a multiprocessor

/// The share of its cache that a part's own nodes take, so that their neighbours in a three-dimensional mesh fit too:
/// a cube of `room` nodes less a shell of one and a quarter nodes.
double own_share(double room) {
  const double side = std::cbrt(room);
  const double inner = std::max(side - 2.5, 0.5 * side);
  return inner * inner * inner / (side * side * side);
}

}  // namespace

template <Value V>
BlockChoice choose_block(const MatrixSource<V>& source, const BuildOptions& options) {
  return {::weft::bro_sell::block_for(source, options), options.has("block")};
}

template <Value V>
Blocks find_blocks(const Csr<V>& matrix, const BlockChoice& choice) {
  const int block = choice.size;
  Blocks blocks;
  blocks.pattern = ::weft::bro_sell::find_pattern(matrix.rows, matrix.offsets, matrix.columns, block);
  if (block == 1) return blocks;
  const Pattern& pattern = blocks.pattern;
  const int entries = block * block;
  if (pattern.offsets.back() * entries == matrix.nonzeros()) return blocks;

  blocks.full = Array<std::uint8_t>(static_cast<std::size_t>(pattern.offsets.back()), 0);
  Array<Offset> in_full(static_cast<std::size_t>(pattern.rows) + 1);
  parallel_for(pattern.rows, rows_at_once, [&](Offset node) {
    Offset next[max_block];
    for (int r = 0; r < block; ++r) next[r] = matrix.offsets[node * block + r];
    Offset count = 0;
    for (Offset i = pattern.offsets[node]; i < pattern.offsets[node + 1]; ++i) {
      const Offset right = (Offset(pattern.columns[i]) + 1) * block;
      int found = 0;
      for (int r = 0; r < block; ++r)
        for (; next[r] < matrix.offsets[node * block + r + 1] && matrix.columns[next[r]] < right; ++next[r]) ++found;
      blocks.full[i] = found == entries;
      count += found == entries;
    }
    in_full[node] = count;
  });
  prefix_sum(in_full.data(), pattern.rows);
  const auto share = static_cast<double>(in_full[pattern.rows] * entries) / static_cast<double>(matrix.nonzeros());
  if (share >= min_in_full_blocks || choice.required) return blocks;
  return {::weft::bro_sell::find_pattern(matrix.rows, matrix.offsets, matrix.columns, 1), {}};
}

Shape choose_shape(Index nodes, int block, std::size_t value_bytes, const Limits& limits, const BuildOptions& options) {
  Shape shape;
  shape.block = block;
  shape.slice_rows = limits.slice_rows;
  shape.pack = limits.pack;
  shape.value_pack = limits.value_pack;
  shape.guests = options.parameter("guests", 1) != 0;
  const std::size_t node_bytes = value_bytes * static_cast<std::size_t>(block);
  auto cache =
      options.has("cache") ? static_cast<std::size_t>(options.parameter("cache", 0)) * value_bytes : limits.cache_bytes;
  if (limits.max_cache_bytes > 0) cache = std::min(cache, limits.max_cache_bytes);
  // One node holds the zero for padding.
  shape.room = static_cast<Index>(std::clamp<std::size_t>(cache / node_bytes, 2, std::size_t(max_room) + 1)) - 1;
  shape.max_nodes = shape.room;
  if (shape.guests)
    shape.max_nodes = std::max(1, static_cast<Index>(own_share(shape.room) * static_cast<double>(shape.room)));
  // K P parts, with the smallest K for which they fit.
  const Offset per_round = Offset(limits.multiprocessors) * shape.max_nodes;
  const Offset rounds = (Offset(nodes) + per_round - 1) / per_round;
  const Offset useful = (Offset(nodes) * block + smallest_part - 1) / smallest_part;
  const Offset needed = (Offset(nodes) + shape.max_nodes - 1) / shape.max_nodes;
  const Offset wanted =
      options.parameter("parts", std::min<Offset>(rounds * limits.multiprocessors, std::min<Offset>(useful, nodes)));
  shape.parts = static_cast<Index>(std::max<Offset>({1, needed, std::min<Offset>(wanted, nodes)}));
  return shape;
}

std::map<std::string, std::int64_t> numbers_of(const Shape& shape) {
  if (shape.room == 0) return {{"block", shape.block}};
  return {{"block", shape.block},
          {"parts", shape.parts},
          {"cache", (std::int64_t(shape.room) + 1) * shape.block},
          {"guests", shape.guests ? 1 : 0}};
}

template <class V>
Limits cpu_limits() {
  Limits limits;
  limits.multiprocessors = 8;       // whatever the machine has: parts are handed out to threads
  limits.cache_bytes = 256 * 1024;  // leaves room for the matrix in a second-level cache of today
  limits.slice_rows = cpu_slice_rows<V>;
  limits.pack = limits.value_pack = 1;
  return limits;
}

template <Value V>
Array<Index> find_parts(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options, Index& parts) {
  const Stopwatch watch;
  const int b = shape.block;
  Partition found;
  if (options.partition) {
    // The rows of a node stay together: with the first of them.
    Partition given{options.partition->parts, Array<Index>(options.partition->part_of.size())};
    parallel_for(static_cast<Offset>(given.part_of.size()), 1 << 14,
                 [&](Offset row) { given.part_of[row] = options.partition->part_of[row - row % b]; });
    found = limit_parts(matrix, given, shape.room * b, b);
  } else if (options.coordinates) {
    parts = shape.parts;
    Array<Index> part_of = ordering::coordinate_parts(
        ordering::Pattern(matrix), b, *options.coordinates,
        {.parts = shape.parts, .capacity = shape.max_nodes, .even_entries = true}, ordering::Pulse(options.progress));
    if (options.times) options.times->partition += watch.seconds();
    return part_of;
  } else {
    found = partition(matrix, {.parts = shape.parts,
                               .most_rows = shape.max_nodes * b,
                               .block = b,
                               .even_entries = true,
                               .progress = options.progress});
  }
  if (options.times) options.times->partition += watch.seconds();
  parts = std::max(1, found.parts);
  if (b == 1) return found.part_of;
  Array<Index> part_of(static_cast<std::size_t>(matrix.rows / b));
  parallel_for(matrix.rows / b, 1 << 14, [&](Offset node) { part_of[node] = found.part_of[node * b]; });
  return part_of;
}

std::shared_ptr<const Partition> partition_of_rows(const Caches& caches, int block) {
  auto result = std::make_shared<Partition>();
  result->parts = caches.parts();
  result->part_of = Array<Index>(caches.part_of.size() * static_cast<std::size_t>(block));
  parallel_for(static_cast<Offset>(result->part_of.size()), 1 << 14,
               [&](Offset row) { result->part_of[row] = caches.part_of[row / block]; });
  return result;
}

Index Caches::find(Index part, Index column) const {
  const Index own = own_of(part);
  if (own > 0 && part_of[column] == part) return own_place[column];
  const Index* const first = cached.data() + cache_begin[part] + own;
  const Index* const last = cached.data() + cache_begin[part + 1];
  const Index* const at = std::lower_bound(first, last, column);
  return at != last && *at == column ? own + static_cast<Index>(at - first) : -1;
}

Caches group_rows(Index nodes, bool square, Array<Index> part_of, Index parts) {
  Caches caches;
  caches.part_of = std::move(part_of);
  caches.row_begin = Array<Index>(static_cast<std::size_t>(parts) + 1);
  caches.rows = Array<Index>(static_cast<std::size_t>(nodes));
  Array<Offset> starts(static_cast<std::size_t>(parts) + 1);
  const auto source = [&](Offset begin, Offset end, auto&& sink) {
    for (Offset node = begin; node < end; ++node) sink(caches.part_of[node], static_cast<Index>(node));
  };
  group_by_key(source, nodes, parts, Fields<Index>(caches.rows.data()), starts.data());
  for (Index p = 0; p <= parts; ++p) caches.row_begin[p] = static_cast<Index>(starts[p]);
  if (!square) return caches;
  caches.own_place = Array<Index>(static_cast<std::size_t>(nodes));
  parallel_for(parts, caches.parts_at_once(), [&](Offset p) {
    for (Index i = caches.row_begin[p]; i < caches.row_begin[p + 1]; ++i)
      caches.own_place[caches.rows[i]] = i - caches.row_begin[p];
  });
  return caches;
}

void find_caches(const Blocks& blocks, const Shape& shape, Caches& caches) {
  const Pattern& pattern = blocks.pattern;
  const Index parts = caches.parts();
  const bool square = !caches.own_place.empty();

  // Guests: the columns that entries of the part want most, as many as there is room for.
  caches.whole = Array<std::uint8_t>(static_cast<std::size_t>(parts), 1);
  caches.cache_begin = Array<Offset>(static_cast<std::size_t>(parts) + 1);
  std::vector<std::vector<Index>> guests(static_cast<std::size_t>(parts));
  parallel_for(parts, caches.parts_at_once(), [&](Offset p) {
    const auto part = static_cast<Index>(p);
    std::vector<Index>& list = guests[p];
    for (Index i = caches.row_begin[p]; i < caches.row_begin[p + 1]; ++i) {
      const Index node = caches.rows[i];
      for (Offset e = pattern.offsets[node]; e < pattern.offsets[node + 1]; ++e) {
        if (!blocks.is_full(e))
          caches.whole[p] = 0;
        else if (!square || caches.part_of[pattern.columns[e]] != part)
          list.push_back(pattern.columns[e]);
      }
    }
    std::ranges::sort(list);
    const Index own = square ? caches.row_begin[p + 1] - caches.row_begin[p] : 0;
    const auto room = static_cast<std::size_t>(shape.guests || !square ? std::max(0, shape.room - own) : 0);
    std::vector<std::pair<Index, Index>> wanted;  // how often, which
    for (std::size_t i = 0; i < list.size();) {
      std::size_t j = i;
      while (j < list.size() && list[j] == list[i]) ++j;
      wanted.emplace_back(-static_cast<Index>(j - i), list[i]);
      i = j;
    }
    if (wanted.size() > room) {
      caches.whole[p] = 0;
      std::ranges::sort(wanted);
      wanted.resize(room);
      std::ranges::sort(wanted, {}, &std::pair<Index, Index>::second);
    }
    list.clear();
    list.shrink_to_fit();
    for (const auto& [count, column] : wanted) list.push_back(column);
    caches.cache_begin[p] = own + static_cast<Offset>(list.size());
  });
  prefix_sum(caches.cache_begin.data(), parts);
  caches.cached = Array<Index>(static_cast<std::size_t>(caches.cache_begin[parts]));
  parallel_for(parts, caches.parts_at_once(), [&](Offset p) {
    Index* to = caches.cached.data() + caches.cache_begin[p];
    if (square)
      to = std::copy(caches.rows.data() + caches.row_begin[p], caches.rows.data() + caches.row_begin[p + 1], to);
    std::ranges::copy(guests[p], to);
  });
}

#define WEFT_INSTANTIATE(V)                                                                      \
  template BlockChoice choose_block<V>(const MatrixSource<V>&, const BuildOptions&);             \
  template Blocks find_blocks<V>(const Csr<V>&, const BlockChoice&);                             \
  template Array<Index> find_parts<V>(const Csr<V>&, const Shape&, const BuildOptions&, Index&); \
  template Limits cpu_limits<V>();
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
