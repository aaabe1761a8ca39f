#pragma once
#include <weft/device.hpp>
#include <weft/runtime.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft::bench {

struct MeasureOptions {
  double seconds = 0.5;              ///< time to spend on each product, about
  int groups = 11;                   ///< how many times each product gets its turn
  std::function<void()> sweep = {};  ///< queues what empties the device's caches; without it nothing is timed cold
  double settle = 0;                 ///< seconds to wait before each group, for threads of others to fall asleep
  Progress progress = {};            ///< told the share of groups done
};

/// The middle of a set of times, in seconds, and its quartiles.
struct Quartiles {
  double median = 0;
  double low = 0;
  double high = 0;

  double spread() const { return median > 0 ? (high - low) / median : 0; }
};

/// How long one product takes. A group is a number of products in a row, timed together; the figures are over groups.
struct Timing : Quartiles {
  int groups = 0;
  std::int64_t products = 0;      ///< timed products in all groups
  std::optional<Quartiles> cold;  ///< of single products after the caches were emptied, one a group
  std::string failure;            ///< the sentence of the error that ended the measurement, else empty
};

/// Of a set of times that is not empty; sorts it.
Quartiles quartiles(std::vector<double>& times);

/// How many times faster, below which two are called equal: their difference is of the size of the noise.
constexpr double tie = 1.05;
constexpr const char* tie_text = "5 %";

/// One product: queues y = A x on its device and returns; may throw. Products of another process come with a clock of
/// their own, which runs so many and returns the seconds they took.
class Product {
 public:
  using Clock = std::function<double(std::int64_t products)>;

  template <std::invocable Run>
  Product(Run run) : run_(std::move(run)) {}  // NOLINT(google-explicit-constructor): a product is what it runs
  Product(std::function<void()> run, Clock clock) : run_(std::move(run)), clock_(std::move(clock)) {}

  void operator()() const { run_(); }
  const Clock& clock() const { return clock_; }

 private:
  std::function<void()> run_;
  Clock clock_;
};

/// Times products that compete with each other on `device`. They take turns, a group each (A B C A B C ...), so that a
/// machine that slows down slows all of them. Every turn starts with a single product, which is timed on its own if
/// the caches are emptied before it: after it they are in the state a solver finds them in. A product that throws keeps
/// its error's sentence and takes no further turn.
std::vector<Timing> measure(Device device, std::span<const Product> products, const MeasureOptions& options);

}  // namespace weft::bench
