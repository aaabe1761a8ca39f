#pragma once
#include <gtest/gtest.h>
#include <weft/formats.hpp>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include <optional>

namespace weft::test {

/// A plan, or none where the format refuses the matrix: only a format that says so in the registry may, and only when
/// the longest row is more than ten times the mean. Anything else is a failure.
template <Value V>
std::optional<Plan<V>> plan_unless_refused(const Csr<V>& matrix, const PlanOptions& options) {
  try {
    return plan(matrix, options);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported || parse_format(options.format).format->refuses.empty()) throw;
    const RowLengths rows = analyze_rows(matrix);
    if (static_cast<double>(rows.longest_row) <= 10 * rows.mean_row) throw;
    return std::nullopt;
  }
}

}  // namespace weft::test
