#pragma once
#include "plan/build.hpp"

namespace weft {

/// What `auto` decided for.
template <Value V>
struct Chosen {
  Built<V> built;
  std::optional<Stored<V>> reordered = {};  ///< what it was built from, where that is not what `choose` was given ...
  Order order = {};                         ///< ... and its order, which `info` names
};

/// `auto`: decides by predictions, and builds and times what they leave open.
/// 1. Every format predicts what a product and its set-up would take, from facts about the matrix and the device; also
///    for the matrix in the order rcm, where that could help.
/// 2. csr's variants that are predicted to be good are timed: they share one upload.
/// 3. Other formats are built and timed if their total (set-up and all products) is predicted to be within 15 % of the
///    least, three at most, as long as what may turn out to be in vain stays below a tenth of all products by csr. One
///    that would cost more is taken on its prediction alone, where that promises much, or not at all.
/// 4. csr and the best of the others, if they are close, are timed again in turns.
/// 5. The fastest wins; among those within 3 % of it, the one with the best prediction, so that noise does not decide.
/// For a few products there is csr and nothing else. What was chosen before by the same predictions is taken again
/// without steps 2 to 5, see plan/choices.hpp.
template <Value V>
Chosen<V> choose(const Stored<V>& stored, const PlanOptions& options, Device device, PlanInfo& info);

}  // namespace weft
