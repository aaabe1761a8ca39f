#pragma once
#include "sparse/source_state.hpp"

namespace weft {

/// What some of the entries on and right of the diagonal show of the symmetry of a matrix.
struct MirrorTally {
  Offset diagonal = 0;
  Offset mirrored = 0;  // entries right of the diagonal whose mirror is stored
  bool symmetric = true;
  bool skew = true;

  void add(const MirrorTally& other) {
    diagonal += other.diagonal;
    mirrored += other.mirrored;
    symmetric &= other.symmetric;
    skew &= other.skew;
  }

  /// What follows for a square matrix when all of its entries have been looked at.
  SymmetryFacts facts(Offset nonzeros) const {
    const bool pattern = 2 * mirrored == nonzeros - diagonal;
    return {pattern, pattern && symmetric, pattern && skew};
  }
};

/// Adds the entries first..last of `row`, which are on or right of the diagonal. Returns whether those right of it all
/// have a mirror, which is looked for in square matrices only.
template <Value V>
bool look_for_mirrors(const Csr<V>& matrix, Index row, Offset first, Offset last, MirrorTally& tally);

/// Ends as soon as an entry has no mirror.
template <Value V>
SymmetryFacts find_symmetry(const Csr<V>& matrix);

}  // namespace weft
