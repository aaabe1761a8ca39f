#pragma once
#include <weft/types.hpp>

#include <cstdint>

#include "simt/on_device.hpp"

// Passes over vectors on a device whose numbers stay there, so that iterations can be queued one after the other
// (device_steps.cu).
namespace weft::solve {

/// Sums over vectors are stored in at most this many parts. Whoever needs the sum adds them up, in one order.
constexpr int max_parts = 512;

/// Why queued conjugate gradients stopped.
enum class CgEnd : unsigned {
  none,
  tolerance,
  iterations,
  diverged,
  not_finite,
  product,         ///< p.A p is not positive
  preconditioner,  ///< r.M r is not positive
};

/// What the kernels of an iteration leave to each other, in the device's memory. A kernel never reads what another
/// block of it writes.
struct CgState {
  double rz = 0;       ///< r.M r of this iteration
  double next_rz = 0;  ///< and of the next one
  double product = 0;  ///< p.A p
  double first_product = 0;
  double tolerance = 0;
  double max_residual = 0;  ///< beyond it the method diverges
  std::int64_t iteration = 0;
  std::int64_t max_iterations = 0;
  CgEnd end = CgEnd::none;
  unsigned ended = 0;  ///< `end` is not none since the last iteration: nothing changes any more
};

/// What the host reads meanwhile, in memory that both see.
struct CgProgress {
  static constexpr unsigned kept = 64;
  unsigned iterations = 0;
  unsigned end = 0;  ///< a CgEnd; written after `iterations` and everything else
  double product = 0, first_product = 0;
  double residuals[kept] = {};  ///< of iteration i in element i % kept
};

/// The vectors of conjugate gradients. r.M r is formed where r is, if M is a `diagonal`; else z = M r is used.
template <Value V>
struct CgVectors {
  std::int64_t count = 0;
  V* x = nullptr;
  V* r = nullptr;
  V* p = nullptr;
  V* q = nullptr;               ///< A p
  const V* z = nullptr;         ///< null where M is the identity or a diagonal
  const V* diagonal = nullptr;  ///< null: all ones
  double* parts = nullptr;      ///< of three sums: p.q, r.r and r.M r
  CgState* state = nullptr;
  CgProgress* progress = nullptr;
};
/// Elements of CgVectors::parts.
constexpr int cg_parts = 3 * max_parts;

}  // namespace weft::solve

WEFT_DECLARE_ON_DEVICES(solve, using ::weft::solve::CgVectors;
                        /* y = alpha d x + beta y, element by element */
                        template <Value V> void scale_rows(Device device, std::int64_t count, V alpha, const V* d,
                                                           const V* x, V beta, V* y, Stream stream);
                        /* The parts of p.q; begins an iteration. */
                        template <Value V> void cg_multiply(Device device, const CgVectors<V>& cg, Stream stream);
                        /* r -= alpha q, and the parts of r.r, and those of r.M r but for z */
                        template <Value V> void cg_advance(Device device, const CgVectors<V>& cg, Stream stream);
                        /* The parts of r.z */
                        template <Value V> void cg_precondition(Device device, const CgVectors<V>& cg, Stream stream);
                        /* x += alpha p, p = M r + beta p; decides whether to go on, and reports */
                        template <Value V> void cg_turn(Device device, const CgVectors<V>& cg, Stream stream);)
