#include "tune.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <memory>

#include "bench/harness/measure.hpp"
#include "bench/harness/verify.hpp"
#include "bench/harness/workspace.hpp"
#include "formats/csr/tuning.hpp"
#include "formats/registry.hpp"

namespace weft::bench {
namespace {

csr::Tuning tuning_with(Shape shape, Device device) {
  csr::Tuning tuning = csr::Tuning::on(device);
  tuning.speculative.f32 = tuning.speculative.f64 = {shape.width, shape.tiles, shape.bunches};
  return tuning;
}

/// A matrix on which settings compete.
template <Value V>
class Arena {
 public:
  Arena(const NamedMatrix<V>& named, const TuneOptions& options)
      : matrix_(named.matrix),
        options_(options),
        source_(named.source),
        choice_(find_format("csr:speculative", options.device, value_type<V>)),
        workspace_(options.device, random_vector<V>(static_cast<std::size_t>(matrix_.cols), options.seed),
                   static_cast<std::size_t>(matrix_.rows)),
        reference_(Op::none, V(1), matrix_, workspace_.x(), V(0), {}),
        memory_(describe(options.device).memory_bytes) {
    if (matrix_.nonzeros() == 0)
      throw Error(ErrorCode::invalid_argument, source_ + " has no entries, so there is nothing to time; leave it out");
  }

  /// Adds the speed of each shape to its trial.
  void compete(std::span<const Shape> shapes, int round, std::vector<Trial>& trials) {
    total_ = shapes.size();
    timed_ = 0;
    progress_ = options_.progress ? options_.progress(round, source_) : Progress{};
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      enter(shapes[i], trials[i]);
      if (memory_ > 0 && held_bytes_ > static_cast<std::size_t>(memory_ / 3)) time_entered(trials, i + 1);
    }
    time_entered(trials, shapes.size());
    progress_ = {};
  }

 private:
  /// Builds a setting and checks its product before any timing.
  void enter(Shape shape, Trial& trial) {
    entered_.push_back(choice_.format->build.template get<V>()(
        MatrixSource<V>(matrix_),
        {.device = options_.device, .variant = choice_.variant, .tuning = tuning_with(shape, options_.device)}));
    held_bytes_ += entered_.back()->info().bytes;
    workspace_.poison_y();
    workspace_.apply(*entered_.back());
    const Verdict verdict = reference_.compare(workspace_.y());
    trial.correct &= verdict.correct;
    trial.max_error = std::max(trial.max_error, verdict.backward_error);
    report(static_cast<double>(timed_ + entered_.size() + timed_));
  }

  /// Times those that were entered, up to shape `end`, and lets them go.
  void time_entered(std::vector<Trial>& trials, std::size_t end) {
    std::vector<Product> products;
    for (const auto& op : entered_) products.push_back([&op, this] { workspace_.apply(*op); });
    const std::size_t first = end - entered_.size();
    const std::vector<Timing> timings =
        measure(options_.device, products,
                {.seconds = options_.seconds, .groups = options_.groups, .progress = [&](double share) {
                   return report(static_cast<double>(end + first) + share * static_cast<double>(products.size()));
                 }});
    for (std::size_t i = 0; i < timings.size(); ++i) {
      if (!timings[i].failure.empty()) throw Error(ErrorCode::internal, timings[i].failure);
      trials[first + i].gflops.push_back(2e-9 * static_cast<double>(matrix_.nonzeros()) / timings[i].median);
    }
    entered_.clear();
    held_bytes_ = 0;
    timed_ = end;
  }

  /// `steps`: settings that were built + settings that were timed.
  bool report(double steps) const { return !progress_ || progress_(steps / (2 * static_cast<double>(total_))); }

  const Csr<V>& matrix_;
  const TuneOptions& options_;
  const std::string& source_;
  FormatChoice choice_;
  Workspace<V> workspace_;
  Reference<V> reference_;
  std::int64_t memory_;
  std::vector<std::unique_ptr<Operator<V>>> entered_;
  std::size_t held_bytes_ = 0;
  std::size_t timed_ = 0;
  std::size_t total_ = 0;
  Progress progress_;
};

}  // namespace

Shape kept_shape(Device device, ValueType type) {
  const csr::SpeculativeNumbers kept = with_value_type(
      type, [&]<class V>(std::type_identity<V>) { return csr::Tuning::on(device).speculative.of<V>(); });
  return {kept.width, kept.tiles, kept.bunches};
}

template <Value V>
Search tune(const std::vector<NamedMatrix<V>>& matrices, const TuneOptions& options) {
  std::vector<std::unique_ptr<Arena<V>>> arenas;
  for (const NamedMatrix<V>& named : matrices) arenas.push_back(std::make_unique<Arena<V>>(named, options));
  int round = 0;
  return search(kept_shape(options.device, value_type<V>), options.grid, options.jointly,
                [&](std::span<const Shape> shapes) {
                  std::vector<Trial> trials;
                  for (const Shape& shape : shapes) trials.push_back({.shape = shape});
                  ++round;
                  for (const auto& arena : arenas) arena->compete(shapes, round, trials);
                  return trials;
                });
}

#define WEFT_INSTANTIATE(V) template Search tune<V>(const std::vector<NamedMatrix<V>>&, const TuneOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
