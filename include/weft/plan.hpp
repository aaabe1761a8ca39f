#pragma once
#include <weft/buffer.hpp>
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/export.hpp>
#include <weft/linear_operator.hpp>
#include <weft/order.hpp>
#include <weft/partition.hpp>
#include <weft/runtime.hpp>
#include <weft/source.hpp>

#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Several vectors of the same length. Element i of vector j is data[i + j * stride] when column-major, and
/// data[i * stride + j] when row-major, which serves all vectors with one pass over the matrix: the fastest way to
/// multiply several. x and y of a product have the same layout. `data` has room for the last element of the last
/// vector at least; a single column-major vector is exactly `data`, a single row-major one has gaps of stride - 1.
template <class T>
struct Vectors {
  std::span<T> data;
  int count = 1;
  std::size_t stride = 0;
  Layout layout = Layout::column_major;

  operator Vectors<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, count, stride, layout};
  }
};
template <class T>
struct DeviceVectors {
  DeviceSpan<T> data;
  int count = 1;
  std::size_t stride = 0;
  Layout layout = Layout::column_major;

  operator DeviceVectors<const T>() const
    requires(!std::is_const_v<T>)
  {
    return {data, count, stride, layout};
  }
};

struct PlanOptions {
  std::optional<Device> device = {};  ///< where to multiply; none: where the matrix is
  std::string format =
      "auto";  ///< a name of the registry, "csr" or with a variant "csr:vector", a PlanInfo::recipe, or "auto"
  Ordering order = Ordering::none;  ///< store the matrix in this order; x and y stay in yours
  /// For formats that keep the rows in parts: take these, in your numbering of the rows. None: they find their own.
  /// Other formats do not look at it.
  std::shared_ptr<const Partition> partition = nullptr;
  /// Where your rows are in space, or your nodes of equally many rows, if you know: formats that keep the rows in parts
  /// then need no search for them. Other formats do not look at it, nor does anyone where `partition` is given.
  std::shared_ptr<const Coordinates> coordinates = nullptr;
  std::int64_t products = 1000;  ///< how often you will multiply: more products pay for a more expensive set-up
  bool transpose = false;        ///< you will also multiply by the transposed matrix
  bool allow_nondeterministic = false;
  /// `auto` chooses again what it chose before for this matrix on this machine, without trials, and keeps what it
  /// chooses now. false: it tries anew, and keeps nothing.
  bool remember = true;
  Progress progress = {};
};

/// One format `auto` looked at.
struct Candidate {
  std::string format;
  bool built = false;  ///< for this plan
  double setup_seconds = 0;
  double product_seconds = 0;  ///< 0 when it was not timed
  std::size_t bytes = 0;
  double predicted_setup_seconds = 0;    ///< predictions are 0 where none was made
  double predicted_product_seconds = 0;  ///< from facts about matrix and device, before anything was built
  std::size_t predicted_bytes = 0;
  std::string verdict;  ///< "chosen: fastest", "ruled out: ...", "within 5 % of the fastest, but dearer to set up", ...
};

struct PlanInfo {
  std::string format;   ///< with its variant: "csr:vector8"
  std::string details;  ///< parameters the format chose, one line
  /// The format with all its numbers, and the order before it if there is one (see Recipe in formats.hpp). As
  /// PlanOptions::format it builds the same storage, which gives the same bits, on any machine with such a device. A
  /// partition or coordinates of yours are not in it: give them again. Empty where a file that was loaded as it is
  /// stored does not say how it was made.
  std::string recipe;
  Ordering ordering = Ordering::none;
  Device device;
  ValueType type = ValueType::f64;
  Index rows = 0;
  Index cols = 0;
  Offset nonzeros = 0;
  std::size_t bytes = 0;  ///< what the device holds for the matrix (and its transpose, if asked for)
  double bytes_per_nonzero = 0;
  Offset padding = 0;           ///< entries stored besides the matrix's own (without the transposed matrix)
  SetupTimes setup;             ///< of the chosen format (and its transpose), with what it needed of the source
  double planning_seconds = 0;  ///< everything between the call of plan() and its return
  double product_seconds = 0;   ///< measured by auto; 0 for a named format
  double tried_seconds = 0;     ///< of the planning, what `auto` spent on formats that it then did not choose ...
  double budget_seconds = 0;    ///< ... of so much: a tenth of what all products would take with csr
  bool deterministic = true;
  bool transpose = false;
  bool stored = false;      ///< `load_plan` took the format from the file as it was
  bool remembered = false;  ///< `auto` chose this before: the candidates' measured times are those of then
  std::vector<Candidate> candidates;
};
WEFT_API std::ostream& operator<<(std::ostream& out, const PlanInfo& info);

template <Value V>
class PlanState;

/// A matrix made ready to multiply on one device. Made by `plan`; cheap to move. `apply` allocates nothing, never waits
/// on the host, and on a GPU works on the caller's stream and inside CUDA graphs (the variant csr:speculative-cpu,
/// which must be requested by name, is the one exception: it waits). One Plan may be applied from one thread (or
/// stream) at a time, since formats keep a workspace.
///
/// Every overload computes y = alpha op(A) x + beta y. beta == 0 never reads y, alpha == 0 never reads x. Wrong
/// lengths, overlapping x and y, x and y of different layouts or counts, a stride below the length of a vector
/// (column-major) or the number of vectors (row-major), a device other than the plan's, and Op::transpose on a plan
/// made without `.transpose = true` throw Error(invalid_argument); so does every use of a plan that was moved from.
/// Vectors of x and y may be interleaved where they share no element, e.g. as ranges of columns of one row-major array;
/// what is between a row's elements and the next row is never read or written.
template <Value V>
class WEFT_API Plan final : public LinearOperator<V> {
 public:
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan() override;

  void apply(std::span<const V> x, std::span<V> y) const { apply(Op::none, V(1), x, V(0), y); }
  void apply(V alpha, std::span<const V> x, V beta, std::span<V> y) const { apply(Op::none, alpha, x, beta, y); }
  void apply(Op op, V alpha, std::span<const V> x, V beta, std::span<V> y) const;
  void apply(Op op, V alpha, Vectors<const V> x, V beta, Vectors<V> y) const;

  void apply(DeviceSpan<const V> x, DeviceSpan<V> y, Stream stream = {}) const {
    apply(Op::none, V(1), x, V(0), y, stream);
  }
  void apply(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream = {}) const {
    apply(Op::none, alpha, x, beta, y, stream);
  }
  void apply(Op op, V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream = {}) const;
  void apply(Op op, V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream = {}) const;

  /// As a LinearOperator: vectors on the plan's device, whichever that is.
  void apply(V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream = {}) const override;
  void apply(Op op, V alpha, VectorView<const V> x, V beta, VectorView<V> y, Stream stream = {}) const;
  void apply(const Vector<V>& x, Vector<V>& y, Stream stream = {}) const { apply(V(1), x, V(0), y, stream); }
  void apply(V alpha, const Vector<V>& x, V beta, Vector<V>& y, Stream stream = {}) const {
    apply(alpha, VectorView<const V>(x), beta, VectorView<V>(y), stream);
  }

  /// The order that the plan keeps rows and columns in; empty parts keep the caller's. A solver that keeps its vectors
  /// in it avoids permuting x and y on every product:
  ///
  ///   const Order order = plan.ordering();
  ///   gather(b, order.rows, own_b);      // once
  ///   ... iterate with plan.apply_in_order(p, q) ...
  ///   scatter(own_x, order.columns, x);  // once
  ///
  /// Row and column orders are the same for square matrices in formats of their own order. May allocate, on the device
  /// too (by the first call only); the plan's info does not count that.
  Order ordering();

  /// y = alpha A x + beta y with x in the order of the columns and y in that of the rows, to the bit what `apply` gives
  /// but for their order (up to rounding with a PlanOptions::order). Formats without an order of their own do what
  /// `apply` does. Never the transposed matrix: that one is stored in an order of its own. Throws as `apply`, and
  /// Error(invalid_argument) before the first call of `ordering`.
  void apply_in_order(std::span<const V> x, std::span<V> y) const { apply_in_order(V(1), x, V(0), y); }
  void apply_in_order(V alpha, std::span<const V> x, V beta, std::span<V> y) const;
  void apply_in_order(V alpha, Vectors<const V> x, V beta, Vectors<V> y) const;
  void apply_in_order(DeviceSpan<const V> x, DeviceSpan<V> y, Stream stream = {}) const {
    apply_in_order(V(1), x, V(0), y, stream);
  }
  void apply_in_order(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream = {}) const;
  void apply_in_order(V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream = {}) const;

  /// New numbers for the same pattern, in the order of the matrix the plan was made from: on the host, or on the plan's
  /// device. No new planning. Done when it returns.
  void update_values(std::span<const V> csr_values);
  void update_values(DeviceSpan<const V> csr_values);

  const PlanInfo& info() const;
  Index rows() const override { return info().rows; }
  Index cols() const override { return info().cols; }
  Device device() const override { return info().device; }

 private:
  friend class PlanState<V>;
  explicit Plan(std::unique_ptr<PlanState<V>> state);
  PlanState<V>& state() const;  // throws when it was moved from
  std::unique_ptr<PlanState<V>> state_;
};

/// Chooses a format for the matrix (which must be canonical) and builds it. The plan may share or borrow the matrix's
/// arrays (see MatrixSource): csr does, other formats keep at most its row offsets. After changing values call
/// update_values. Throws Error(invalid_argument) for an unknown format (naming those there are)
/// and for a partition that is not one of the matrix's rows,
/// Error(unsupported) when the named format cannot do what is requested (naming those that can) or the matrix cannot be
/// put in the requested order, Error(no_device).
template <Value V>
WEFT_API Plan<V> plan(const MatrixSource<V>& source, const PlanOptions& options = {});
template <Value V>
Plan<V> plan(const Csr<V>& matrix, const PlanOptions& options = {}) {
  return plan(MatrixSource<V>(matrix), options);
}
template <Value V, OffsetType O>
Plan<V> plan(const CsrView<V, O>& matrix, const PlanOptions& options = {}) {
  return plan(MatrixSource<V>(matrix), options);
}
template <Value V, OffsetType O>
Plan<V> plan(const DeviceCsr<V, O>& matrix, const PlanOptions& options = {}) {
  return plan(MatrixSource<V>(matrix), options);
}

/// Plans the matrix of a .weft file. One that is stored in a packed format (see write_weft_as in io.hpp) is used as it
/// is stored, without encoding it anew, when `options.format` is "auto" or that format's plain name and no other
/// order is asked for; otherwise the file is read and planned as `plan` does, by the recipe in the file where the parts
/// or the device are others. Throws as read_weft and plan do: no kernel ever runs on a file that was altered.
template <Value V>
WEFT_API Plan<V> load_plan(const std::string& path, const PlanOptions& options = {});

/// The format that a .weft file keeps its matrix in: "csr", or a packed one's name. Empty for any other file. Throws
/// Error(io) when it cannot be read, Error(parse) when its header is damaged.
WEFT_API std::string stored_format(const std::string& path);

/// The PlanInfo::recipe of what a .weft file holds in a packed format. Empty where it does not say, as files of earlier
/// versions of Weft, and for any other file. Throws as stored_format.
WEFT_API std::string stored_recipe(const std::string& path);

}  // namespace weft
