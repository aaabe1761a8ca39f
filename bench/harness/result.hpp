#pragma once
#include <weft/device.hpp>
#include <weft/order.hpp>
#include <weft/plan.hpp>
#include <weft/types.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cache_bandwidth.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "portrait.hpp"
#include "setup.hpp"

namespace weft::bench {

/// One format (or peer) on one matrix.
struct Measurement {
  std::string name;    ///< as asked for: "csr", "csr:vector", "eigen"
  std::string chosen;  ///< what that came to: "csr:vector8"
  bool peer = false;
  std::string version;        ///< of a peer's library; else empty
  std::string failure;        ///< why there are no numbers; else empty
  bool correct = true;        ///< false: numbers there are, but y was wrong
  std::string details;        ///< parameters the format chose, one line
  std::string recipe;         ///< see PlanInfo; empty for peers
  bool deterministic = true;  ///< the format promises the same bits every time; peers promise nothing we know of
  bool repeatable = true;     ///< the bits were the same in every product that was compared
  Setup setup;
  double first_product_seconds = 0;  ///< the first product after set-up, with whatever was put off until then
  Timing timing;
  std::size_t bytes = 0;  ///< of the matrix as stored for the product
  double bytes_per_nonzero = 0;
  bool bytes_estimated = false;  ///< a peer does not tell: these are csr's
  std::int64_t padding = 0;      ///< entries stored besides the matrix's own; peers do not tell theirs
  double gflops = 0;             ///< 2 nonzeros / time, for every vector
  double gigabytes = 0;          ///< 1e9 bytes a second: stored matrix + all x + all y, once each
  double bandwidth_share = 0;    ///< of the bandwidth measured in the same run; 0 when that is unknown
  double forward_error = 0;      ///< see Verdict
  double backward_error = 0;
  int rank = 0;                          ///< 1 for the fastest and all within 5 % of it; 0 when not measured or wrong
  std::optional<double> setup_products;  ///< set-up without the upload, in products; none for a peer
  std::optional<double> break_even;      ///< products after which csr would have taken longer; none when never
  std::optional<double> peer_ratio;      ///< time of the fastest peer / this time; none without peers
  std::vector<Candidate> candidates;     ///< of `auto`: the formats it has predictions for
  double tried_seconds = 0;              ///< of `auto`, see PlanInfo
  double budget_seconds = 0;
  std::optional<double> instructions_per_nonzero;  ///< counted, not measured: see InstructionCounts; in no result file

  bool measured() const { return failure.empty(); }
  bool counts() const { return measured() && correct && timing.median > 0; }  ///< may be compared with others
};

/// All formats on one matrix with one value type.
struct Case {
  std::string source;
  ValueType type = ValueType::f64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;
  Ordering ordering = Ordering::none;  ///< the formats stored the matrix in this order; peers did not
  int vectors = 1;                     ///< of a product: times are those of all of them
  Layout layout = Layout::column_major;
  Portrait portrait;
  std::vector<Measurement> measurements;
};

struct Report {
  static constexpr int schema = 2;  ///< rises when a field changes its meaning or goes away
  Machine machine;
  Device device;
  std::string device_name;
  double bandwidth = 0;                ///< bytes a second, measured at the start of the run
  std::vector<CacheBandwidth> caches;  ///< measured then, too; empty when unknown
  std::string command;                 ///< that repeats the run
  double seconds = 0;                  ///< the parameters of the run
  int groups = 0;
  std::int64_t products = 0;  ///< that were said to come: what `auto` and peers that tune themselves plan for
  std::uint64_t seed = 0;
  bool cold = false;               ///< products with emptied caches were timed, too
  std::vector<std::string> notes;  ///< peers that were not there
  std::vector<Case> cases;
  std::string counted_by;  ///< who counted the instructions, in which build; empty when nobody did

  bool all_correct() const;  ///< peers do not count
};

}  // namespace weft::bench
