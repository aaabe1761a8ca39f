#pragma once
#include <weft/plan.hpp>

#include "formats/operator.hpp"

namespace weft {

/// What is inside a Plan.
template <Value V>
class PlanState {
 public:
  static Plan<V> make_plan(PlanState state) { return Plan<V>(std::make_unique<PlanState>(std::move(state))); }

  std::unique_ptr<Operator<V>> forward;
  std::unique_ptr<Operator<V>> transposed;  // null: the plan was made without
  Array<Offset> positions;                  // entry of the transposed matrix -> entry of the matrix
  PlanInfo info;
  bool ordered = false;  // Plan::ordering has been called
};

}  // namespace weft
