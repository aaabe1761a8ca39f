#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "plan/build.hpp"
#include "plan/device_table.hpp"
#include "plan/probe.hpp"

namespace weft {

/// A format that `auto` may take: predicted, and perhaps built and timed.
template <Value V>
struct Contender {
  FormatChoice choice;
  Ordering order = Ordering::none;
  std::size_t candidate = 0;  // its number in PlanInfo::candidates
  double setup = 0;           // predicted, with the order
  double product = 0;         // predicted
  double total = 0;           // of both
  double expected = 0;        // per product, once csr has been timed
  Built<V> built = {};        // its operator may be gone since
  double spent = 0;           // on building and timing it
  double price = 0;           // what that was to cost
  bool excluded = false;      // it failed, or would cost too much
  bool timed() const { return built.product_seconds > 0; }
  bool is_csr() const { return choice.format->yardstick && order == Ordering::none; }
  double best_known_product() const { return timed() ? built.product_seconds : expected; }
};

/// All of them, and the rules by which they are weighed against each other: what each would take in all, what trying it
/// may cost and bring, and which one wins. Totals are seconds for set-up and all products.
template <Value V>
class Contenders {
 public:
  static constexpr double close = 1.15;  // a prediction within so much of the best may be the best

  Contenders(Device device, std::int64_t products) : device_(device), products_(static_cast<double>(products)) {}

  void add(Contender<V> contender) {
    contender.expected = contender.product;
    contender.total = contender.setup + products_ * contender.product;
    all_.push_back(std::move(contender));
  }
  /// By total; the order of adding decides between equals.
  void sort() { std::ranges::stable_sort(all_, {}, &Contender<V>::total); }

  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  const Contender<V>& front() const { return all_.front(); }

  /// Set-ups in the order rcm contain `seconds` for it, once.
  void set_order_seconds(double seconds) { order_seconds_ = seconds; }
  void order_is_found() { order_found_ = true; }

  double min_predicted_total() const {
    double least = 1e30;
    for (const Contender<V>& one : all_) least = std::min(least, one.total);
    return least;
  }
  /// Per product, measured where it has been.
  double min_csr_seconds() const {
    double least = 1e30;
    for (const Contender<V>& one : all_)
      if (one.is_csr()) least = std::min(least, one.best_known_product());
    return least;
  }
  /// The least that anything is known or predicted to take.
  double min_total() const {
    double least = 1e30;
    for (const Contender<V>& one : all_) least = std::min(least, total(one));
    return least;
  }
  /// The same of csr, and of what has been timed.
  double min_certain_total() const {
    double least = 1e30;
    for (const Contender<V>& one : all_)
      if (one.is_csr() || one.timed()) least = std::min(least, total(one));
    return least;
  }
  double total(const Contender<V>& one) const {
    if (one.excluded) return 1e30;
    const double setup = one.built.op && one.timed() ? 0 : setup_left(one);
    return setup + products_ * one.best_known_product();
  }
  /// What remains of its predicted set-up: an order is found once.
  double setup_left(const Contender<V>& one) const {
    return one.setup - (one.order != Ordering::none && order_found_ ? order_seconds_ : 0);
  }

  /// The fastest of csr's variants that have been timed; null: none has.
  const Contender<V>* fastest_timed_csr() const {
    const Contender<V>* best = nullptr;
    for (const Contender<V>& one : all_)
      if (one.is_csr() && one.timed() && (!best || one.built.product_seconds < best->built.product_seconds))
        best = &one;
    return best;
  }
  /// Of all that has been timed.
  bool csr_is_fastest() const {
    const Contender<V>* const csr = fastest_timed_csr();
    return csr && std::ranges::all_of(all_, [&](const Contender<V>& one) {
             return !one.timed() || one.built.product_seconds >= csr->built.product_seconds;
           });
  }
  /// Whether a format other than csr that has not been tried is expected to be done sooner.
  bool another_is_sooner_done_than(const Contender<V>& csr) const {
    return std::ranges::any_of(
        all_, [&](const Contender<V>& one) { return !one.is_csr() && !one.timed() && total(one) < total(csr); });
  }
  /// What the facts do not tell of a matrix, csr's time does, a little: other formats are off the same way, and csr's
  /// other variants more so.
  void correct_predictions() {
    const Contender<V>* const csr = fastest_timed_csr();
    if (!csr) return;
    // Processors' caches differ by more than a table tells.
    const double max_error = device_.is_cpu() ? 5 : 1.5;
    const double error = std::clamp(csr->built.product_seconds / csr->product, 1 / max_error, max_error);
    for (Contender<V>& one : all_)
      if (!one.timed()) one.expected = one.product * std::pow(error, shared_error(one));
  }

  /// What has been spent on all but the best so far: as it was predicted, so that the next choice does not depend on
  /// what else the machine did meanwhile, unless it took far longer.
  double in_vain() const {
    constexpr double far_longer = 2;
    double all = 0, of_best = 0, least = 1e30;
    for (const Contender<V>& one : all_) {
      if (one.spent == 0) continue;
      const double cost = one.spent > far_longer * one.price ? one.spent : one.price;
      all += cost;
      if (!one.timed() || one.built.product_seconds >= least) continue;
      least = one.built.product_seconds;
      of_best = cost;
    }
    return all - of_best;
  }

  /// Whether launches are most of a product.
  bool is_short(const Contender<V>& one) const { return is_short(one.product); }
  double probe_seconds(double product) const { return Probe<V>::products(device_, product) * product; }

  /// Whether it is predicted to be so much better than csr, and than what has been timed, that it is believed.
  bool is_far_ahead(const Contender<V>& one) const {
    return (is_short(one) ? promising_short : promising) * total(one) < min_certain_total();
  }
  /// Whether to build and time it.
  bool is_worth_a_trial(const Contender<V>& one, double budget) const {
    return is_cheap(one, budget) || (total(one) <= close * min_total() && is_worth_its_price(one));
  }

  /// Of what is not csr, only the fastest keeps its memory.
  void keep_best() {
    Contender<V>* best = nullptr;
    for (Contender<V>& one : all_) {
      if (one.is_csr() || !one.built.op) continue;
      if (best) (best->built.product_seconds <= one.built.product_seconds ? one : *best).built.op.reset();
      if (!best || !best->built.op) best = &one;
    }
  }

  /// In the order of predictions, the first that is as fast as any; where none could be timed, the first.
  Contender<V>& winner() {
    double least = 1e30;
    for (const Contender<V>& one : all_)
      if (one.timed()) least = std::min(least, one.built.product_seconds);
    for (Contender<V>& one : all_)
      if (one.timed() && is_as_fast(one.built.product_seconds, least)) return one;
    return *std::ranges::find(all_, false, &Contender<V>::excluded);
  }
  /// Times that differ by no more are the same.
  bool is_as_fast(double seconds, double least) const { return seconds <= (is_short(least) ? tie_short : tie) * least; }

 private:
  /// A prediction that is so much better than all else is believed untried; less so where launches are most of it.
  static constexpr double promising = 1.2, promising_short = 1.25;
  static constexpr double short_product = 3;  // launches
  static constexpr double tie = 1.03, tie_short = 1.08;
  // The standard deviation of predicted times on a GPU, as a share of them (bench/NOTES.md).
  static constexpr double uncertainty = 0.12, uncertainty_short = 0.2;

  /// The power of csr's error that it shares; that of csr's own variants was set by hand.
  double shared_error(const Contender<V>& one) const {
    if (device_.is_cpu()) return 1;
    return one.is_csr() ? 0.5 : 0.25;
  }

  bool is_short(double product) const { return product < short_product * device_table(device_).launch; }

  /// Whether what a trial may save is more than what it may cost in vain: predicted times are normally distributed,
  /// what is certain is not.
  bool is_worth_its_price(const Contender<V>& one) const {
    if (device_.is_cpu()) return true;
    const double deviation = (is_short(one) ? uncertainty_short : uncertainty) * products_ * one.expected;
    const double ahead = (min_certain_total() - total(one)) / deviation;
    const double density = std::exp(-ahead * ahead / 2) / std::sqrt(2 * std::numbers::pi);
    const double chance = std::erfc(-ahead / std::numbers::sqrt2) / 2;
    return deviation * (density + ahead * chance) > one.price * (1 - chance);
  }

  /// Whether a trial costs so little of the budget that even a poor prediction is put to the test.
  bool is_cheap(const Contender<V>& one, double budget) const {
    constexpr double cheap = 0.05;
    const double poor = device_.is_cpu() ? 3 : 1.5;
    return one.price < cheap * budget && total(one) < poor * min_total();
  }

  Device device_;
  double products_;
  double order_seconds_ = 0;  // predicted
  bool order_found_ = false;
  std::vector<Contender<V>> all_;
};

}  // namespace weft
