#pragma once
#include <weft/csr.hpp>
#include <weft/partition.hpp>

#include <memory>
#include <string>
#include <vector>

#include "names.hpp"
#include "result.hpp"

namespace weft::bench {

struct RunOptions {
  Device device;
  std::vector<std::string> formats = {};                     ///< names and variants, see `formats_for`
  Ordering order = Ordering::none;                           ///< in which the formats store the matrix
  std::shared_ptr<const Partition> partition = nullptr;      ///< for formats that keep rows in parts
  std::shared_ptr<const Coordinates> coordinates = nullptr;  ///< for the same, to find parts by
  std::string peers = "none";                                ///< see `find_peers`; they take one vector only
  int vectors = 1;                                           ///< of a product ...
  Layout layout = Layout::column_major;                      ///< ... stored so
  std::int64_t products = 1000;  ///< that are to come: what `auto` and peers that tune themselves plan for
  double seconds = 0.5;
  int groups = 11;
  bool cold = false;         ///< also time products with emptied caches
  bool from_device = false;  ///< plan from csr arrays that are on the device already
  double patience = 1e9;     ///< seconds after which the set-up of a format is given up, if the format can be stopped
  std::uint64_t seed = 1;
  double bandwidth = 0;  ///< of the device, bytes a second
  Progress progress = {};
};

/// Every format of the registry that runs on `device`, each followed by its variants that do.
std::vector<std::string> formats_for(Device device);

/// Measures every format and peer on one matrix. What refuses or fails keeps its place with the reason; only what
/// concerns the whole run (no such device) throws. Peers that are not there are added to `notes`, once.
template <Value V>
Case run_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
              std::vector<std::string>& notes);

/// Fills in what follows from comparing the measurements of a case: rank, break-even against csr, ratio
/// to the fastest peer.
void compare(Case& one);

}  // namespace weft::bench
