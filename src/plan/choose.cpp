#include "plan/choose.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <cstdio>

#include "core/timer.hpp"
#include "plan/choices.hpp"
#include "plan/contenders.hpp"
#include "plan/outlook.hpp"

namespace weft {
namespace {

constexpr std::int64_t few_products = 16;                           // less than looking at the matrix takes
constexpr double facts_launches = 100, facts_launches_large = 250;  // what looking at a matrix on a GPU takes
constexpr double facts_share = 0.2;                                 // of all products, that it may take
constexpr double budget_share = 0.1;
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
  static constexpr double close = Contenders<V>::close;

 public:
  Chooser(const Stored<V>& stored, const PlanOptions& options, Device device, PlanInfo& info)
      : stored_(stored),
        options_(options),
        device_(device),
        info_(info),
        products_(static_cast<double>(options.products)),
        contenders_(device, options.products) {}

  Chosen<V> choose() {
    if (options_.products < few_products || facts_take_too_long()) return take_yardstick();
    predict();
    budget_ = budget_share * products_ * contenders_.min_csr_seconds();
    info_.budget_seconds = budget_;
    const std::string key = options_.remember ? what_it_depends_on() : "";
    if (!key.empty() && recall(key)) return repeat();
    // On a GPU csr has many variants. Where another format is expected to be done sooner than the next of them, the
    // rest wait until that has turned out to be wrong.
    const bool all_tried = try_csr(After::others);
    try_others();
    if (!all_tried && !committed_ && contenders_.csr_is_fastest()) try_csr(After::nothing);
    compare_again();
    Chosen<V> chosen = finish();
    if (!key.empty()) keep(key);
    return chosen;
  }

 private:
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
      outlook.to_beat = (device_.is_cpu() ? hopeful_cpu : hopeful_gpu) * contenders_.min_predicted_total();
      for (const Prediction& prediction : format->predict(outlook)) add(*format, prediction, Ordering::none);
    }
    predict_reordered(outlook);
    contenders_.sort();
  }

  /// What formats would do in the order rcm, where that is predicted to be the soonest done, x and y permuted in every
  /// product.
  void predict_reordered(const Outlook& outlook) {
    if (options_.products < min_products_to_reorder || info_.ordering != Ordering::none || stored_.order) return;
    if (outlook.rows().rows != outlook.rows().cols || !BandOutlook::differs_from(outlook)) return;
    const BandOutlook band(outlook);
    const double least = contenders_.min_predicted_total();
    const double moving = moved_sectors * outlook.rows().rows * outlook.table.sector;
    const double seconds = rcm_entry * outlook.entries();
    contenders_.set_order_seconds(seconds);
    bool looked = false;
    for (const Format* format : registry()) {
      if (!reason_against(*format).empty()) continue;
      for (Prediction prediction : format->predict(band)) {
        prediction.setup_seconds += seconds;
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
      contenders_.add({.choice = {&format, prediction.variant, {}},
                       .order = order,
                       .candidate = number,
                       .setup = prediction.setup_seconds,
                       .product = prediction.product_seconds});
    }
    info_.candidates.push_back(std::move(candidate));
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

  Contender<V>* find(const std::string& format) {
    for (Contender<V>& one : contenders_)
      if (info_.candidates[one.candidate].format == format) return &one;
    return nullptr;
  }

  /// Takes what was chosen before, with the times of then.
  bool recall(const std::string& key) {
    const std::optional<PastChoice> past = past_choice(device_, key);
    if (!past) return false;
    committed_ = find(past->format);
    if (!committed_) return false;
    for (const PastChoice::Timed& timed : past->timed)
      if (Contender<V>* const one = find(timed.format)) {
        one->built.product_seconds = timed.seconds;
        info_.candidates[one->candidate].product_seconds = timed.seconds;
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
    contenders_.clear();
    info_.candidates.clear();
    info_.remembered = false;
    PlanOptions anew = options_;
    anew.remember = false;
    return Chooser(stored_, anew, device_, info_).choose();
  }

  void keep(const std::string& key) const {
    PastChoice choice;
    for (const Contender<V>& one : contenders_) {
      const Candidate& candidate = info_.candidates[one.candidate];
      if (candidate.verdict.starts_with("chosen")) choice.format = candidate.format;
      if (candidate.product_seconds > 0) choice.timed.push_back({candidate.format, candidate.product_seconds});
    }
    if (!choice.timed.empty()) keep_choice(device_, key, choice);  // else predictions alone decided, as they will again
  }

  enum class After { nothing, others };

  /// csr's best variants by prediction. They need no conversion, so each costs little more than the products that time
  /// it. With After::others all but the first come after formats that are expected to be done sooner; returns false if
  /// some are left for that reason.
  bool try_csr(After after) {
    int count = 0;
    double best = 0;
    bool all_tried = true;
    for (Contender<V>& one : contenders_) {
      if (!one.is_csr()) continue;
      if (best == 0) best = one.product;
      // Short products are predicted less well.
      const double near = contenders_.is_short(one) ? close * close : close;
      if (count == max_csr_variants || one.product > near * best) break;
      ++count;
      if (one.timed()) continue;
      if (after == After::others && count > 1 && contenders_.another_is_sooner_done_than(one)) {
        all_tried = false;
        break;
      }
      one.price = contenders_.probe_seconds(one.product);
      if (count * one.price > csr_share * budget_ || contenders_.in_vain() + one.price > budget_) break;
      try_out(one);
      contenders_.correct_predictions();
    }
    if (contenders_.fastest_timed_csr()) budget_ = budget_share * products_ * contenders_.min_csr_seconds();
    info_.budget_seconds = budget_;
    return all_tried;
  }

  void try_others() {
    int tried = 0;
    for (Contender<V>& one : contenders_) {
      if (one.is_csr() || tried == max_tried) continue;
      one.price = contenders_.setup_left(one) + contenders_.probe_seconds(one.expected);
      if (!contenders_.is_worth_a_trial(one, budget_)) continue;
      Candidate& candidate = info_.candidates[one.candidate];
      if (contenders_.in_vain() + one.price > budget_) {
        if (contenders_.is_far_ahead(one)) {
          committed_ = &one;
          say(one, "is taken on its prediction");
          return;
        }
        candidate.verdict = "not tried: its set-up (" + in_words(contenders_.setup_left(one)) +
                            ") might be in vain, and is more than the " +
                            in_words(std::max(0.0, budget_ - contenders_.in_vain())) + " that is left for that";
        one.excluded = true;
        continue;
      }
      ++tried;
      make_room(one);
      try_out(one);
    }
  }

  /// csr and the best of the others, if they are close, are timed again in turns: what else the machine did meanwhile
  /// should not decide.
  void compare_again() {
    constexpr int rounds = 3;
    Contender<V>*csr = nullptr, *other = nullptr;
    for (Contender<V>& one : contenders_) {
      if (!one.timed() || !one.built.op) continue;
      Contender<V>*& best = one.is_csr() ? csr : other;
      if (!best || one.built.product_seconds < best->built.product_seconds) best = &one;
    }
    if (committed_ || !csr || !other) return;
    if (!device_.is_cpu() && !contenders_.is_short(*csr)) return;  // a GPU's clock is good enough
    const auto [least, most] = std::minmax(csr->built.product_seconds, other->built.product_seconds);
    if (most > close * least) return;
    constexpr double products_per_round = 8;  // of both
    if (contenders_.in_vain() + rounds * products_per_round * most > budget_) return;
    for (int round = 0; round < rounds; ++round)
      for (Contender<V>* const one : {csr, other}) {
        const Stopwatch watch;
        double& seconds = one->built.product_seconds;
        seconds = std::min(seconds, probe().seconds_again(*one->built.op, one->product));
        info_.candidates[one->candidate].product_seconds = seconds;
        one->spent += watch.seconds();
      }
  }

  /// A device holds csr and the best of the others; where that is most of its memory, only csr.
  void make_room(const Contender<V>& next) {
    if (device_.is_cpu()) return;
    const auto memory = static_cast<double>(describe(device_).memory_bytes);
    const double wanted = 2.0 * static_cast<double>(info_.candidates[next.candidate].predicted_bytes) +
                          static_cast<double>(stored_.source.nonzeros()) * (sizeof(V) + sizeof(Index));
    for (Contender<V>& one : contenders_)
      if (!one.is_csr() && wanted > memory / 2) one.built.op.reset();
  }

  void say(const Contender<V>& one, const std::string& what) const {
    log(LogLevel::info, "auto: " + info_.candidates[one.candidate].format + " " + what + ": predicted " +
                            in_words(one.product) + " per product and " + in_words(one.setup) + " to set up");
  }

  void try_out(Contender<V>& one) {
    say(one, "is tried");
    probe();  // its vectors are nobody's in particular
    const Stopwatch watch;
    Candidate& candidate = info_.candidates[one.candidate];
    // A set-up that takes longer than there is time for is given up, where it lets itself be; one that promises much
    // only when it has taken all that there is to gain.
    double allowed = one.is_csr() ? 1e30 : budget_ - contenders_.in_vain();
    if (!one.is_csr() && contenders_.is_far_ahead(one))
      allowed = std::max(allowed, contenders_.min_certain_total() - products_ * one.expected);
    bool late = false;
    const Progress patience = [&](double share) {
      late = watch.seconds() > allowed;
      return !late && (!options_.progress || options_.progress(share));
    };
    try {
      one.built = build(one.choice, stored_for(one, patience), device_, patience);
      one.built.product_seconds = probe().seconds(*one.built.op, one.product);
      describe_built(one);
      candidate.product_seconds = one.built.product_seconds;
      contenders_.keep_best();
    } catch (const Error& error) {
      if (one.is_csr() || (error.code() == ErrorCode::cancelled && !late)) throw;
      candidate.verdict =
          late ? "given up: its set-up took longer than predicted" : std::string("failed: ") + error.what();
      one.built = {};
      one.excluded = true;
    }
    one.spent = watch.seconds();
    if (candidate.built)
      log(LogLevel::info, "auto: " + candidate.format + " takes " + in_words(candidate.product_seconds) +
                              " per product, and took " + in_words(candidate.setup_seconds) + " to set up");
  }

  /// The matrix in its order, which is found by the first that needs it.
  const Stored<V>& stored_for(const Contender<V>& one, const Progress& progress) {
    if (one.order == Ordering::none) return stored_;
    if (!reordered_) {
      const Csr<V>& matrix = stored_.source.host();
      const Stopwatch watch;
      order_ = order(matrix, one.order, {.progress = progress});
      Stored<V> stored = order_.empty() ? stored_ : put_in_order(matrix, order_, device_);
      stored.partition = in_order(options_.partition, order_.rows);
      stored.coordinates = points_in_order(options_.coordinates, order_.rows);
      reordered_ = std::move(stored);
      contenders_.order_is_found();
      order_seconds_ = watch.seconds();
    }
    return *reordered_;
  }

  void describe_built(const Contender<V>& one) {
    Candidate& candidate = info_.candidates[one.candidate];
    candidate.built = true;
    candidate.setup_seconds = one.built.times.total() + (one.order == Ordering::none ? 0 : order_seconds_);
    candidate.bytes = one.built.op->info().bytes;
  }

  Probe<V>& probe() {
    if (!probe_) probe_.emplace(device_, stored_.source.rows(), stored_.source.cols());
    return *probe_;
  }

  Chosen<V> finish() {
    if (contenders_.empty()) throw Error(ErrorCode::internal, "no format can be chosen");
    Contender<V>& chosen = committed_ ? *committed_ : contenders_.winner();
    for (const Contender<V>& one : contenders_) {
      if (&one != &chosen) info_.tried_seconds += one.spent;
      if (one.timed()) info_.candidates[one.candidate].verdict = verdict(one, chosen);
    }
    if (!chosen.built.op) {
      const double product_seconds = chosen.built.product_seconds;
      for (Contender<V>& one : contenders_)
        if (!one.is_csr()) one.built.op.reset();
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

  std::string verdict(const Contender<V>& one, const Contender<V>& chosen) const {
    if (&one == &chosen) return "chosen: fastest";
    if (!chosen.timed()) return "slower than " + info_.candidates[chosen.candidate].format + " is predicted to be";
    return contenders_.is_as_fast(one.built.product_seconds, chosen.built.product_seconds)
               ? "as fast, predicted to be slower"
               : "slower";
  }

  const Stored<V>& stored_;
  const PlanOptions& options_;
  Device device_;
  PlanInfo& info_;
  double products_;
  double budget_ = 0;  // for what is not chosen in the end
  Contenders<V> contenders_;
  Contender<V>* committed_ = nullptr;  // taken without a trial
  std::optional<Probe<V>> probe_;
  // The order rcm.
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
