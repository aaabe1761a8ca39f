#pragma once
#include "formats/column_groups.hpp"

namespace weft::coo {

/// The rows of entries that are requested in ascending order, from the row offsets of a csr.
class RowWalker {
 public:
  WEFT_HOST_DEVICE constexpr RowWalker(const Offset* offsets, Index rows, Offset entry)
      : offsets_(offsets), rows_(rows), row_(search(0, rows, entry)) {}

  WEFT_HOST_DEVICE constexpr Index row_of(Offset entry) {
    // Longer and longer steps: the row is mostly near, but millions of empty ones may be on the way.
    Offset low = row_, step = 1;
    while (low + step < rows_ && offsets_[low + step] <= entry) {
      low += step;
      step *= 2;
    }
    return row_ = search(low, low + step < rows_ ? low + step : rows_, entry);
  }

 private:
  /// offsets[low] <= entry < offsets[high]
  WEFT_HOST_DEVICE constexpr Index search(Offset low, Offset high, Offset entry) const {
    while (high - low > 1) {
      const Offset middle = low + (high - low) / 2;
      if (offsets_[middle] <= entry)
        low = middle;
      else
        high = middle;
    }
    return static_cast<Index>(low);
  }

  const Offset* offsets_;
  Offset rows_;
  Index row_;
};

}  // namespace weft::coo
