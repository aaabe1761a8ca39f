#include "run.hpp"

#include <weft/formats.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

#include "core/timer.hpp"
#include "peers/peer.hpp"
#include "verify.hpp"
#include "workspace.hpp"

namespace weft::bench {
namespace {

bool runs_on(const std::vector<Device::Kind>& devices, Device device) {
  return std::find(devices.begin(), devices.end(), device.kind()) != devices.end();
}

/// A format or peer that is set up and waits to be timed.
template <Value V>
struct Contestant {
  std::size_t place = 0;  // in the case's measurements
  std::unique_ptr<Plan<V>> plan;
  std::unique_ptr<Peer<V>> peer;

  void apply(Workspace<V>& workspace) const {
    if (plan)
      workspace.apply(*plan);
    else
      workspace.apply(*peer);
  }
};

/// Takes one matrix through set-up, check and timing of everything that competes on it.
template <Value V>
class Contest {
 public:
  Contest(const Csr<V>& matrix, const RunOptions& options, Case& result)
      : matrix_(matrix),
        options_(options),
        result_(result),
        workspace_(options.device, random_vector<V>(static_cast<std::size_t>(matrix.cols), options.seed),
                   static_cast<std::size_t>(matrix.rows)),
        reference_(Op::none, V(1), matrix, workspace_.x(), V(0), {}),
        memory_(describe(options.device).memory_bytes) {}

  void add_format(const std::string& name) {
    enter(name, false, [&](Contestant<V>& contestant, Measurement& m) {
      contestant.plan = std::make_unique<Plan<V>>(plan(matrix_, {.device = options_.device,
                                                                 .format = name,
                                                                 .order = options_.order,
                                                                 .partition = options_.partition,
                                                                 .allow_nondeterministic = true}));
      const PlanInfo& info = contestant.plan->info();
      m.chosen = info.format;
      if (result_.ordering_seconds == 0) result_.ordering_seconds = info.ordering_seconds;
      m.deterministic = info.deterministic;
      m.details = info.details;
      m.setup_seconds = info.setup_seconds;
      m.upload_seconds = info.upload_seconds;
      m.partition_seconds = info.partition_seconds;
      m.bytes = info.bytes;
      m.padding = info.padding;
    });
  }

  void add_peer(std::unique_ptr<Peer<V>> peer) {
    enter(peer->name(), true, [&](Contestant<V>& contestant, Measurement& m) {
      const Stopwatch watch;
      peer->prepare(matrix_);
      m.setup_seconds = watch.seconds();
      m.chosen = m.name;
      m.bytes = peer->bytes();
      contestant.peer = std::move(peer);
    });
  }

  /// Times everyone who waits, in turns, and lets them go.
  void finish_round() {
    std::vector<Product> products;
    for (const Contestant<V>& contestant : waiting_)
      products.push_back([&contestant, this] { contestant.apply(workspace_); });
    const std::vector<Timing> timings =
        measure(options_.device, products, {options_.seconds, options_.groups, options_.progress});
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      Measurement& m = result_.measurements[waiting_[i].place];
      m.timing = timings[i];
      m.failure = timings[i].failure;
      if (m.measured()) derive(m);
    }
    waiting_.clear();
    held_bytes_ = 0;
  }

 private:
  /// Sets up one contestant and checks its product before any timing.
  template <class SetUp>
  void enter(const std::string& name, bool peer, SetUp&& set_up) {
    Measurement m;
    m.name = name;
    m.peer = peer;
    Contestant<V> contestant;
    contestant.place = result_.measurements.size();
    try {
      set_up(contestant, m);
      workspace_.poison_y();
      contestant.apply(workspace_);
      const Verdict verdict = reference_.compare(workspace_.y());
      m.correct = verdict.correct;
      m.max_error = verdict.max_error;
    } catch (const Error& error) {
      if (error.code() == ErrorCode::no_device) throw;
      m.failure = error.what();
    } catch (const std::bad_alloc&) {
      m.failure = "not enough memory";
    } catch (const std::exception& error) {
      m.failure = error.what();
    }
    result_.measurements.push_back(m);
    if (!m.measured()) return;
    held_bytes_ += m.bytes;
    waiting_.push_back(std::move(contestant));
    // All formats at once may not fit the device; then they compete in several rounds.
    if (memory_ > 0 && held_bytes_ > static_cast<std::size_t>(memory_ / 3)) finish_round();
  }

  void derive(Measurement& m) const {
    const double seconds = m.timing.median;
    const double nonzeros = static_cast<double>(matrix_.nonzeros());
    const double vectors = (static_cast<double>(matrix_.rows) + matrix_.cols) * sizeof(V);
    m.bytes_per_nonzero = nonzeros > 0 ? static_cast<double>(m.bytes) / nonzeros : 0;
    if (!(seconds > 0)) return;
    if (!m.peer) m.setup_products = std::max(0.0, m.setup_seconds - m.upload_seconds) / seconds;
    m.gflops = 2 * nonzeros / seconds / 1e9;
    m.gigabytes = (static_cast<double>(m.bytes) + vectors) / seconds / 1e9;
    if (options_.bandwidth > 0) m.bandwidth_share = m.gigabytes * 1e9 / options_.bandwidth;
  }

  const Csr<V>& matrix_;
  const RunOptions& options_;
  Case& result_;
  Workspace<V> workspace_;
  Reference<V> reference_;
  std::int64_t memory_;
  std::size_t held_bytes_ = 0;
  std::vector<Contestant<V>> waiting_;
};

}  // namespace

std::vector<std::string> formats_for(Device device) {
  std::vector<std::string> names;
  for (const FormatInfo& format : formats()) {
    if (!runs_on(format.devices, device)) continue;
    names.push_back(format.name);
    for (const VariantInfo& variant : format.variants)
      if (!variant.chooses && runs_on(variant.devices, device)) names.push_back(full_name(format, variant.name));
  }
  return names;
}

template <Value V>
Case run_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
              std::vector<std::string>& notes) {
  Case result;
  result.source = source;
  result.type = value_type<V>;
  result.rows = matrix.rows;
  result.cols = matrix.cols;
  result.nonzeros = matrix.nonzeros();
  result.ordering = options.order;

  std::vector<std::string> missing;
  auto peers = find_peers<V>(options.device, options.peers, missing);
  for (const std::string& note : missing)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);

  Contest<V> contest(matrix, options, result);
  for (const std::string& name : options.formats) contest.add_format(name);
  for (auto& peer : peers) contest.add_peer(std::move(peer));
  contest.finish_round();
  compare(result);
  return result;
}

void compare(Case& one) {
  const Measurement* csr = nullptr;
  double fastest_peer = 0;
  for (const Measurement& m : one.measurements) {
    if (!m.measured() || !m.correct) continue;
    if (m.name == "csr") csr = &m;
    if (m.peer && (fastest_peer == 0 || m.timing.median < fastest_peer)) fastest_peer = m.timing.median;
  }
  for (Measurement& m : one.measurements) {
    if (!m.measured() || m.peer) continue;
    if (fastest_peer > 0 && m.timing.median > 0) m.peer_ratio = fastest_peer / m.timing.median;
    if (!csr || &m == csr) continue;
    const double gain = csr->timing.median - m.timing.median;
    const double price = m.setup_seconds - csr->setup_seconds;
    if (gain > 0) m.break_even = std::clamp(std::ceil(price / gain), 0.0, 1e15);
  }
}

#define WEFT_INSTANTIATE(V) \
  template Case run_case<V>(const std::string&, const Csr<V>&, const RunOptions&, std::vector<std::string>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
