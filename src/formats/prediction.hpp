#pragma once
#include <weft/device.hpp>
#include <weft/structure.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/device_table.hpp"
#include "core/value_types.hpp"
#include "sparse/source_state.hpp"

// What formats expect of themselves on a matrix, before anything is built: `auto` decides by it.
namespace weft {

/// What a format expects; or why it is not worth trying.
struct Prediction {
  std::string variant = {};  ///< of the format; empty: as it comes
  std::string against = {};  ///< why it is not worth trying; then there are no numbers
  double product_seconds = 0;
  double setup_seconds = 0;  ///< from csr on the device
  std::size_t bytes = 0;     ///< stored
};

/// What the caller gave of the parts that some formats keep rows in.
enum class KnownParts { none, coordinates, partition };

/// A matrix and a device as formats see them that predict. Facts are found when they are first asked for: one that
/// rules itself out by the lengths of the rows should do so before it asks for more.
class Outlook {
 public:
  Outlook(Device where, std::size_t bytes, const DeviceTable& numbers, std::int64_t how_often)
      : device(where), value_bytes(bytes), table(numbers), products(how_often) {}
  virtual ~Outlook() = default;
  Outlook(const Outlook&) = delete;
  Outlook& operator=(const Outlook&) = delete;

  virtual const RowLengths& rows() const = 0;
  virtual const AccessFacts& access() const = 0;
  virtual const BlockFacts& blocks() const = 0;
  virtual BallFacts balls(int block, Index nodes) const = 0;
  virtual KnownParts known_parts() const = 0;
  virtual bool reordered() const { return false; }  ///< as if the rows and columns were in an order of ours

  double entries() const { return static_cast<double>(rows().nonzeros); }
  /// x and y, once each.
  double vector_bytes() const {
    return static_cast<double>(value_bytes) * (static_cast<double>(rows().rows) + static_cast<double>(rows().cols));
  }
  /// csr with 32-bit offsets.
  double csr_bytes() const {
    return entries() * static_cast<double>(value_bytes + sizeof(Index)) + 4 * static_cast<double>(rows().rows);
  }
  /// Seconds of the set-up and all products.
  double total(const Prediction& prediction) const {
    return prediction.setup_seconds + static_cast<double>(products) * prediction.product_seconds;
  }
  /// One of the numbers for f32 and f64.
  template <class T>
  const T& of(const PerWidth<T>& numbers) const {
    return value_bytes == 4 ? numbers.f32 : numbers.f64;
  }

  const Device device;
  const std::size_t value_bytes;
  const DeviceTable& table;
  const std::int64_t products;  ///< that are to come: for few of them, facts may cost more than they tell
  double to_beat = std::numeric_limits<double>::infinity();  ///< a total beyond this is not worth more facts
};

/// What a product does, in things that devices have a speed for.
struct Work {
  double bytes = 0;     ///< read or written once: the stored matrix, x and y
  double requests = 0;  ///< sectors of x that warps ask for
  double sectors = 0;   ///< those of them that the first-level cache cannot have
  double slots = 0;     ///< places for entries that lanes go through
  double rows = 0;      ///< sums that are stored
  double turns = 0;     ///< rows of another length than the one before, which a processor does not foresee
  double chain = 0;     ///< entries of the longest row that one thread takes
  int launches = 1;
};

/// How a format's kernels do each of them, in multiples of what the device's table says; fitted to measurements
/// (bench/NOTES.md).
struct Costs {
  double stream = 1.03;
  double request = 0, sector = 0, slot = 0, row = 0, turn = 0, chain = 0;
  double start = 0.6;  ///< of a launch: what a product takes besides
};

/// Reading, fetching x and going through the places overlap, though not wholly; a product takes no less than its
/// launches, and no less than its longest row takes one thread.
double seconds_for(const Work& work, const Costs& costs, const Outlook& outlook);

/// What building takes: so many launches' worth of time whatever the matrix, so many times as long as reading csr, and
/// so many random reads per row.
struct SetupCosts {
  double launches = 0;
  double passes = 0;
  double row = 0;
};
double setup_seconds_for(const SetupCosts& costs, const Outlook& outlook);

/// Requests and sectors of x where each lane takes a row.
inline void fetch_by_rows(const Outlook& outlook, Work& work) {
  work.requests = outlook.access().row_requests * outlook.entries();
  work.sectors = outlook.access().row_sectors * outlook.entries();
}
/// The same where lanes take neighbouring entries.
inline void fetch_by_entries(const Outlook& outlook, Work& work) {
  work.requests = outlook.access().entry_requests * outlook.entries();
  work.sectors = outlook.access().entry_sectors * outlook.entries();
}

/// Rows that are followed by one of another length, if lengths come in no order.
double turns_of(const RowLengths& rows);

/// Places that slices of so many rows have when all rows are sorted by length.
double sorted_places(const RowLengths& rows, Index slice_rows);

}  // namespace weft
