#include <weft/error.hpp>
#include <weft/plan.hpp>
#include <weft/structure.hpp>

#include <optional>

#include "core/timer.hpp"
#include "formats/registry.hpp"
#include "plan/build.hpp"
#include "plan/probe.hpp"

namespace weft {
namespace {

// A format that stores nothing but the values could at best move 8 of csr's 12 bytes an entry (4 of 8 in f32), and half
// of a symmetric matrix is half of that. So no format returns more than this share of the time csr would take.
constexpr double largest_gain = 0.6;
constexpr double tie = 0.05;

/// Tries the formats that may suit, within what `options.products` products can return:
/// 1. csr is built and timed: it costs almost nothing and is the yardstick;
/// 2. each other format of the registry that this device and type allow is built and timed, unless its set-up would
///    cost more than it can ever return, or its own rule says that the lengths of the rows speak against it;
/// 3. the fastest wins; within 5 % the cheapest set-up wins.
template <Value V>
Built<V> choose(const Stored<V>& stored, const PlanOptions& options, PlanInfo& info) {
  const Csr<V>& matrix = stored.matrix;
  Probe<V> probe(options.device, matrix.rows, matrix.cols);
  const Format& yardstick = *registry().front();
  std::vector<Built<V>> tried;
  double spent = 0;
  double csr_seconds = 0;
  double upload_seconds = 0;  // every format takes the matrix to the device anew
  std::optional<RowLengths> rows;

  const auto consider = [&](const Format& format) {
    Candidate& candidate = info.candidates.emplace_back();
    candidate.format = format.info.name;
    const auto skip = [&](const std::string& reason) { candidate.verdict = reason; };
    if (!format.runs_on(options.device.kind()) || !format.builder<V>())
      return skip("not for " + std::string(to_string(value_type<V>)) + " on " + options.device.name());
    if (!format.info.deterministic && !options.allow_nondeterministic)
      return skip("not deterministic; allow it with allow_nondeterministic");
    const bool is_yardstick = &format == &yardstick;
    if (!is_yardstick) {
      const double can_return = largest_gain * static_cast<double>(options.products) * csr_seconds;
      const double will_cost = upload_seconds + (format.setup_products + 4) * csr_seconds;
      if (spent + will_cost > can_return)
        return skip("not tried: " + std::to_string(options.products) +
                    (options.products == 1 ? " product" : " products") + " cannot return its set-up");
      if (format.rules_out) {
        // Only now: a plan for a few products is done before anybody looks at the matrix.
        if (!rows) rows = analyze_rows(matrix);
        if (const std::string reason = format.rules_out(*rows, options.device); !reason.empty())
          return skip("ruled out: " + reason);
      }
    }
    try {
      Built<V> built = build<V>({&format, {}, {}}, stored, options);
      const double allowance = is_yardstick ? 0.1 : largest_gain * static_cast<double>(options.products) * csr_seconds;
      built.product_seconds = probe.seconds(*built.op, std::min(0.1, 0.02 * allowance));
      if (is_yardstick) {
        csr_seconds = built.product_seconds;
        upload_seconds = built.op->info().upload_seconds;
      } else {
        spent += built.setup_seconds + 4 * built.product_seconds;
      }
      candidate.built = true;
      candidate.setup_seconds = built.setup_seconds;
      candidate.product_seconds = built.product_seconds;
      candidate.bytes = built.op->info().bytes;
      tried.push_back(std::move(built));
    } catch (const Error& error) {
      if (is_yardstick || error.code() == ErrorCode::cancelled) throw;
      skip(std::string("failed: ") + error.what());
    }
  };
  for (const Format* format : registry()) consider(*format);

  const Built<V>* fastest = &tried.front();
  for (const auto& built : tried)
    if (built.product_seconds < fastest->product_seconds) fastest = &built;
  Built<V>* chosen = &tried.front();
  bool found = false;
  for (auto& built : tried) {
    if (built.product_seconds > fastest->product_seconds * (1 + tie)) continue;
    if (!found || built.setup_seconds < chosen->setup_seconds) chosen = &built;
    found = true;
  }
  for (Candidate& candidate : info.candidates) {
    if (!candidate.built) continue;
    if (candidate.format == chosen->choice.format->info.name)
      candidate.verdict =
          chosen == fastest ? "chosen: fastest" : "chosen: within 5 % of the fastest, cheaper to set up";
    else if (candidate.format == fastest->choice.format->info.name)
      candidate.verdict = "fastest by less than 5 %, but dearer to set up";
    else
      candidate.verdict = "slower";
  }
  return std::move(*chosen);
}

}  // namespace

template <Value V>
Plan<V> plan(const Csr<V>& matrix, const PlanOptions& options) {
  const Stopwatch watch;
  if (options.products < 1) throw Error(ErrorCode::invalid_argument, "products must be 1 or more");
  describe(options.device);  // throws when there is no such device
  if (options.partition) require_partition(*options.partition, matrix.rows);

  PlanInfo info;
  info.ordering = options.order;
  Stored<V> stored{matrix, nullptr, {}};
  Order order;
  if (options.order != Ordering::none) {
    const Stopwatch ordering;
    order = weft::order(matrix, options.order, {.progress = options.progress});
    if (!order.empty()) stored = put_in_order(matrix, order, options.device);
    info.ordering_seconds = ordering.seconds();
  }
  stored.partition = in_order(options.partition, order.rows);
  Built<V> forward;
  if (options.format == "auto") {
    forward = choose(stored, options, info);
  } else {
    const FormatChoice choice = find_format(options.format, options.device, value_type<V>);
    if (!choice.format->info.deterministic && !options.allow_nondeterministic)
      throw Error(ErrorCode::unsupported, "format '" + choice.format->info.name +
                                              "' is not deterministic; plan with allow_nondeterministic to use it");
    forward = build(choice, stored, options);
  }

  return finish_plan(std::move(forward), std::move(info), stored, order, options, watch);
}

#define WEFT_INSTANTIATE(V) template Plan<V> plan<V>(const Csr<V>&, const PlanOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
