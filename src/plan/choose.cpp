#include "plan/choose.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "core/timer.hpp"
#include "plan/choices.hpp"
#include "plan/device_table.hpp"
#include "plan/outlook.hpp"
#include "plan/probe.hpp"

namespace weft {
namespace {

constexpr std::int64_t few_products = 16;                           // less than looking at the matrix takes
constexpr double facts_launches = 100, facts_launches_large = 250;  // what looking at a matrix on a GPU takes
constexpr double facts_share = 0.2;                                 // of all products, that it may take
constexpr double close = 1.15;  // a prediction within so much of the best may be the best
/// A prediction that is so much better than all else is believed untried; less so where launches are most of a product.
constexpr double promising = 1.2, promising_short = 1.25;
constexpr double short_product = 3;             // launches
constexpr double tie = 1.03, tie_short = 1.08;  // what times may differ by that are the same; of short products
constexpr double budget_share = 0.1;
// Of predicted times on a GPU (bench/NOTES.md): their standard deviation, as a share of them, and the power of csr's
// error that others share.
constexpr double uncertainty = 0.12, uncertainty_short = 0.2, shared_error = 0.25;
constexpr int max_tried = 3;         // formats besides csr
constexpr int max_csr_variants = 3;  // timed
constexpr double csr_share = 0.6;    // of the budget, for its variants
/// How far beyond the best so far a prediction may be that finds more facts: csr's times may yet correct it.
constexpr double hopeful_cpu = 1.3, hopeful_gpu = 2;

// The order rcm, by measurements on an EPYC (bench/NOTES.md).
constexpr std::int64_t min_products_to_reorder = 200;
constexpr double moved_sectors = 8;  // per row: x and y are permuted in every product
constexpr double rcm_entry = 40e-9;  // seconds on one core, for the order and the permutation
constexpr Index ball_nodes_to_order = 1024;

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

  Chosen<V> choose() {
    if (options_.products < few_products || facts_take_too_long()) return take_yardstick();
    predict();
    budget_ = budget_share * products_ * least_csr_seconds();
    info_.budget_seconds = budget_;
    const std::string key = options_.remember ? what_it_depends_on() : "";
    if (!key.empty() && recall(key)) return repeat();
    // On a GPU csr has many variants. Where another format is predicted to be the soonest done, the others of csr wait
    // until that has turned out to be wrong.
    const bool other_first = !device_.is_cpu() && !options_by_total_.empty() && !options_by_total_.front().is_csr();
    try_csr(other_first ? 1 : max_csr_variants);
    try_others();
    if (other_first && csr_is_fastest()) try_csr(max_csr_variants);
    compare_again();
    Chosen<V> chosen = finish();
    if (!key.empty()) keep(key);
    return chosen;
  }

 private:
  /// A format that may be chosen: predicted, and perhaps built and timed.
  struct Option {
    FormatChoice choice;
    Ordering order = Ordering::none;
    std::size_t candidate = 0;  // its number in info.candidates
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
  };

  static const Format& yardstick() {
    for (const Format* format : registry())
      if (format->yardstick) return *format;
    throw Error(ErrorCode::internal, "no format is the yardstick");
  }

  /// Whether looking at the matrix on a GPU, which takes a while whatever its size, would take much of the time that
  /// all products take at memory speed.
  bool facts_take_too_long() const {
    if (device_.is_cpu()) return false;
    const DeviceTable& table = device_table(device_);
    const auto entries = static_cast<double>(stored_.source.nonzeros());
    const double bytes = entries * (sizeof(V) + sizeof(Index)) +
                         sizeof(V) * (static_cast<double>(stored_.source.rows()) + stored_.source.cols());
    const double bandwidth =
        bytes > static_cast<double>(table.cache_bytes) ? table.memory_bandwidth : table.cache_bandwidth;
    const double product = std::max(table.launch, bytes / bandwidth);
    const double launches = bytes > table.cache_bytes ? facts_launches_large : facts_launches;
    return launches * table.launch > facts_share * products_ * product;
  }

  /// Nothing is looked at or timed.
  Chosen<V> take_yardstick() {
    const Format& format = yardstick();
    Built<V> built = build<V>({&format, {}, {}}, stored_, device_, options_.progress);
    Candidate candidate{.format = format.info.name, .built = true, .verdict = {}};
    candidate.setup_seconds = built.times.total();
    candidate.bytes = built.op->info().bytes;
    candidate.verdict = "chosen: for so few products nothing else pays";
    info_.candidates.push_back(std::move(candidate));
    return {std::move(built)};
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
    SourceOutlook<V> outlook(stored_, device_, options_.products);
    for (const Format* format : registry()) {
      if (const std::string reason = reason_against(*format); !reason.empty()) {
        info_.candidates.push_back({.format = format->info.name, .verdict = reason});
        continue;
      }
      outlook.to_beat = (device_.is_cpu() ? hopeful_cpu : hopeful_gpu) * least_predicted_total();
      for (const Prediction& prediction : format->predict(outlook)) add(*format, prediction, Ordering::none);
    }
    predict_reordered(outlook);
    std::ranges::stable_sort(options_by_total_, {}, &Option::total);
  }

  double least_predicted_total() const {
    double least = 1e30;
    for (const Option& option : options_by_total_) least = std::min(least, option.total);
    return least;
  }

  /// What formats would do in the order rcm, where that is predicted to be the soonest done, x and y permuted in every
  /// product.
  void predict_reordered(const Outlook& outlook) {
    if (options_.products < min_products_to_reorder || info_.ordering != Ordering::none || stored_.order) return;
    if (outlook.rows().rows != outlook.rows().cols || !BandOutlook::differs_from(outlook)) return;
    const BandOutlook band(outlook);
    const double least = least_predicted_total();
    const double moving = moved_sectors * outlook.rows().rows * outlook.table.sector;
    rcm_setup_ = rcm_entry * outlook.entries();
    bool looked = false;
    for (const Format* format : registry()) {
      if (!reason_against(*format).empty()) continue;
      for (Prediction prediction : format->predict(band)) {
        prediction.setup_seconds += rcm_setup_;
        prediction.product_seconds += moving;
        if (!prediction.against.empty() || outlook.total(prediction) > least) continue;
        // A graph without a shape gets no band.
        if (!looked && outlook.balls(1, std::min(ball_nodes_to_order, outlook.rows().rows)).spreads) return;
        looked = true;
        add(*format, prediction, Ordering::rcm);
      }
    }
  }

  void add(const Format& format, const Prediction& prediction, Ordering order) {
    std::string name = full_name(format.info, prediction.variant);
    if (order != Ordering::none) name = std::string(to_string(order)) + "+" + name;
    Candidate candidate{.format = std::move(name), .verdict = "predicted to take longer"};
    const std::size_t number = info_.candidates.size();
    if (!prediction.against.empty()) {
      candidate.verdict = "ruled out: " + prediction.against;
    } else {
      candidate.predicted_setup_seconds = prediction.setup_seconds;
      candidate.predicted_product_seconds = prediction.product_seconds;
      candidate.predicted_bytes = prediction.bytes;
      Option option{.choice = {&format, prediction.variant, {}}, .order = order, .candidate = number};
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

  /// A word for all that the choice depends on but measured times: predictions, which the facts and the device's table
  /// are in, and the caller's options.
  std::string what_it_depends_on() const {
    ChoiceKey key;
    key.add(to_string(value_type<V>));
    key.add(to_string(info_.ordering));
    key.add(options_.allow_nondeterministic ? "any" : "deterministic");
    for (const double number :
         {products_, static_cast<double>(stored_.source.rows()), static_cast<double>(stored_.source.cols()),
          static_cast<double>(stored_.source.nonzeros())})
      key.add(number);
    for (const Candidate& candidate : info_.candidates) {
      key.add(candidate.format);
      key.add(candidate.predicted_setup_seconds);
      key.add(candidate.predicted_product_seconds);
    }
    return key.word();
  }

  Option* find(const std::string& format) {
    for (Option& option : options_by_total_)
      if (info_.candidates[option.candidate].format == format) return &option;
    return nullptr;
  }

  /// Takes what was chosen before, with the times of then.
  bool recall(const std::string& key) {
    const std::optional<PastChoice> past = past_choice(device_, key);
    if (!past) return false;
    committed_ = find(past->format);
    if (!committed_) return false;
    for (const PastChoice::Timed& timed : past->timed)
      if (Option* const option = find(timed.format)) {
        option->built.product_seconds = timed.seconds;
        info_.candidates[option->candidate].product_seconds = timed.seconds;
      }
    say(*committed_, "was chosen before");
    info_.remembered = true;
    return true;
  }

  /// What was possible then may not be now: memory may be short. Then everything is tried anew.
  Chosen<V> repeat() {
    try {
      return finish();
    } catch (const Error& error) {
      if (error.code() == ErrorCode::cancelled) throw;
      log(LogLevel::info, std::string("auto: ") + error.what() + "; everything is tried anew");
    }
    options_by_total_.clear();
    info_.candidates.clear();
    info_.remembered = false;
    PlanOptions anew = options_;
    anew.remember = false;
    return Chooser(stored_, anew, device_, info_).choose();
  }

  void keep(const std::string& key) const {
    PastChoice choice;
    for (const Option& option : options_by_total_) {
      const Candidate& candidate = info_.candidates[option.candidate];
      if (candidate.verdict.starts_with("chosen")) choice.format = candidate.format;
      if (candidate.product_seconds > 0) choice.timed.push_back({candidate.format, candidate.product_seconds});
    }
    if (!choice.timed.empty()) keep_choice(device_, key, choice);  // else predictions alone decided, as they will again
  }

  /// csr's best variants by prediction, `max_count` with those that have been timed already. They need no conversion,
  /// so each costs little more than the products that time it.
  void try_csr(int max_count) {
    int count = 0;
    double best = 0;
    for (Option& option : options_by_total_) {
      if (!option.is_csr()) continue;
      if (best == 0) best = option.product;
      // Short products are predicted less well.
      const double near = is_short(option) ? close * close : close;
      if (count == max_count || option.product > near * best) break;
      ++count;
      if (option.timed()) continue;
      option.price = probe_seconds(option.product);
      if (count * option.price > csr_share * budget_ || in_vain() + option.price > budget_) break;
      try_out(option);
    }
    if (least_timed_csr()) budget_ = budget_share * products_ * least_csr_seconds();
    info_.budget_seconds = budget_;
    correct_predictions();
  }

  /// The fastest of csr's variants that have been timed; null: none has.
  const Option* least_timed_csr() const {
    const Option* best = nullptr;
    for (const Option& option : options_by_total_)
      if (option.is_csr() && option.timed() && (!best || option.built.product_seconds < best->built.product_seconds))
        best = &option;
    return best;
  }
  /// Of all that has been timed.
  bool csr_is_fastest() const {
    const Option* const csr = least_timed_csr();
    return csr && !committed_ && std::ranges::all_of(options_by_total_, [&](const Option& option) {
             return !option.timed() || option.built.product_seconds >= csr->built.product_seconds;
           });
  }

  /// What the facts do not tell of a matrix, csr's time does, a little: other formats are off the same way.
  void correct_predictions() {
    const Option* const csr = least_timed_csr();
    if (!csr) return;
    const double factor =
        std::pow(std::clamp(csr->built.product_seconds / csr->product, 0.67, 1.5), device_.is_cpu() ? 1 : shared_error);
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

  /// The least total that anything is known or predicted to have.
  double least_total() const {
    double least = 1e30;
    for (const Option& option : options_by_total_) least = std::min(least, known_total(option));
    return least;
  }
  /// The same of csr, and of what has been timed.
  double least_certain_total() const {
    double least = 1e30;
    for (const Option& option : options_by_total_)
      if (option.is_csr() || option.timed()) least = std::min(least, known_total(option));
    return least;
  }
  double known_total(const Option& option) const {
    if (option.excluded) return 1e30;
    if (option.built.op && option.timed()) return products_ * option.built.product_seconds;  // its set-up is spent
    return setup_left(option) + products_ * (option.timed() ? option.built.product_seconds : option.expected);
  }
  /// What remains of its predicted set-up: an order is found once.
  double setup_left(const Option& option) const {
    return option.setup - (option.order != Ordering::none && reordered_ ? rcm_setup_ : 0);
  }

  bool is_short(const Option& option) const { return option.product < short_product * device_table(device_).launch; }
  double probe_seconds(double product) const { return Probe<V>::products(device_, product) * product; }

  /// Whether an option is predicted to be so much better than csr, and than what has been timed, that it is believed.
  bool is_far_ahead(const Option& option) const {
    return (is_short(option) ? promising_short : promising) * known_total(option) < least_certain_total();
  }

  /// Whether what a trial may save is more than what it may cost in vain: predicted times are normally distributed,
  /// what is certain is not.
  bool is_worth_its_price(const Option& option) const {
    if (device_.is_cpu()) return true;
    const double deviation = (is_short(option) ? uncertainty_short : uncertainty) * products_ * option.expected;
    const double ahead = (least_certain_total() - known_total(option)) / deviation;
    const double density = std::exp(-ahead * ahead / 2) / std::sqrt(2 * std::numbers::pi);
    const double chance = std::erfc(-ahead / std::numbers::sqrt2) / 2;
    return deviation * (density + ahead * chance) > option.price * (1 - chance);
  }

  /// Whether a trial costs so little of the budget that even a poor prediction is put to the test.
  bool is_cheap(const Option& option) const {
    constexpr double cheap = 0.05, poor = 1.5;
    return !device_.is_cpu() && option.price < cheap * budget_ && known_total(option) < poor * least_total();
  }

  void try_others() {
    int tried = 0;
    for (Option& option : options_by_total_) {
      if (option.is_csr() || tried == max_tried) continue;
      option.price = setup_left(option) + probe_seconds(option.expected);
      if (!is_cheap(option) && (known_total(option) > close * least_total() || !is_worth_its_price(option))) continue;
      Candidate& candidate = info_.candidates[option.candidate];
      if (in_vain() + option.price > budget_) {
        if (is_far_ahead(option)) {
          committed_ = &option;
          say(option, "is taken on its prediction");
          return;
        }
        candidate.verdict = "not tried: its set-up (" + in_words(setup_left(option)) +
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

  /// csr and the best of the others, if they are close, are timed again in turns: what else the machine did meanwhile
  /// should not decide.
  void compare_again() {
    constexpr int rounds = 3;
    Option *csr = nullptr, *other = nullptr;
    for (Option& option : options_by_total_) {
      if (!option.timed() || !option.built.op) continue;
      Option*& best = option.is_csr() ? csr : other;
      if (!best || option.built.product_seconds < best->built.product_seconds) best = &option;
    }
    if (committed_ || !csr || !other) return;
    if (!device_.is_cpu() && !is_short(*csr)) return;  // a GPU's clock is good enough
    double &one = csr->built.product_seconds, &two = other->built.product_seconds;
    if (std::max(one, two) > close * std::min(one, two)) return;
    constexpr double products_per_round = 8;  // of both
    if (in_vain() + rounds * products_per_round * std::max(one, two) > budget_) return;
    for (int round = 0; round < rounds; ++round)
      for (Option* const option : {csr, other}) {
        const Stopwatch watch;
        double& seconds = option->built.product_seconds;
        seconds = std::min(seconds, probe().seconds_again(*option->built.op, option->product));
        info_.candidates[option->candidate].product_seconds = seconds;
        option->spent += watch.seconds();
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
    // A set-up that takes longer than there is time for is given up, where it lets itself be; one that promises much
    // only when it has taken all that there is to gain.
    double allowed = option.is_csr() ? 1e30 : budget_ - in_vain();
    if (!option.is_csr() && is_far_ahead(option))
      allowed = std::max(allowed, least_certain_total() - products_ * option.expected);
    bool late = false;
    const Progress patience = [&](double share) {
      late = watch.seconds() > allowed;
      return !late && (!options_.progress || options_.progress(share));
    };
    try {
      option.built = build(option.choice, stored_for(option, patience), device_, patience);
      option.built.product_seconds = probe().seconds(*option.built.op, option.product);
      describe_built(option);
      candidate.product_seconds = option.built.product_seconds;
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

  /// The matrix in the option's order, which is found by the first that needs it.
  const Stored<V>& stored_for(const Option& option, const Progress& progress) {
    if (option.order == Ordering::none) return stored_;
    if (!reordered_) {
      const Csr<V>& matrix = stored_.source.host();
      const Stopwatch watch;
      order_ = order(matrix, option.order, {.progress = progress});
      Stored<V> stored = order_.empty() ? stored_ : put_in_order(matrix, order_, device_);
      stored.partition = in_order(options_.partition, order_.rows);
      stored.coordinates = points_in_order(options_.coordinates, order_.rows);
      reordered_ = std::move(stored);
      order_seconds_ = watch.seconds();
    }
    return *reordered_;
  }

  void describe_built(const Option& option) {
    Candidate& candidate = info_.candidates[option.candidate];
    candidate.built = true;
    candidate.setup_seconds = option.built.times.total() + (option.order == Ordering::none ? 0 : order_seconds_);
    candidate.bytes = option.built.op->info().bytes;
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

  Chosen<V> finish() {
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
      chosen.built = build(chosen.choice, stored_for(chosen, options_.progress), device_, options_.progress);
      chosen.built.product_seconds = product_seconds;
      describe_built(chosen);
    }
    if (!chosen.timed())
      info_.candidates[chosen.candidate].verdict =
          committed_ ? "chosen: predicted to be far ahead" : "chosen: predicted to be the fastest in all";
    log(LogLevel::info,
        "auto: " + info_.candidates[chosen.candidate].format + " is " + info_.candidates[chosen.candidate].verdict);
    Chosen<V> result{std::move(chosen.built)};
    if (chosen.order != Ordering::none) {
      info_.ordering = chosen.order;
      info_.setup.order = order_seconds_;
      result.reordered = std::move(reordered_);
      result.order = std::move(order_);
    }
    return result;
  }

  std::string verdict(const Option& option, const Option& chosen) const {
    if (&option == &chosen) return "chosen: fastest";
    if (!chosen.timed()) return "slower than " + info_.candidates[chosen.candidate].format + " is predicted to be";
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
  Option* committed_ = nullptr;           // taken without a trial
  std::optional<Probe<V>> probe_;
  // The order rcm.
  double rcm_setup_ = 0;  // predicted
  std::optional<Stored<V>> reordered_;
  Order order_;
  double order_seconds_ = 0;
};

}  // namespace

template <Value V>
Chosen<V> choose(const Stored<V>& stored, const PlanOptions& options, Device device, PlanInfo& info) {
  return Chooser<V>(stored, options, device, info).choose();
}

#define WEFT_INSTANTIATE(V) template Chosen<V> choose<V>(const Stored<V>&, const PlanOptions&, Device, PlanInfo&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
