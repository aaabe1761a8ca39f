#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "bench/harness/result.hpp"

// What a file holds of a measurement: one list, by which JSON and CSV are written and JSON is read. A new field is a
// line there, a member of Measurement and an entry of schema.json.
namespace weft::bench {

class Place;

struct Field {
  enum class In { both, json, csv };

  const char* name;
  nlohmann::ordered_json (*write)(const Measurement&);
  void (*read)(const Place&, Measurement&) = nullptr;  ///< null: it follows from the others
  In in = In::both;
  int since = 1;                ///< the schema that has it first
  bool may_be_missing = false;  ///< also from a file of that schema
  bool always = false;          ///< written of what failed, too
};

/// In the order of the CSV's columns.
const std::vector<Field>& measurement_fields();

/// Seven digits: more than any clock has, and a result file of a suite stays small. JSON has no infinity: null.
nlohmann::ordered_json number(double value);
nlohmann::ordered_json number(const std::optional<double>& value);

}  // namespace weft::bench
