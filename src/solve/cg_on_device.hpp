#pragma once
#include <weft/linear_operator.hpp>
#include <weft/vector.hpp>

#include <atomic>
#include <cmath>
#include <optional>
#include <thread>

#include "core/mapped_memory.hpp"
#include "solve/device_queue.hpp"
#include "solve/device_steps.hpp"
#include "solve/iteration.hpp"

namespace weft::solve {

/// Conjugate gradients on a device. All numbers stay there, and it decides by itself when to stop; iterations are
/// queued ahead, and the host reads residuals from memory that both see.
template <Value V>
class CgOnDevice {
 public:
  /// `M` is null for the identity, `diagonal` null unless M is one.
  CgOnDevice(Iteration<V>& iteration, const LinearOperator<V>& A, const LinearOperator<V>* M, const Vector<V>* diagonal)
      : iteration_(iteration),
        A_(A),
        M_(M),
        diagonal_(diagonal),
        p_(iteration.vector()),
        q_(iteration.vector()),
        z_(M && !diagonal ? iteration.vector() : Vector<V>(iteration.device(), 0)),
        parts_(iteration.device(), cg_parts),
        state_(iteration.device(), 1),
        progress_memory_(iteration.device(), sizeof(CgProgress)),
        progress_(new(progress_memory_.data()) CgProgress),
        queue_(iteration.device(), [this](Stream stream) { queue_iteration(stream); }) {}

  /// Why it stopped. No `stop`: p.A p = product or, if `is_preconditioner`, r.M r = rz is not a positive number.
  struct End {
    std::optional<Stop> stop;
    bool is_preconditioner = false;
    double rz = 0, product = 0;
    double quotient = 0;  ///< p.A p / p.p of the first direction
  };

  End run(Vector<V>& r, double residual) {
    const double rz = begin(r, residual);
    if (!(rz > 0) || !std::isfinite(rz)) return {.stop = {}, .is_preconditioner = true, .rz = rz};
    const double first_square = iteration_.steps().dot(p_, p_);
    const CgEnd end = go_on(residual);
    queue_.finish();
    if (end == CgEnd::none) return {.stop = Stop::cancelled};
    const double product = progress_->product;
    const double quotient = progress_->iterations > 0 ? progress_->first_product / first_square : 0;
    if (end == CgEnd::product) return {.stop = {}, .product = product, .quotient = quotient};
    if (end == CgEnd::preconditioner) return {.stop = {}, .is_preconditioner = true, .rz = last_rz()};
    return {.stop = stop_of(end)};
  }

  const Vector<V>& direction() const { return p_; }

 private:
  static Stop stop_of(CgEnd end) {
    switch (end) {
      case CgEnd::tolerance:
        return Stop::tolerance;
      case CgEnd::iterations:
        return Stop::iterations;
      case CgEnd::diverged:
        return Stop::diverged;
      default:
        return Stop::not_finite;
    }
  }

  /// p = M r; returns r.M r, and leaves what the first iteration needs.
  double begin(Vector<V>& r, double residual) {
    const Vector<V>& z = *iteration_.precondition(r, diagonal_ ? p_ : z_);
    if (&z != &p_) copy<V>(z, p_);
    const double rz = M_ ? iteration_.steps().dot(r, p_) : residual * residual;
    CgState state;
    state.next_rz = rz;
    state.tolerance = iteration_.tolerance();
    state.max_residual = iteration_.max_residual();
    state.max_iterations = iteration_.iterations_left();
    state_.upload(std::span<const CgState>(&state, 1));
    *progress_ = CgProgress{};
    vectors_ = {.count = static_cast<std::int64_t>(iteration_.size()),
                .x = iteration_.x().data(),
                .r = r.data(),
                .p = p_.data(),
                .q = q_.data(),
                .z = M_ && !diagonal_ ? z_.data() : nullptr,
                .diagonal = diagonal_ ? diagonal_->data() : nullptr,
                .parts = parts_.data(),
                .state = state_.data(),
                .progress = progress_};
    return rz;
  }

  void queue_iteration(Stream stream) {
    const Device device = iteration_.device();
    A_.apply(V(1), p_, V(0), q_, stream);
    WEFT_ON_DEVICE(device, solve::cg_multiply<V>)(device, vectors_, stream);
    WEFT_ON_DEVICE(device, solve::cg_advance<V>)(device, vectors_, stream);
    if (vectors_.z) {
      M_->apply(V(1), VectorView<const V>(vectors_.r, iteration_.size(), device), V(0), z_, stream);
      WEFT_ON_DEVICE(device, solve::cg_precondition<V>)(device, vectors_, stream);
    }
    WEFT_ON_DEVICE(device, solve::cg_turn<V>)(device, vectors_, stream);
  }

  /// Queues iterations and passes on their residuals until the device stops; `none`: the callback wants no more.
  CgEnd go_on(double first) {
    std::int64_t queued = 0, seen = 0;
    double residual = first;
    for (;;) {
      // One block of iterations waits while another one runs, unless the end is near: what is queued too much is
      // multiplied in vain.
      constexpr int block = DeviceQueue::several;
      static_assert(3 * block < static_cast<int>(CgProgress::kept));
      const double expected = iterations_to_go(first, residual, seen);
      while (expected > 2 * block ? queued - seen < 2 * block : queued - seen < 2) {
        const bool many = expected > 2 * block;
        many ? queue_.push_several() : queue_.push();
        queued += many ? block : 1;
        iteration_.count_products(many ? block : 1);
      }
      const auto [iterations, end] = wait_for_more(seen);
      for (; seen < iterations; ++seen) {
        residual = progress_->residuals[(seen + 1) % CgProgress::kept];
        if (iteration_.record(residual)) return CgEnd::none;
      }
      if (end != CgEnd::none) return end;
    }
  }

  /// As far as the residuals so far tell.
  double iterations_to_go(double first, double residual, std::int64_t iterations) const {
    if (iterations == 0) return 4;
    const double to_go = std::log(residual / iteration_.tolerance());
    const double rate = std::log(first / residual) / static_cast<double>(iterations);
    return rate > 0 ? to_go / rate : static_cast<double>(iteration_.iterations_left());
  }

  struct Seen {
    std::int64_t iterations;
    CgEnd end;
  };
  /// Waits for an iteration after the first `seen`, or the end.
  Seen wait_for_more(std::int64_t seen) {
    const std::atomic_ref<unsigned> count(progress_->iterations), end(progress_->end);
    for (unsigned spins = 1;; ++spins) {
      // In this order: the end is reported after the last iteration.
      const auto ended = static_cast<CgEnd>(end.load(std::memory_order_acquire));
      const std::int64_t iterations = count.load(std::memory_order_acquire);
      if (ended != CgEnd::none || iterations > seen) return {iterations, ended};
      if (spins % 1024 != 0) continue;
      if (queue_.is_idle() && count.load(std::memory_order_acquire) == static_cast<unsigned>(seen) &&
          end.load(std::memory_order_acquire) == 0)
        throw Error(ErrorCode::internal, "cg: the device has ended without finishing its iterations");
      std::this_thread::yield();
    }
  }

  double last_rz() const { return state_.download()[0].next_rz; }

  Iteration<V>& iteration_;
  const LinearOperator<V>& A_;
  const LinearOperator<V>* M_;
  const Vector<V>* diagonal_;
  Vector<V> p_, q_, z_;
  Vector<double> parts_;
  Vector<CgState> state_;
  MappedMemory progress_memory_;
  CgProgress* progress_;
  CgVectors<V> vectors_;
  DeviceQueue queue_;
};

}  // namespace weft::solve
