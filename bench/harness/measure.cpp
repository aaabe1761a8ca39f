#include "measure.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <thread>

#include "core/timer.hpp"

namespace weft::bench {
namespace {

/// One competitor while it is measured.
struct Runner {
  const Product* product = nullptr;
  std::int64_t repetitions = 1;
  std::vector<double> groups;
  std::vector<double> cold;
  std::string failure;
};

double time_products(Timer& timer, const Product& product, std::int64_t repetitions) {
  if (product.clock()) return product.clock()(repetitions);
  timer.start();
  for (std::int64_t i = 0; i < repetitions; ++i) product();
  timer.stop();
  return timer.seconds();
}

template <class F>
void guarded(Runner& runner, F&& body) {
  if (!runner.failure.empty()) return;
  try {
    body();
  } catch (const std::exception& error) {
    runner.failure = error.what();
    if (runner.failure.empty()) runner.failure = "failed without saying why";
  }
}

/// The value below which `share` of the sorted numbers lie, between neighbours in proportion.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Timing summarize(Runner& runner) {
  Timing timing;
  timing.failure = runner.failure;
  if (!runner.failure.empty() || runner.groups.empty()) return timing;
  static_cast<Quartiles&>(timing) = quartiles(runner.groups);
  if (!runner.cold.empty()) timing.cold = quartiles(runner.cold);
  timing.groups = static_cast<int>(runner.groups.size());
  timing.products = timing.groups * runner.repetitions;
  return timing;
}

/// How many products fill one group. A short first guess is doubled until it lasts long enough to extrapolate from.
std::int64_t repetitions_for(Timer& timer, const Product& product, double group_seconds) {
  constexpr std::int64_t most = 1 << 20;
  std::int64_t tried = 1;
  double seconds = time_products(timer, product, tried);
  while (seconds < group_seconds / 8 && tried < most) {
    tried *= 2;
    seconds = time_products(timer, product, tried);
  }
  const double one = std::max(seconds / static_cast<double>(tried), std::numeric_limits<double>::min());
  return std::clamp<std::int64_t>(std::llround(group_seconds / one), 1, most);
}

/// Threads of the library that was measured before look for work for a while, on the cores that the next one needs.
/// Waits until they sleep, then wakes those of this one.
void settle(Timer& timer, const Product& product, double seconds) {
  constexpr double warm_up_seconds = 500e-6;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  double spent = 0;
  do spent += time_products(timer, product, 1);
  while (spent < warm_up_seconds);
}

}  // namespace

Quartiles quartiles(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  return {quantile(times, 0.5), quantile(times, 0.25), quantile(times, 0.75)};
}

std::vector<Timing> measure(Device device, std::span<const Product> products, const MeasureOptions& options) {
  const int most_groups = std::max(1, options.groups);
  const double group_seconds = options.seconds / most_groups;
  Timer timer(device);
  std::vector<Runner> runners(products.size());

  // 1. Warm up each, and find out how many of its products make a group.
  for (std::size_t i = 0; i < runners.size(); ++i) {
    Runner& runner = runners[i];
    runner.product = &products[i];
    guarded(runner, [&] {
      const double first = time_products(timer, products[i], 1);
      if (first < options.seconds) runner.repetitions = repetitions_for(timer, products[i], group_seconds);
    });
  }

  // 2. Groups in turn. Products too slow for that many groups in the time get as many as fit, one at least.
  std::vector<double> spent(runners.size(), 0);
  double sweeping = 0;  // seconds for each product
  for (int group = 0; group < most_groups; ++group) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      Runner& runner = runners[i];
      if (group > 0 && spent[i] > options.seconds * 1.5) continue;
      guarded(runner, [&] {
        // Emptying the caches of a large CPU takes longer than many a product: not for more than the time it gets.
        const bool cold = options.sweep && (group == 0 || sweeping < options.seconds);
        if (options.settle > 0) settle(timer, *runner.product, options.settle);
        if (cold) {
          const Stopwatch watch;
          options.sweep();
          if (runner.product->clock()) synchronize(device);
          sweeping += watch.seconds() / static_cast<double>(runners.size());
        }
        const double single = time_products(timer, *runner.product, 1);
        if (cold) runner.cold.push_back(single);
        const double seconds = time_products(timer, *runner.product, runner.repetitions);
        spent[i] += single + seconds;
        runner.groups.push_back(seconds / static_cast<double>(runner.repetitions));
      });
    }
    if (options.progress && !options.progress((group + 1.0) / most_groups))
      throw Error(ErrorCode::cancelled, "the measurement was cancelled");
  }

  std::vector<Timing> timings;
  for (Runner& runner : runners) timings.push_back(summarize(runner));
  return timings;
}

}  // namespace weft::bench
