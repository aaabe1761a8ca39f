#pragma once
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/result.hpp"

namespace weft::bench {

/// One format or peer over all matrices of one type.
struct NameSummary {
  std::string name;
  bool peer = false;
  int measured = 0;  ///< matrices it has a correct result on
  std::optional<double>
      peer_ratio;  ///< geometric mean of its speed over the fastest peer's; none unless it was measured
                   ///< on every matrix, since means over different matrices cannot be compared
};

/// What a run comes to, for one value type.
struct Summary {
  ValueType type = ValueType::f64;
  int matrices = 0;
  int compared = 0;             ///< of them, where both a format of ours and a peer have a correct result
  std::optional<double> ratio;  ///< geometric mean over those of (time of the fastest peer / of our fastest format)
  int wins = 0, ties = 0, losses = 0;  ///< of our fastest format; a tie is within `tie`
  std::vector<NameSummary> names;      ///< in the order of the first case
};

/// One for each type that was measured, f64 first.
std::vector<Summary> summarize(const Report& report);

/// "On these 5 matrices (f64) Weft is 1.62 times as fast as the fastest peer (geometric mean) and wins 5 of 5." For
/// people; says so when there is nothing to compare with.
std::string headline(const Summary& summary);

/// How far off predictions were that `auto` made of formats it then timed.
struct PredictionSummary {
  int count = 0;
  double median_error = 0;  ///< relative, of the products' times
  double worst_error = 0;
  std::string worst;  ///< "sell on gen:rmat:12"
};
PredictionSummary summarize_predictions(const Report& report);

/// "auto predicted ... within 8 % in the median"; empty where nothing was predicted and timed.
std::string prediction_line(const Report& report);

}  // namespace weft::bench
