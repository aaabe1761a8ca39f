// The set-up of sell for a CPU:
// 1. each slice is cut into runs and what is left, in ranges of slices; neighbours that are alike become a band;
// 2. the ranges are laid out one after the other;
// 3. values and columns go to their places.
// What a range holds depends on the matrix only, so that the storage is the same for any number of threads.
#include "formats/sell/cpu_storage.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/parallel.hpp"
#include "facts/runs.hpp"
#include "formats/padding_limit.hpp"

namespace weft::sell {
namespace {

constexpr Index rows_per_range = 4096;
constexpr Index no_column = std::numeric_limits<Index>::max();
using facts::max_rows_of_run;
using facts::rows_of_slice;
using facts::Run;
using facts::SliceCut;
using facts::SliceRows;

/// To begin a band takes about as long as so many runs of a slice. So neighbours that differ share one, with places for
/// the runs of both, if there are no more than so many runs of padding for each time that a slice differs from the
/// last.
constexpr Offset padding_per_change = 3;
/// No more than one run of so many is padding.
constexpr Offset runs_per_padding = 8;

/// Neighbouring slices that become a band.
class OpenBand {
 public:
  /// False, and nothing is done, if the slice should not be in this band; an empty one takes every slice. Of `slice`,
  /// what says how its other entries lie is used.
  bool take(const Band& slice, const SliceCut& cut, const SliceRows& rows) {
    own_.clear();
    std::ranges::merge(cut.full, cut.partial, std::back_inserter(own_), {}, &Run::distance, &Run::distance);
    if (slices_ > 0) {
      const bool differs = !std::equal(own_.begin(), own_.end(), runs_.begin() + begins_.back(), runs_.end());
      if (!is_alike(slice, rows.places) || (differs && rows.count < rows.places)) return false;
      if ((differs || own_.size() < distances_.size()) && !join(changes_ + differs)) return false;
      changes_ += differs;
    } else {
      band_ = slice;
      for (const Run& run : own_) distances_.push_back(run.distance);
    }
    ++slices_;
    begins_.push_back(static_cast<std::ptrdiff_t>(runs_.size()));
    runs_.insert(runs_.end(), own_.begin(), own_.end());
    return true;
  }

  Offset slices() const { return slices_; }

  /// The band, and the distances and masks of its runs after those given; then it is empty again.
  Band close(Index slice_rows, std::vector<Index>& distances, std::vector<std::uint8_t>& masks) {
    is_full_.assign(distances_.size(), true);
    const std::uint32_t full = ~std::uint32_t{0} >> (max_rows_of_run - std::min(slice_rows, max_rows_of_run));
    for_each_run([&](std::size_t k, std::uint32_t mask) { is_full_[k] = is_full_[k] && mask == full; });
    for (const bool wanted : {true, false})
      for (std::size_t k = 0; k < distances_.size(); ++k)
        if (is_full_[k] == wanted) distances.push_back(distances_[k]);
    for_each_run([&](std::size_t k, std::uint32_t mask) {
      if (is_full_[k]) return;
      for (Index byte = 0; byte < mask_bytes(slice_rows); ++byte)
        masks.push_back(static_cast<std::uint8_t>(mask >> (8 * byte)));
    });
    band_.full = static_cast<Index>(std::ranges::count(is_full_, true));
    band_.partial = static_cast<Index>(distances_.size()) - band_.full;
    slices_ = changes_ = 0;
    runs_.clear();
    begins_.clear();
    distances_.clear();
    return band_;
  }

 private:
  /// Where slices have other entries, their rows have the same number of them, and of runs.
  bool is_alike(const Band& slice, Index slice_rows) const {
    if (Offset(slice.width) * slice_rows % slice_alignment != 0) return false;
    if (slice.width != band_.width || slice.base != band_.base) return false;
    if (slice.width == 0) return true;
    return slice.unpadded == slice.width && band_.unpadded == band_.width &&
           std::ranges::equal(own_, distances_, {}, &Run::distance);
  }

  /// Makes room for the slice's own runs, if that takes little padding.
  bool join(Offset changes) {
    joined_.clear();
    auto mine = own_.begin();
    for (const Index distance : distances_) {
      for (; mine != own_.end() && mine->distance < distance; ++mine) joined_.push_back(mine->distance);
      if (mine != own_.end() && mine->distance == distance) ++mine;
      joined_.push_back(distance);
    }
    for (; mine != own_.end(); ++mine) joined_.push_back(mine->distance);
    const Offset places = static_cast<Offset>(joined_.size()) * (slices_ + 1);
    const Offset padding = places - static_cast<Offset>(runs_.size() + own_.size());
    if (padding > padding_per_change * changes || padding * runs_per_padding > places) return false;
    distances_.swap(joined_);
    return true;
  }

  /// Calls body(k, mask) for all slices and the distances in them; 0 where the slice has no such run.
  template <class F>
  void for_each_run(F&& body) const {
    auto run = runs_.begin();
    for (Offset s = 0; s < slices_; ++s) {
      const auto end = s + 1 < slices_ ? runs_.begin() + begins_[static_cast<std::size_t>(s) + 1] : runs_.end();
      for (std::size_t k = 0; k < distances_.size(); ++k)
        body(k, run != end && run->distance == distances_[k] ? (run++)->mask : 0);
    }
  }

  Band band_;
  Offset slices_ = 0, changes_ = 0;
  std::vector<Run> runs_;               // of all slices
  std::vector<std::ptrdiff_t> begins_;  // of a slice's runs
  std::vector<Index> distances_;        // of any of them
  std::vector<bool> is_full_;           // in all slices
  std::vector<Run> own_;
  std::vector<Index> joined_;
};

/// Some neighbouring slices: their bands, whose places count from the range's own.
struct Range {
  std::vector<Band> bands;
  std::vector<Index> distances;
  std::vector<std::uint8_t> masks;
  Offset entries = 0, units = 0, in_runs = 0;
  Index short_slices = 0;

  /// `short_columns`: 16 bits hold every column of the matrix as it is.
  void add(Index slice, const SliceCut& cut, const SliceRows& rows, bool short_columns) {
    const auto [shortest, longest] = std::ranges::minmax(cut.left);
    in_runs += cut.in_runs;
    Band band;
    band.slice = slice;
    band.width = longest;
    band.unpadded = shortest;
    band.base = longest == 0 || short_columns ? 0 : cut.highest - cut.lowest <= largest_short_column ? cut.lowest : -1;
    short_slices += band.base >= 0;
    if (open_.take(band, cut, rows)) return;
    close(rows.places);
    open_.take(band, cut, rows);
  }

  /// After the last slice.
  void close(Index slice_rows) {
    const Offset slices = open_.slices();
    const auto run = static_cast<Index>(distances.size());
    const auto mask = static_cast<Offset>(masks.size());
    Band band = open_.close(slice_rows, distances, masks);
    band.run = run;
    band.mask = mask;
    band.entry = entries;
    band.column = units;
    entries += round_up(slices * band.steps() * slice_rows, slice_alignment);
    units += round_up(slices * band.width * slice_rows, slice_alignment) * (band.base >= 0 ? 1 : 2);
    bands.push_back(band);
  }

 private:
  OpenBand open_;
};

Index slices_per_range(Index slice_rows) { return rows_per_range / slice_rows; }

template <Value V>
std::vector<Range> cut_slices(const Csr<V>& matrix, const Array<Index>& order, const Shape& shape) {
  const Index c = shape.slice_rows;
  const Offset slices = (Offset(matrix.rows) + c - 1) / c;
  const Index grain = slices_per_range(c);
  const bool short_columns = matrix.cols - 1 <= largest_short_column;
  std::vector<Range> ranges(static_cast<std::size_t>((slices + grain - 1) / grain));
  parallel_ranges(slices, grain, [&](Offset begin, Offset end) {
    Range& range = ranges[static_cast<std::size_t>(begin / grain)];
    SliceCut cut;
    for (Offset s = begin; s < end; ++s) {
      const SliceRows rows = rows_of_slice(matrix.rows, c, s);
      if (!shape.runs || !cut.into_runs(matrix, rows)) cut.without_runs(matrix, order, rows);
      range.add(static_cast<Index>(s), cut, rows, short_columns);
    }
    range.close(c);
  });
  return ranges;
}

/// Where each range begins, and where the last ends.
struct Place {
  Offset band = 0, run = 0, mask = 0, entry = 0, column = 0;
};

std::vector<Place> lay_out(const std::vector<Range>& ranges) {
  std::vector<Place> places{{}};
  for (const Range& range : ranges) {
    const Place& from = places.back();
    places.push_back(
        {from.band + static_cast<Offset>(range.bands.size()), from.run + static_cast<Offset>(range.distances.size()),
         from.mask + static_cast<Offset>(range.masks.size()), from.entry + range.entries, from.column + range.units});
  }
  return places;
}

/// Calls body(band, slice, its first place) for the slices of the bands [begin, end).
template <class V, class F>
void for_each_slice(const CpuStorage<V>& storage, Offset begin, Offset end, F&& body) {
  for (Offset b = begin; b < end; ++b) {
    const Band& band = storage.bands[b];
    const Offset size = Offset(band.steps()) * storage.shape.slice_rows;
    for (Index s = band.slice; s < storage.bands[b + 1].slice; ++s)
      body(band, s, band.entry + Offset(s - band.slice) * size);
  }
}

template <Value V>
void fill_slice(const Csr<V>& matrix, CpuStorage<V>& storage, const Band& band, Index s, Offset entry) {
  const SliceRows rows = rows_of_slice(matrix.rows, storage.shape.slice_rows, s);
  const Index c = rows.places;
  V* const values = storage.values.data() + entry;
  std::uint16_t* const narrow = storage.columns.data() + band.column_of(s, c);
  Index* const wide = reinterpret_cast<Index*>(narrow);
  const bool is_narrow = band.base >= 0;
  const Offset padded = round_up(Offset(band.width) * c, slice_alignment);
  std::fill_n(values, round_up(Offset(band.steps()) * c, slice_alignment), V(0));
  if (is_narrow)
    std::fill_n(narrow, padded, padding_column<std::uint16_t>);
  else
    std::fill_n(wide, padded, padding_column<Index>);
  const Index* const full = storage.distances.data() + band.run;
  const Index* const partial = full + band.full;
  for (Index i = 0; i < rows.count; ++i) {
    const Index row = storage.order.empty() ? rows.first + i : storage.order[rows.first + i];
    Index f = 0, p = 0, left = 0;
    for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const Index distance = matrix.columns[k] - row;
      while (p < band.partial && partial[p] < distance) ++p;
      Offset step = 0;
      if (f < band.full && full[f] == distance) {
        step = f++;
      } else if (p < band.partial && partial[p] == distance) {
        step = band.full + p;
      } else {
        const Offset place = Offset(left) * c + i;
        if (is_narrow)
          narrow[place] = static_cast<std::uint16_t>(matrix.columns[k] - band.base);
        else
          wide[place] = matrix.columns[k];
        step = band.full + band.partial + left++;
      }
      values[step * c + i] = matrix.values[k];
    }
  }
}

/// Calls body(place) for the entries of row i of slice s, by ascending column.
template <Value V, class F>
void for_each_place(const CpuStorage<V>& storage, const Band& band, Index s, Index row, Index i, Offset entries,
                    F&& body) {
  const Index c = storage.shape.slice_rows;
  const Index* const full = storage.distances.data() + band.run;
  const Index* const partial = full + band.full;
  const std::uint8_t* const masks = storage.masks.data() + band.mask_of(s, c);
  const std::uint16_t* const narrow = storage.columns.data() + band.column_of(s, c);
  const auto column = [&](Index k) {
    const Offset place = Offset(k) * c + i;
    return band.base >= 0 ? band.base + narrow[place] : reinterpret_cast<const Index*>(narrow)[place];
  };
  Index f = 0, p = 0, left = 0;
  const Offset in_full = band.full;
  Offset in_partial = 0;
  for (Index k = 0; k < band.partial; ++k) in_partial += load_mask(masks, c, k) >> i & 1;
  const Offset others = entries - in_full - in_partial;
  for (Offset k = 0; k < entries; ++k) {
    while (p < band.partial && !(load_mask(masks, c, p) >> i & 1)) ++p;
    const Index from_full = f < band.full ? full[f] : no_column;
    const Index from_partial = p < band.partial ? partial[p] : no_column;
    const Index from_others = left < others ? column(left) - row : no_column;
    Offset step = 0;
    if (from_full < from_partial && from_full < from_others)
      step = f++;
    else if (from_partial < from_others)
      step = band.full + p++;
    else
      step = band.full + band.partial + left++;
    body(step * c + i);
  }
}

/// Slices in shares of about as many places, each row counting as one more.
template <Value V>
Array<Share> cut_into_shares(const CpuStorage<V>& storage) {
  constexpr Offset min_places = 2048;
  const Offset enough_shares = std::max<Offset>(64, 8 * threads());
  const Offset places = static_cast<Offset>(storage.values.size()) + storage.rows;
  const Offset places_per_share = std::max(min_places, places / enough_shares);
  std::vector<Share> shares;
  Offset room = 0;
  const auto bands = static_cast<Index>(storage.bands.size()) - 1;
  for (Index b = 0; b < bands; ++b) {
    const Offset size = Offset(storage.bands[b].steps() + 1) * storage.shape.slice_rows;
    const Index end = storage.bands[b + 1].slice;
    for (Index s = storage.bands[b].slice; s < end;) {
      if (room <= 0) {
        shares.push_back({b, s});
        room = places_per_share;
      }
      const auto taken = static_cast<Index>(std::min<Offset>(end - s, (room + size - 1) / size));
      room -= taken * size;
      s += taken;
    }
  }
  shares.push_back({bands, storage.slice_count()});
  return Array<Share>(std::move(shares));
}

}  // namespace

template <Value V>
CpuStorage<V> build_cpu_storage(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options) {
  CpuStorage<V> storage;
  storage.shape = shape;
  storage.rows = matrix.rows;
  storage.order = shape.hubs > 0 ? sorted_rows_after_hubs(matrix.offsets, matrix.rows, shape.window, shape.hubs)
                                 : sorted_rows(matrix.offsets, matrix.rows, shape.window);
  const std::vector<Range> ranges = cut_slices(matrix, storage.order, shape);
  const std::vector<Place> places = lay_out(ranges);
  const Place& end = places.back();
  require_little_padding("sell", end.entry, matrix.nonzeros(), sizeof(V) + 2, options, "bce");
  if (end.run > std::numeric_limits<Index>::max())
    throw Error(ErrorCode::unsupported, "sell would have more than 2^31 runs; give runs=0");
  storage.bands = Array<Band>(static_cast<std::size_t>(end.band) + 1);
  storage.distances = Array<Index>(static_cast<std::size_t>(end.run));
  storage.masks = Array<std::uint8_t>(static_cast<std::size_t>(end.mask));
  storage.values = Array<V>(static_cast<std::size_t>(end.entry));
  storage.columns = Array<std::uint16_t>(static_cast<std::size_t>(end.column));
  Band& last = storage.bands[end.band];
  last = Band{};
  last.entry = end.entry;
  last.slice = static_cast<Index>((Offset(matrix.rows) + shape.slice_rows - 1) / shape.slice_rows);
  for (const Range& range : ranges) {
    storage.in_runs += range.in_runs;
    storage.short_slices += range.short_slices;
  }
  parallel_for(static_cast<Offset>(ranges.size()), 1, [&](Offset r) {
    const Range& range = ranges[static_cast<std::size_t>(r)];
    const Place& from = places[static_cast<std::size_t>(r)];
    for (std::size_t b = 0; b < range.bands.size(); ++b) {
      Band band = range.bands[b];
      band.entry += from.entry;
      band.column += from.column;
      band.run += static_cast<Index>(from.run);
      band.mask += from.mask;
      storage.bands[from.band + static_cast<Offset>(b)] = band;
    }
    std::ranges::copy(range.distances, storage.distances.begin() + from.run);
    std::ranges::copy(range.masks, storage.masks.begin() + from.mask);
  });
  parallel_for(static_cast<Offset>(ranges.size()), 1, [&](Offset r) {
    for_each_slice(storage, places[static_cast<std::size_t>(r)].band, places[static_cast<std::size_t>(r) + 1].band,
                   [&](const Band& band, Index s, Offset entry) { fill_slice(matrix, storage, band, s, entry); });
  });
  storage.shares = cut_into_shares(storage);
  return storage;
}

template <Value V>
void place_values(CpuStorage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values) {
  const Index c = storage.shape.slice_rows;
  constexpr Offset bands_per_range = 64;
  parallel_ranges(static_cast<Offset>(storage.bands.size()) - 1, bands_per_range, [&](Offset begin, Offset end) {
    for_each_slice(storage, begin, end, [&](const Band& band, Index s, Offset entry) {
      const Index first = s * c, count = std::min(c, storage.rows - first);
      for (Index i = 0; i < count; ++i) {
        const Index row = storage.order.empty() ? first + i : storage.order[first + i];
        auto from = static_cast<std::size_t>(offsets[row]);
        for_each_place(storage, band, s, row, i, offsets[row + 1] - offsets[row],
                       [&](Offset place) { storage.values[entry + place] = csr_values[from++]; });
      }
    });
  });
}

#define WEFT_INSTANTIATE(V)                                                                      \
  template CpuStorage<V> build_cpu_storage<V>(const Csr<V>&, const Shape&, const BuildOptions&); \
  template void place_values<V>(CpuStorage<V>&, const Array<Offset>&, std::span<const V>);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::sell
