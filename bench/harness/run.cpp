#include "run.hpp"

#include <fmt/format.h>
#include <weft/formats.hpp>
#include <weft/plan.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <iterator>
#include <memory>
#include <optional>

#include "bench/peers/peer.hpp"
#include "core/timer.hpp"
#include "plan/bandwidth.hpp"
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
  Array<V> first;  // y of the first product

  void apply(Workspace<V>& workspace) const {
    if (plan)
      workspace.apply(*plan);
    else
      workspace.apply(*peer);
  }
};

/// A copy of the matrix on the device, for plans from there.
template <Value V>
class DeviceCopy {
 public:
  DeviceCopy(const Csr<V>& matrix, Device device)
      : rows_(matrix.rows),
        cols_(matrix.cols),
        offsets_(device, std::span<const Offset>(matrix.offsets)),
        columns_(device, std::span<const Index>(matrix.columns)),
        values_(device, std::span<const V>(matrix.values)) {}

  /// Nothing is known about it yet, as of arrays that a program has just computed.
  MatrixSource<V> source() const { return DeviceCsr<V>{rows_, cols_, offsets_, columns_, values_}; }

 private:
  Index rows_;
  Index cols_;
  DeviceBuffer<Offset> offsets_;
  DeviceBuffer<Index> columns_;
  DeviceBuffer<V> values_;
};

/// Takes one matrix through set-up, check and timing of everything that competes on it.
template <Value V>
class Contest {
 public:
  Contest(const Csr<V>& matrix, const RunOptions& options, std::size_t contestants, Case& result)
      : matrix_(matrix),
        options_(options),
        result_(result),
        workspace_(options.device, random_vector<V>(static_cast<std::size_t>(matrix.cols), options.seed),
                   static_cast<std::size_t>(matrix.rows), options.vectors, options.layout),
        reference_(Op::none, V(1), matrix, workspace_.x(), V(0), {}),
        expected_(contestants),
        memory_(describe(options.device).memory_bytes) {
    if (options.from_device) on_device_.emplace(matrix, options.device);
    if (options.cold && options.device.kind() != Device::Kind::emulator) sweep_.emplace(options.device);
  }

  void add_format(const std::string& name) {
    const std::optional<std::int64_t> products = products_in(name);
    enter(name, false, [&](Contestant<V>& contestant, Measurement& m) {
      const Stopwatch watch;
      const MatrixSource<V> source = on_device_ ? on_device_->source() : MatrixSource<V>(matrix_);
      contestant.plan = std::make_unique<Plan<V>>(plan(source, {.device = options_.device,
                                                                .format = products ? "auto" : name,
                                                                .order = options_.order,
                                                                .partition = options_.partition,
                                                                .coordinates = options_.coordinates,
                                                                .products = products.value_or(options_.products),
                                                                .allow_nondeterministic = true,
                                                                .remember = false,
                                                                .progress = patience()}));
      const double seconds = watch.seconds();
      const PlanInfo& info = contestant.plan->info();
      m.chosen = info.format;
      m.deterministic = info.deterministic;
      m.details = info.details;
      m.recipe = info.recipe;
      m.setup = info.setup;
      // For `auto` that is also building and timing what it did not choose; for arrays on the device, checking them.
      m.setup.facts += std::max(0.0, seconds - info.setup.total());
      m.bytes = info.bytes;
      m.padding = info.padding;
      std::ranges::copy_if(info.candidates, std::back_inserter(m.candidates),
                           [](const Candidate& one) { return one.predicted_product_seconds > 0; });
      m.tried_seconds = info.tried_seconds;
      m.budget_seconds = info.budget_seconds;
    });
  }

  void add_peer(std::unique_ptr<Peer<V>> peer) {
    enter(peer->name(), true, [&](Contestant<V>& contestant, Measurement& m) {
      const Stopwatch watch;
      peer->prepare(matrix_, options_.products);
      const double seconds = watch.seconds();
      const PeerInfo info = peer->info();
      m.setup.upload = info.upload_seconds;
      m.setup.encode = std::max(0.0, seconds - info.upload_seconds - info.start_seconds);
      m.chosen = m.name;
      m.version = info.version;
      m.details = info.details;
      m.bytes = info.bytes;
      m.bytes_estimated = info.estimated;
      contestant.peer = std::move(peer);
    });
  }

  /// Times everyone who waits, in turns, and lets them go.
  void finish_round() {
    std::vector<Product> products;
    for (const Contestant<V>& contestant : waiting_) {
      const auto run = [&contestant, this] { contestant.apply(workspace_); };
      if (contestant.peer && contestant.peer->keeps_time())
        products.emplace_back(run,
                              [&contestant, this](std::int64_t n) { return workspace_.time(*contestant.peer, n); });
      else
        products.emplace_back(run);
    }
    MeasureOptions how{.seconds = options_.seconds, .groups = options_.groups};
    if (sweep_) how.sweep = [this] { sweep_->queue(); };
    // OpenMP's threads look for work for some milliseconds after a product of a peer.
    constexpr double peers_threads_sleep_after = 10e-3;
    const bool has_peers = std::ranges::any_of(waiting_, [](const Contestant<V>& c) { return c.peer != nullptr; });
    if (options_.device.is_cpu() && threads() > 1 && has_peers) how.settle = peers_threads_sleep_after;
    how.progress = [this](double share) {
      return told(static_cast<double>(entered_ + timed_) + share * static_cast<double>(waiting_.size()));
    };
    const std::vector<Timing> timings = measure(options_.device, products, how);
    timed_ += waiting_.size();
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      Measurement& m = result_.measurements[waiting_[i].place];
      m.timing = timings[i];
      m.failure = timings[i].failure;
      if (!m.measured()) continue;
      derive(m);
      compare_again(waiting_[i], m);
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
      const Stopwatch watch;
      contestant.apply(workspace_);
      synchronize(options_.device);
      m.first_product_seconds = watch.seconds();
      judge_all(m);
      contestant.first = Array<V>::copy_of(workspace_.y());
    } catch (const Error& error) {
      if (error.code() == ErrorCode::no_device) throw;
      m.failure = error.what();
      if (error.code() == ErrorCode::cancelled)
        m.failure = fmt::format("set-up was given up after {:.3g} s (see --patience)", options_.patience);
    } catch (const std::bad_alloc&) {
      m.failure = "not enough memory";
    } catch (const std::exception& error) {
      m.failure = error.what();
    }
    result_.measurements.push_back(m);
    ++entered_;
    if (!m.measured()) ++timed_;
    if (!told(static_cast<double>(entered_ + timed_)))
      throw Error(ErrorCode::cancelled, "the measurement was cancelled");
    if (!m.measured()) return;
    held_bytes_ += m.bytes;
    waiting_.push_back(std::move(contestant));
    // All formats at once may not fit the device; then they compete in several rounds.
    if (memory_ > 0 && held_bytes_ > static_cast<std::size_t>(memory_ / 3)) finish_round();
  }

  /// Of twice the number of contestants: each is set up and timed.
  bool told(double steps) const {
    return !options_.progress || options_.progress(std::min(1.0, steps / (2 * static_cast<double>(expected_))));
  }

  /// Ends a set-up that takes too long, where a format lets itself be ended.
  Progress patience() const {
    return [watch = Stopwatch(), most = options_.patience](double) { return watch.seconds() < most; };
  }

  /// Of every vector.
  void judge_all(Measurement& m) {
    for (int j = 0; j < options_.vectors; ++j) {
      const Verdict verdict = reference_.compare(workspace_.y(j));
      m.correct = m.correct && verdict.correct;
      m.forward_error = std::max(m.forward_error, verdict.forward_error);
      m.backward_error = std::max(m.backward_error, verdict.backward_error);
    }
  }

  /// After the timing: the same bits as in the first product? Where not, every result must still be right.
  void compare_again(const Contestant<V>& contestant, Measurement& m) {
    const int repeats = m.timing.median < options_.seconds ? 3 : 1;
    try {
      for (int repeat = 0; repeat < repeats; ++repeat) {
        workspace_.poison_y();
        contestant.apply(workspace_);
        const std::span<const V> y = workspace_.y();
        if (std::memcmp(y.data(), contestant.first.data(), y.size_bytes()) == 0) continue;
        m.repeatable = false;
        judge_all(m);
      }
    } catch (const std::exception& error) {
      m.failure = error.what();
    }
  }

  void derive(Measurement& m) const {
    const double seconds = m.timing.median;
    const double nonzeros = static_cast<double>(matrix_.nonzeros());
    const double count = options_.vectors;
    const double vectors = count * (static_cast<double>(matrix_.rows) + matrix_.cols) * sizeof(V);
    m.bytes_per_nonzero = nonzeros > 0 ? static_cast<double>(m.bytes) / nonzeros : 0;
    if (!(seconds > 0)) return;
    if (!m.peer) m.setup_products = (m.setup.total() - m.setup.upload) / seconds;
    m.gflops = 2 * count * nonzeros / seconds / 1e9;
    m.gigabytes = (static_cast<double>(m.bytes) + vectors) / seconds / 1e9;
    if (options_.bandwidth > 0) m.bandwidth_share = m.gigabytes * 1e9 / options_.bandwidth;
  }

  const Csr<V>& matrix_;
  const RunOptions& options_;
  std::optional<DeviceCopy<V>> on_device_;  // plans may borrow its arrays
  Case& result_;
  Workspace<V> workspace_;
  Reference<V> reference_;
  std::optional<CacheSweep> sweep_;
  std::size_t expected_;
  std::size_t entered_ = 0;  // set up, or failed to
  std::size_t timed_ = 0;
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
  result.vectors = options.vectors;
  result.layout = options.layout;
  result.portrait = portrait_of(matrix);

  std::vector<std::string> missing;
  auto peers = find_peers<V>(options.device, options.peers, missing);
  for (const std::string& note : missing)
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);

  Contest<V> contest(matrix, options, options.formats.size() + peers.size(), result);
  for (const std::string& name : options.formats) contest.add_format(name);
  for (auto& peer : peers) contest.add_peer(std::move(peer));
  contest.finish_round();
  compare(result);
  return result;
}

bool Report::all_correct() const {
  for (const Case& one : cases)
    for (const Measurement& m : one.measurements)
      if (!m.peer && m.measured() && !m.correct) return false;
  return true;
}

void compare(Case& one) {
  const Measurement* csr = nullptr;
  double fastest_peer = 0;
  std::vector<Measurement*> ranked;
  for (Measurement& m : one.measurements) {
    if (!m.counts()) continue;
    ranked.push_back(&m);
    if (m.name == "csr") csr = &m;
    if (m.peer && (fastest_peer == 0 || m.timing.median < fastest_peer)) fastest_peer = m.timing.median;
  }
  for (Measurement& m : one.measurements) {
    if (!m.measured() || m.peer) continue;
    if (fastest_peer > 0 && m.timing.median > 0) m.peer_ratio = fastest_peer / m.timing.median;
    if (!csr || &m == csr) continue;
    const double gain = csr->timing.median - m.timing.median;
    const double price = m.setup.total() - csr->setup.total();
    if (gain > 0) m.break_even = std::clamp(std::ceil(price / gain), 0.0, 1e15);
  }

  // Those that tie with the fastest share its rank; the next rank starts with the fastest of the others.
  std::ranges::sort(ranked, {}, [](const Measurement* m) { return m->timing.median; });
  const Measurement* leader = nullptr;
  for (std::size_t i = 0; i < ranked.size(); ++i) {
    const bool tied = leader && ranked[i]->timing.median < leader->timing.median * tie;
    ranked[i]->rank = tied ? leader->rank : static_cast<int>(i) + 1;
    if (!tied) leader = ranked[i];
  }
}

#define WEFT_INSTANTIATE(V) \
  template Case run_case<V>(const std::string&, const Csr<V>&, const RunOptions&, std::vector<std::string>&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
