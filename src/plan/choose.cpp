#include "plan/choose.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "core/timer.hpp"
#include "facts/source_facts.hpp"
#include "plan/device_table.hpp"
#include "plan/probe.hpp"

namespace weft {
namespace {

constexpr std::int64_t few_products = 16;  // less than looking at the matrix takes
constexpr double close = 1.15;             // a prediction within so much of the best may be the best
/// A prediction that is so much better than all else is believed untried; less so where launches are most of a product.
constexpr double promising = 1.2, promising_short = 1.35;
constexpr double short_product = 3;             // launches
constexpr double tie = 1.03, tie_short = 1.08;  // what times may differ by that are the same; of short products
constexpr double budget_share = 0.1;
constexpr int max_tried = 3;         // formats besides csr
constexpr int max_csr_variants = 3;  // timed
constexpr double probe_products = 12;
constexpr double csr_share = 0.6;  // of the budget, for its variants

/// The matrix as formats see it that predict.
template <Value V>
class SourceOutlook final : public Outlook {
 public:
  SourceOutlook(const Stored<V>& stored, Device where, std::int64_t how_often)
      : Outlook(where, sizeof(V), device_table(where), how_often), stored_(stored) {}

  const RowLengths& rows() const override { return row_lengths(stored_.source); }
  const AccessFacts& access() const override { return ::weft::access(stored_.source); }
  const BlockFacts& blocks() const override { return ::weft::blocks(stored_.source); }
  BallFacts balls(int block, Index nodes) const override { return ::weft::balls(stored_.source, block, nodes); }
  bool parts_are_known() const override { return stored_.partition || stored_.coordinates; }

 private:
  const Stored<V>& stored_;
};

std::string in_words(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, seconds < 1e-3 ? "%.3g us" : "%.3g ms", seconds * (seconds < 1e-3 ? 1e6 : 1e3));
  return text;
}

template <Value V>
class Chooser {
 public:
  Chooser(const Stored<V>& stored, const PlanOptions& options, Device device, PlanInfo& info)
      : stored_(stored),
        options_(options),
        device_(device),
        info_(info),
        products_(static_cast<double>(options.products)) {}

  Built<V> choose() {
    if (options_.products < few_products) return take_yardstick();
    predict();
    budget_ = budget_share * products_ * least_csr_seconds();
    info_.budget_seconds = budget_;
    try_csr();
    try_others();
    return finish();
  }

 private:
  /// A format that may be chosen: predicted, and perhaps built and timed.
  struct Option {
    FormatChoice choice;
    std::size_t candidate = 0;  // its number in info.candidates
    double setup = 0;           // predicted
    double product = 0;         // predicted
    double total = 0;           // of both
    double expected = 0;        // per product, once csr has been timed
    Built<V> built = {};        // its operator may be gone since
    double spent = 0;           // on building and timing it
    double price = 0;           // what that was to cost
    bool excluded = false;      // it failed, or would cost too much
    bool timed() const { return built.product_seconds > 0; }
    bool is_csr() const { return choice.format->yardstick; }
  };

  static const Format& yardstick() {
    for (const Format* format : registry())
      if (format->yardstick) return *format;
    throw Error(ErrorCode::internal, "no format is the yardstick");
  }

  /// Nothing is looked at or timed.
  Built<V> take_yardstick() {
    const Format& format = yardstick();
    Built<V> built = build<V>({&format, {}, {}}, stored_, device_, options_.progress);
    Candidate candidate{.format = format.info.name, .built = true, .verdict = {}};
    candidate.setup_seconds = built.times.total();
    candidate.bytes = built.op->info().bytes;
    candidate.verdict = "chosen: for so few products nothing else pays";
    info_.candidates.push_back(std::move(candidate));
    return built;
  }

  /// Why a format is not even asked; empty: it is.
  std::string reason_against(const Format& format) const {
    if (!format.runs_on(device_.kind()) || !format.has_type(value_type<V>))
      return "not for " + std::string(to_string(value_type<V>)) + " on " + device_.name();
    if (!format.info.deterministic && !options_.allow_nondeterministic)
      return "not deterministic; allow it with allow_nondeterministic";
    if (!format.predict) return "not tried: it is there to compare with";
    return {};
  }

  void predict() {
    // The matrix goes where the facts about it are found soonest.
    if (!device_.is_cpu()) stored_.source.state().on_device(device_);
    const SourceOutlook<V> outlook(stored_, device_, options_.products);
    for (const Format* format : registry()) {
      if (const std::string reason = reason_against(*format); !reason.empty()) {
        info_.candidates.push_back({.format = format->info.name, .verdict = reason});
        continue;
      }
      for (const Prediction& prediction : format->predict(outlook)) add(*format, prediction);
    }
    std::ranges::stable_sort(options_by_total_, {}, &Option::total);
  }

  void add(const Format& format, const Prediction& prediction) {
    Candidate candidate{.format = full_name(format.info, prediction.variant), .verdict = "predicted to take longer"};
    const std::size_t number = info_.candidates.size();
    if (!prediction.against.empty()) {
      candidate.verdict = "ruled out: " + prediction.against;
    } else {
      candidate.predicted_setup_seconds = prediction.setup_seconds;
      candidate.predicted_product_seconds = prediction.product_seconds;
      candidate.predicted_bytes = prediction.bytes;
      Option option{.choice = {&format, prediction.variant, {}}, .candidate = number};
      option.setup = prediction.setup_seconds;
      option.product = option.expected = prediction.product_seconds;
      option.total = option.setup + products_ * option.product;
      options_by_total_.push_back(std::move(option));
    }
    info_.candidates.push_back(std::move(candidate));
  }

  double least_csr_seconds() const {
    double least = 1e30;
    for (const Option& option : options_by_total_)
      if (option.is_csr()) least = std::min(least, option.timed() ? option.built.product_seconds : option.product);
    return least;
  }

  /// csr's best variants by prediction. They need no conversion, so each costs little more than the products that time
  /// it.
  void try_csr() {
    int count = 0;
    double best = 0;
    for (Option& option : options_by_total_) {
      if (!option.is_csr()) continue;
      if (best == 0) best = option.product;
      if (count == max_csr_variants || option.product > close * close * best) break;
      option.price = probe_products * option.product;
      if ((count + 1) * option.price > csr_share * budget_) break;
      try_out(option);
      ++count;
    }
    if (count > 0) budget_ = budget_share * products_ * least_csr_seconds();
    info_.budget_seconds = budget_;
    correct_predictions();
  }

  /// What the facts do not tell of a matrix, csr's times do: other formats are as far off, about.
  void correct_predictions() {
    double sum = 0;
    int count = 0;
    for (const Option& option : options_by_total_) {
      if (!option.is_csr() || !option.timed()) continue;
      sum += std::log(option.built.product_seconds / option.product);
      ++count;
    }
    if (count == 0) return;
    const double factor = std::clamp(std::exp(sum / count), 0.67, 1.5);
    for (Option& option : options_by_total_)
      if (!option.is_csr()) option.expected = factor * option.product;
  }

  /// What has been spent on all but the best so far: as it was predicted, so that the next choice does not depend on
  /// what else the machine did meanwhile, unless it took far longer.
  double in_vain() const {
    constexpr double far_longer = 2;
    double all = 0, of_best = 0, least = 1e30;
    for (const Option& option : options_by_total_) {
      if (option.spent == 0) continue;
      const double cost = option.spent > far_longer * option.price ? option.spent : option.price;
      all += cost;
      if (!option.timed() || option.built.product_seconds >= least) continue;
      least = option.built.product_seconds;
      of_best = cost;
    }
    return all - of_best;
  }

  /// The least total that anything is known or predicted to have, but for `other`.
  double least_total(const Option* other = nullptr) const {
    double least = 1e30;
    for (const Option& option : options_by_total_)
      if (&option != other) least = std::min(least, known_total(option));
    return least;
  }
  double known_total(const Option& option) const {
    if (option.excluded) return 1e30;
    if (option.built.op && option.timed()) return products_ * option.built.product_seconds;  // its set-up is spent
    return option.setup + products_ * (option.timed() ? option.built.product_seconds : option.expected);
  }

  double margin(const Option& option) const {
    return option.product < short_product * device_table(device_).launch ? promising_short : promising;
  }

  void try_others() {
    int tried = 0;
    for (Option& option : options_by_total_) {
      if (option.is_csr() || tried == max_tried) continue;
      if (known_total(option) > close * least_total()) continue;
      Candidate& candidate = info_.candidates[option.candidate];
      option.price = option.setup + probe_products * option.expected;
      if (in_vain() + option.price > budget_) {
        if (margin(option) * known_total(option) < least_total(&option)) {
          committed_ = &option;
          say(option, "is taken on its prediction");
          return;
        }
        candidate.verdict = "not tried: its set-up (" + in_words(option.setup) +
                            ") might be in vain, and is more than the " + in_words(std::max(0.0, budget_ - in_vain())) +
                            " that is left for that";
        option.excluded = true;
        continue;
      }
      ++tried;
      make_room(option);
      try_out(option);
    }
  }

  /// A device holds csr and the best of the others; where that is most of its memory, only csr.
  void make_room(const Option& next) {
    if (device_.is_cpu()) return;
    const auto memory = static_cast<double>(describe(device_).memory_bytes);
    const double wanted = 2.0 * static_cast<double>(info_.candidates[next.candidate].predicted_bytes) +
                          static_cast<double>(stored_.source.nonzeros()) * (sizeof(V) + sizeof(Index));
    for (Option& option : options_by_total_)
      if (!option.is_csr() && wanted > memory / 2) option.built.op.reset();
  }

  void say(const Option& option, const std::string& what) const {
    log(LogLevel::info, "auto: " + info_.candidates[option.candidate].format + " " + what + ": predicted " +
                            in_words(option.product) + " per product and " + in_words(option.setup) + " to set up");
  }

  void try_out(Option& option) {
    say(option, "is tried");
    probe();  // its vectors are nobody's in particular
    const Stopwatch watch;
    Candidate& candidate = info_.candidates[option.candidate];
    // A set-up that takes longer than there is time for is given up, where it lets itself be.
    const double allowed = option.is_csr() ? 1e30 : budget_ - in_vain();
    bool late = false;
    const Progress patience = [&](double share) {
      late = watch.seconds() > allowed;
      return !late && (!options_.progress || options_.progress(share));
    };
    try {
      option.built = build(option.choice, stored_, device_, patience);
      option.built.product_seconds = probe().seconds(*option.built.op, option.product);
      candidate.built = true;
      candidate.setup_seconds = option.built.times.total();
      candidate.product_seconds = option.built.product_seconds;
      candidate.bytes = option.built.op->info().bytes;
      keep_best();
    } catch (const Error& error) {
      if (option.is_csr() || (error.code() == ErrorCode::cancelled && !late)) throw;
      candidate.verdict =
          late ? "given up: its set-up took longer than predicted" : std::string("failed: ") + error.what();
      option.built = {};
      option.excluded = true;
    }
    option.spent = watch.seconds();
    if (candidate.built)
      log(LogLevel::info, "auto: " + candidate.format + " takes " + in_words(candidate.product_seconds) +
                              " per product, and took " + in_words(candidate.setup_seconds) + " to set up");
  }

  Probe<V>& probe() {
    if (!probe_) probe_.emplace(device_, stored_.source.rows(), stored_.source.cols());
    return *probe_;
  }

  /// Of what is not csr, only the fastest keeps its memory.
  void keep_best() {
    Option* best = nullptr;
    for (Option& option : options_by_total_) {
      if (option.is_csr() || !option.built.op) continue;
      if (best) (best->built.product_seconds <= option.built.product_seconds ? option : *best).built.op.reset();
      if (!best || !best->built.op) best = &option;
    }
  }

  double tie_at(double seconds) const {
    return seconds < short_product * device_table(device_).launch ? tie_short : tie;
  }

  /// In the order of predictions, the first that is as fast as any.
  Option& fastest() {
    if (committed_) return *committed_;
    double least = 1e30;
    for (const Option& option : options_by_total_)
      if (option.timed()) least = std::min(least, option.built.product_seconds);
    for (Option& option : options_by_total_)
      if (option.timed() && option.built.product_seconds <= tie_at(least) * least) return option;
    // Nothing could be timed within the budget.
    return *std::ranges::find(options_by_total_, false, &Option::excluded);
  }

  Built<V> finish() {
    if (options_by_total_.empty()) throw Error(ErrorCode::internal, "no format can be chosen");
    Option& chosen = fastest();
    for (const Option& option : options_by_total_) {
      if (&option != &chosen) info_.tried_seconds += option.spent;
      if (option.timed()) info_.candidates[option.candidate].verdict = verdict(option, chosen);
    }
    if (!chosen.built.op) {
      const double product_seconds = chosen.built.product_seconds;
      for (Option& option : options_by_total_)
        if (!option.is_csr()) option.built.op.reset();
      chosen.built = build(chosen.choice, stored_, device_, options_.progress);
      chosen.built.product_seconds = product_seconds;
      Candidate& candidate = info_.candidates[chosen.candidate];
      candidate.built = true;
      candidate.setup_seconds = chosen.built.times.total();
      candidate.bytes = chosen.built.op->info().bytes;
    }
    if (!chosen.timed())
      info_.candidates[chosen.candidate].verdict =
          committed_ ? "chosen: predicted to be far ahead" : "chosen: predicted to be the fastest in all";
    return std::move(chosen.built);
  }

  std::string verdict(const Option& option, const Option& chosen) const {
    if (&option == &chosen) return "chosen: fastest";
    if (committed_) return "slower than " + info_.candidates[chosen.candidate].format + " is predicted to be";
    return option.built.product_seconds <= tie_at(chosen.built.product_seconds) * chosen.built.product_seconds
               ? "as fast, predicted to be slower"
               : "slower";
  }

  const Stored<V>& stored_;
  const PlanOptions& options_;
  Device device_;
  PlanInfo& info_;
  double products_;
  double budget_ = 0;                     // for what is not chosen in the end
  std::vector<Option> options_by_total_;  // ascending
  Option* committed_ = nullptr;
  std::optional<Probe<V>> probe_;
};

}  // namespace

template <Value V>
Built<V> choose(const Stored<V>& stored, const PlanOptions& options, Device device, PlanInfo& info) {
  return Chooser<V>(stored, options, device, info).choose();
}

#define WEFT_INSTANTIATE(V) template Built<V> choose<V>(const Stored<V>&, const PlanOptions&, Device, PlanInfo&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
