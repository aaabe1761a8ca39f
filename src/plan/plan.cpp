#include <weft/error.hpp>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include "core/timer.hpp"
#include "facts/source_facts.hpp"
#include "formats/registry.hpp"
#include "plan/build.hpp"
#include "plan/max_gain.hpp"
#include "plan/probe.hpp"

namespace weft {
namespace {

constexpr double tie = 0.05;

/// `auto`: tries the formats that may suit, within what `options.products` products can return.
/// 1. The yardstick, csr, is built and timed: it costs almost nothing.
/// 2. Each other format of the registry that this device and type allow is built and timed, unless its set-up would
///    cost more than it can ever return, or its own rule says that the lengths of the rows speak against it.
/// 3. The fastest wins; within 5 % the cheapest set-up wins.
/// On a device there are never more than csr and one other format: the best so far is dropped before the next is built,
/// and built again in the end if it wins.
template <Value V>
class Chooser {
 public:
  Chooser(const Stored<V>& stored, const PlanOptions& options, Device device, PlanInfo& info)
      : stored_(stored),
        options_(options),
        device_(device),
        info_(info),
        probe_(device, stored.source.rows(), stored.source.cols()) {}

  Built<V> choose() {
    for (const Format* format : registry())
      if (format->yardstick) consider(*format);
    for (const Format* format : registry())
      if (!format->yardstick) consider(*format);
    Trial& fastest = *std::ranges::min_element(trials_, {}, [](const Trial& t) { return t.built.product_seconds; });
    Trial* chosen = nullptr;
    for (Trial& trial : trials_) {
      if (trial.built.product_seconds > fastest.built.product_seconds * (1 + tie)) continue;
      if (!chosen || trial.setup_seconds < chosen->setup_seconds) chosen = &trial;
    }
    for (const Trial& trial : trials_) info_.candidates[trial.candidate].verdict = verdict(trial, *chosen, fastest);
    if (!chosen->built.op) {
      drop_all_but_yardstick();
      const double product_seconds = chosen->built.product_seconds;
      chosen->built = build(chosen->built.choice, stored_, device_, options_.progress);
      chosen->built.product_seconds = product_seconds;
    }
    return std::move(chosen->built);
  }

 private:
  /// A format that was built and timed. Its operator may be gone since.
  struct Trial {
    Built<V> built;
    double setup_seconds = 0;
    std::size_t candidate = 0;  // its number in info.candidates
  };

  static std::string verdict(const Trial& trial, const Trial& chosen, const Trial& fastest) {
    if (&trial == &chosen)
      return &chosen == &fastest ? "chosen: fastest" : "chosen: within 5 % of the fastest, cheaper to set up";
    if (&trial == &fastest) return "fastest by less than 5 %, but more expensive to set up";
    return "slower";
  }

  double csr_seconds() const { return trials_.empty() ? 0 : trials_.front().built.product_seconds; }

  /// Why a format is not even built; empty: it is.
  std::string reason_against(const Format& format) {
    if (!format.runs_on(device_.kind()) || !format.has_type(value_type<V>))
      return "not for " + std::string(to_string(value_type<V>)) + " on " + device_.name();
    if (!format.info.deterministic && !options_.allow_nondeterministic)
      return "not deterministic; allow it with allow_nondeterministic";
    if (format.yardstick) return {};
    const double will_cost = (format.setup_products + 4) * csr_seconds();
    if (spent_ + will_cost > can_return(format))
      return "not tried: " + std::to_string(options_.products) + (options_.products == 1 ? " product" : " products") +
             " cannot return its set-up";
    if (format.rules_out)  // only now: a plan for a few products is done before anybody looks at the matrix
      if (const std::string reason = format.rules_out(row_lengths(stored_.source), device_); !reason.empty())
        return "ruled out: " + reason;
    return {};
  }

  double can_return(const Format& format) const {
    return max_gain<V>(format, stored_.source.symmetry()) * static_cast<double>(options_.products) * csr_seconds();
  }

  void consider(const Format& format) {
    const std::size_t number = info_.candidates.size();
    info_.candidates.push_back({.format = format.info.name, .verdict = reason_against(format)});
    if (!info_.candidates[number].verdict.empty()) return;
    if (!device_.is_cpu()) drop_all_but_yardstick();
    try {
      Trial trial;
      trial.candidate = number;
      trial.built = build<V>({&format, {}, {}}, stored_, device_, options_.progress);
      const double allowance = format.yardstick ? 0.1 : can_return(format);
      trial.built.product_seconds = probe_.seconds(*trial.built.op, std::min(0.1, 0.02 * allowance));
      trial.setup_seconds = trial.built.times.total();
      if (!format.yardstick) spent_ += trial.setup_seconds + 4 * trial.built.product_seconds;
      Candidate& candidate = info_.candidates[number];
      candidate.built = true;
      candidate.setup_seconds = trial.setup_seconds;
      candidate.product_seconds = trial.built.product_seconds;
      candidate.bytes = trial.built.op->info().bytes;
      if (device_.is_cpu()) keep_best_of(trial);
      trials_.push_back(std::move(trial));
    } catch (const Error& error) {
      if (format.yardstick || error.code() == ErrorCode::cancelled) throw;
      info_.candidates[number].verdict = std::string("failed: ") + error.what();
    }
  }

  void drop_all_but_yardstick() {
    for (std::size_t i = 1; i < trials_.size(); ++i) trials_[i].built.op.reset();
  }

  /// Of what is not csr, only the fastest keeps its memory.
  void keep_best_of(Trial& latest) {
    for (std::size_t i = 1; i < trials_.size(); ++i) {
      if (!trials_[i].built.op) continue;
      const bool slower = trials_[i].built.product_seconds > latest.built.product_seconds;
      (slower ? trials_[i] : latest).built.op.reset();
    }
  }

  const Stored<V>& stored_;
  const PlanOptions& options_;
  Device device_;
  PlanInfo& info_;
  Probe<V> probe_;
  std::vector<Trial> trials_;  // the yardstick first
  double spent_ = 0;
};

}  // namespace

template <Value V>
Plan<V> plan(const MatrixSource<V>& source, const PlanOptions& options) {
  const Stopwatch watch;
  const Device device = options.device.value_or(source.device());
  if (options.products < 1) throw Error(ErrorCode::invalid_argument, "products must be 1 or more");
  require_usable(device);
  if (options.partition) require_partition(*options.partition, source.rows());

  const Recipe recipe = parse_recipe(options.format);
  PlanInfo info;
  info.ordering = requested_order(recipe, options);
  Stored<V> stored{.source = source};
  Order order;
  if (info.ordering != Ordering::none) {
    const Csr<V>& matrix = source.host();
    const Stopwatch ordering;
    order = weft::order(matrix, info.ordering, {.progress = options.progress});
    if (!order.empty()) stored = put_in_order(matrix, order, device);
    info.setup.order = ordering.seconds();
  }
  stored.partition = in_order(options.partition, order.rows);
  Built<V> forward;
  if (recipe.format == "auto") {
    forward = Chooser<V>(stored, options, device, info).choose();
  } else {
    const FormatChoice choice = find_format(recipe.format, device, value_type<V>);
    if (!choice.format->info.deterministic && !options.allow_nondeterministic)
      throw Error(ErrorCode::unsupported, "format '" + choice.format->info.name +
                                              "' is not deterministic; plan with allow_nondeterministic to use it");
    forward = build(choice, stored, device, options.progress);
  }
  return finish_plan(std::move(forward), std::move(info), stored, order, options, device, watch);
}

#define WEFT_INSTANTIATE(V) template Plan<V> plan<V>(const MatrixSource<V>&, const PlanOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
