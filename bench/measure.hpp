#pragma once
#include <weft/device.hpp>
#include <weft/runtime.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace weft::bench {

struct MeasureOptions {
  double seconds = 0.5;    ///< time to spend on each product, about
  int groups = 11;         ///< how many times each product gets its turn
  Progress progress = {};  ///< told the share of groups done
};

/// How long one product takes. A group is a number of products in a row, timed together; the figures are over groups.
struct Timing {
  double median = 0;  ///< seconds a product
  double low = 0;     ///< first and third quartile of the groups
  double high = 0;
  int groups = 0;
  std::int64_t products = 0;  ///< timed products in all groups
  std::string failure;        ///< the sentence of the error that ended the measurement, else empty

  double spread() const { return median > 0 ? (high - low) / median : 0; }
};

/// One product: queues y = A x on its device and returns; may throw.
using Product = std::function<void()>;

/// Times products that compete with each other on `device`. They take turns, a group each (A B C A B C ...), so that a
/// machine that slows down slows all of them. Every turn starts with a product that is not timed: it brings the caches
/// into the state a solver finds them in. A product that throws keeps its error's sentence and takes no further turn.
std::vector<Timing> measure(Device device, std::span<const Product> products, const MeasureOptions& options);

}  // namespace weft::bench
