#pragma once
#include <algorithm>

#include "facts/source_facts.hpp"
#include "formats/prediction.hpp"
#include "plan/build.hpp"
#include "plan/device_table.hpp"

// What formats predict from when `auto` asks them.
namespace weft {

/// The matrix as it is.
template <Value V>
class SourceOutlook final : public Outlook {
 public:
  SourceOutlook(const Stored<V>& stored, Device where, std::int64_t how_often)
      : Outlook(where, sizeof(V), device_table(where), how_often), stored_(stored) {}

  const RowLengths& rows() const override { return row_lengths(stored_.source); }
  const AccessFacts& access() const override { return access_for(device, stored_.source); }
  const BlockFacts& blocks() const override { return ::weft::blocks(stored_.source); }
  BallFacts balls(int block, Index nodes) const override { return ::weft::balls(stored_.source, block, nodes); }
  KnownParts known_parts() const override {
    return stored_.partition ? KnownParts::partition : stored_.coordinates ? KnownParts::coordinates : KnownParts::none;
  }

 private:
  const Stored<V>& stored_;
};

/// The same matrix as it may be in the order rcm: entries in a band.
class BandOutlook final : public Outlook {
 public:
  explicit BandOutlook(const Outlook& now)
      : Outlook(now.device, now.value_bytes, now.table, now.products), now_(now), access_(now.access()) {
    const double sectors = band_sectors_of(now);
    access_.entry_sectors = std::min(access_.entry_sectors, sectors);
    access_.row_sectors = std::min(access_.row_sectors, sectors);
    access_.narrow_slices = 1;
  }
  static double band_sectors_of(const Outlook& outlook) {
    return band_sectors * static_cast<double>(outlook.value_bytes) / 32 / std::max(1.0, outlook.rows().mean_row);
  }
  /// Whether a band would have far fewer sectors of x to fetch.
  static bool differs_from(const Outlook& now) { return now.access().entry_sectors > scattered * band_sectors_of(now); }

  const RowLengths& rows() const override { return now_.rows(); }
  const AccessFacts& access() const override { return access_; }
  const BlockFacts& blocks() const override { return now_.blocks(); }
  BallFacts balls(int block, Index nodes) const override { return now_.balls(block, nodes); }
  KnownParts known_parts() const override { return now_.known_parts(); }
  bool reordered() const override { return true; }

 private:
  static constexpr double band_sectors = 3;  // times those of x that an entry's row has to itself: what a band has
  static constexpr double scattered = 3;     // times what a band has: then an order can help

  const Outlook& now_;
  AccessFacts access_;
};

}  // namespace weft
