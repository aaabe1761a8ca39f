#pragma once
#include <weft/csr.hpp>
#include <weft/runtime.hpp>

#include <string>

#include "solve/precondition/pattern.hpp"

// The systems of all groups of a pattern, solved on the host, in parallel. `result` has room for the pattern's values,
// and `progress` goes from 0.2, where finding the pattern ends, to 1.
namespace weft::precondition {

/// fsai, stored in R. Throws Error(invalid_argument), naming the row, where the matrix is not positive definite.
template <Value V, Value R>
void solve_factor_inverse(const Csr<V>& matrix, const Pattern& pattern, R* result, const Progress& progress);

/// Throws what solve_factor_inverse throws for this group, which was found not to be positive definite on a device.
template <Value V>
[[noreturn]] void refuse_group(const Csr<V>& matrix, const Pattern& pattern, Index group);

/// isai. `or_least_squares`: groups whose system is singular are found as in spai, else they throw
/// Error(invalid_argument). Errors name the first row in the name of `name`. Returns how many groups that were.
template <Value V, Value R>
Index solve_incomplete(const std::string& name, const Csr<V>& matrix, const Pattern& pattern, bool or_least_squares,
                       R* result, const Progress& progress);

/// spai. Throws Error(invalid_argument), naming the row, where it has an entry that is not finite, or none that helps.
template <Value V, Value R>
void solve_least_squares(const Csr<V>& matrix, const Pattern& pattern, R* result, const Progress& progress);

}  // namespace weft::precondition
