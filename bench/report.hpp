#pragma once
#include <weft/device.hpp>
#include <weft/order.hpp>
#include <weft/types.hpp>

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "machine.hpp"
#include "measure.hpp"

namespace weft::bench {

/// One format (or peer) on one matrix.
struct Measurement {
  std::string name;    ///< as asked for: "csr", "csr:vector", "eigen"
  std::string chosen;  ///< what that came to: "csr:vector8"
  bool peer = false;
  std::string failure;  ///< why there are no numbers; else empty
  bool correct = true;  ///< false: numbers there are, but y was wrong
  std::string details;  ///< parameters the format chose, one line
  bool deterministic = true;
  double setup_seconds = 0;
  double upload_seconds = 0;     ///< the part of it that only moved the matrix, as csr, to the device; 0 if not told
  double partition_seconds = 0;  ///< the part that put rows into parts
  Timing timing;
  std::size_t bytes = 0;  ///< of the matrix as stored for the product
  double bytes_per_nonzero = 0;
  std::int64_t padding = 0;              ///< entries stored besides the matrix's own; peers do not tell theirs
  double gflops = 0;                     ///< 2 nonzeros / time
  double gigabytes = 0;                  ///< 1e9 bytes a second: stored matrix + x + y, once each
  double bandwidth_share = 0;            ///< of the bandwidth measured in the same run; 0 when that is unknown
  double max_error = 0;                  ///< see Verdict
  std::optional<double> setup_products;  ///< set-up without the upload, in products; none for a peer
  std::optional<double> break_even;      ///< products after which csr would have taken longer; none when never
  std::optional<double> peer_ratio;      ///< time of the fastest peer / this time; none without peers

  bool measured() const { return failure.empty(); }
};

/// All formats on one matrix with one value type.
struct Case {
  std::string source;
  ValueType type = ValueType::f64;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t nonzeros = 0;
  Ordering ordering = Ordering::none;  ///< the formats stored the matrix in this order; peers did not
  double ordering_seconds = 0;         ///< what that took, besides the set-up; of the first format
  std::vector<Measurement> measurements;
};

struct Report {
  static constexpr int schema = 1;  ///< rises when a field changes its meaning or goes away
  Machine machine;
  Device device;
  std::string device_name;
  double bandwidth = 0;  ///< bytes a second, measured at the start of the run
  double seconds = 0;    ///< the parameters of the run
  int groups = 0;
  std::uint64_t seed = 0;
  std::vector<std::string> notes;  ///< peers that were not there
  std::vector<Case> cases;

  bool all_correct() const;  ///< peers do not count
};

nlohmann::ordered_json to_json(const Measurement& m);
nlohmann::ordered_json to_json(const Case& one);
nlohmann::ordered_json to_json(const Report& report);

/// One line a measurement under a line of names; a failed one has its sentence in the last column.
std::string to_csv(const Report& report);

}  // namespace weft::bench
