#pragma once
#include <weft/plan.hpp>

namespace weft {

/// A plan with the matrix it was made of, whose arrays may be views of the mapped file.
template <Value V>
struct LoadedPlan {
  Plan<V> plan;
  Csr<V> matrix;
};

/// load_plan for a caller who needs the matrix too: the file is read and verified once.
template <Value V>
LoadedPlan<V> load_plan_and_matrix(const std::string& path, const PlanOptions& options = {});

}  // namespace weft
