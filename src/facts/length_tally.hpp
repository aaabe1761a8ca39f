#pragma once
#include <weft/structure.hpp>

#include <map>
#include <vector>

namespace weft {

/// How many of some rows have each length. Short lengths, which most rows have, are counted without a search.
struct LengthTally {
  static constexpr Offset short_lengths = 1024;
  std::vector<Index> rows_of_length = std::vector<Index>(short_lengths);
  std::map<Offset, Index> rows_of_long_length;

  void add(const LengthTally& other);
};

/// What follows from the lengths of all rows.
RowLengths summarize(Index rows, Index cols, Offset nonzeros, const LengthTally& tally);

}  // namespace weft
