#pragma once
#include <weft/preconditioners.hpp>

#include <cstdio>
#include <string>

#include "facts/source_facts.hpp"
#include "solve/precondition/common.hpp"
#include "solve/precondition/pattern.hpp"

namespace weft::precondition {

inline void require_in_range(const std::string& name, const char* option, double given, double min, double max) {
  if (given >= min && given <= max) return;
  char text[160];
  std::snprintf(text, sizeof text, "%s is %g; it must be %g to %g", option, given, min, max);
  refuse(name, text);
}

/// The rules of a pattern, with the matrix's own block size where none is given. Throws for options out of range.
template <Value V>
PatternRules rules_of(const std::string& name, const MatrixSource<V>& A, const SparseInverseOptions& options) {
  require_square(name, A);
  require_in_range(name, "power", options.power, 1, 8);
  require_in_range(name, "drop", options.drop, 0, 1);
  require_in_range(name, "block", options.block, 0, 64);
  require_in_range(name, "max_unknowns", options.max_unknowns, 1, 4096);
  PatternRules rules;
  rules.power = options.power;
  rules.drop = options.drop;
  rules.block = options.block > 0 ? options.block : blocks(A).size;
  rules.max_unknowns = options.max_unknowns;
  if (A.rows() % rules.block != 0)
    refuse(name, "blocks of " + std::to_string(rules.block) + " rows do not divide the " + std::to_string(A.rows()) +
                     " rows of the matrix");
  return rules;
}

/// ", f32" where an inverse is stored in fewer bits than the matrix.
template <Value V, Value R>
std::string stored_as() {
  return sizeof(R) < sizeof(V) ? ", " + std::string(to_string(value_type<R>)) : std::string();
}

/// "3 x 3 blocks, power 2, drop 0.05, 40.5 entries per row"
inline std::string describe(const PatternRules& rules, const Pattern& pattern) {
  char text[160];
  std::string all;
  if (rules.block > 1) {
    std::snprintf(text, sizeof text, "%d x %d blocks, ", rules.block, rules.block);
    all = text;
  }
  all += "power " + std::to_string(rules.power);
  if (rules.drop > 0) {
    std::snprintf(text, sizeof text, ", drop %g", rules.drop);
    all += text;
  }
  const double mean = pattern.rows() > 0 ? static_cast<double>(pattern.nonzeros()) / pattern.rows() : 0;
  std::snprintf(text, sizeof text, ", %.1f entries per row", mean);
  return all + text;
}

}  // namespace weft::precondition
