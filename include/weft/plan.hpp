#pragma once
#include <weft/buffer.hpp>
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/order.hpp>
#include <weft/partition.hpp>
#include <weft/runtime.hpp>

#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weft {

/// Several vectors of the same length, one after the other: vector j starts at data + j * stride.
template <class T>
struct Vectors {
  std::span<T> data;
  int count = 1;
  std::size_t stride = 0;
};
template <class T>
struct DeviceVectors {
  DeviceSpan<T> data;
  int count = 1;
  std::size_t stride = 0;
};

struct PlanOptions {
  Device device = Device::cpu();
  std::string format = "auto";      ///< a name of the registry, "csr" or with a variant "csr:vector", or "auto"
  Ordering order = Ordering::none;  ///< store the matrix in this order; x and y stay in yours
  /// For formats that keep the rows in parts: take these, in your numbering of the rows. None: they find their own.
  /// Other formats do not look at it.
  std::shared_ptr<const Partition> partition = nullptr;
  std::int64_t products = 1000;  ///< how often you will multiply: more products pay for a more expensive set-up
  bool transpose = false;        ///< you will also multiply by the transposed matrix
  bool allow_nondeterministic = false;
  Progress progress = {};
};

/// One format `auto` looked at.
struct Candidate {
  std::string format;
  bool built = false;
  double setup_seconds = 0;
  double product_seconds = 0;  ///< 0 when it was not timed
  std::size_t bytes = 0;
  std::string verdict;  ///< "chosen: fastest", "ruled out: ...", "within 5 % of the fastest, but dearer to set up", ...
};

struct PlanInfo {
  std::string format;   ///< with its variant: "csr:vector8"
  std::string details;  ///< parameters the format chose, one line
  Ordering ordering = Ordering::none;
  Device device;
  ValueType type = ValueType::f64;
  Index rows = 0;
  Index cols = 0;
  Offset nonzeros = 0;
  std::size_t bytes = 0;  ///< what the device holds for the matrix (and its transpose, if asked for)
  double bytes_per_nonzero = 0;
  Offset padding = 0;            ///< entries stored besides the matrix's own (without the transposed matrix)
  double setup_seconds = 0;      ///< building the chosen format
  double upload_seconds = 0;     ///< the part of it that only moved the matrix, as csr, to the device; 0 if not told
  double partition_seconds = 0;  ///< the part of it that put rows into parts; 0 for formats without
  double ordering_seconds = 0;   ///< finding the order and reordering the matrix
  double planning_seconds = 0;   ///< everything between the call of plan() and its return
  double product_seconds = 0;    ///< measured by auto; 0 for a named format
  bool deterministic = true;
  bool transpose = false;
  bool stored = false;  ///< `load_plan` took the format from the file as it was
  std::vector<Candidate> candidates;
};
std::ostream& operator<<(std::ostream& out, const PlanInfo& info);

template <Value V>
class Operator;

/// A matrix made ready to multiply on one device. Made by `plan`; cheap to move. `apply` allocates nothing, never waits
/// on the host, and on a GPU works on the caller's stream and inside CUDA graphs. One Plan may be applied from one
/// thread (or stream) at a time, since formats keep a workspace.
///
/// Every overload computes y = alpha op(A) x + beta y. beta == 0 never reads y, alpha == 0 never reads x. x and y must
/// not overlap. Wrong lengths, a device other than the plan's, and Op::transpose on a plan made without `.transpose =
/// true` throw Error(invalid_argument).
template <Value V>
class Plan {
 public:
  explicit Plan(std::unique_ptr<Operator<V>> forward, std::unique_ptr<Operator<V>> transposed, Array<Offset> positions,
                PlanInfo info);
  Plan(Plan&&) noexcept;
  Plan& operator=(Plan&&) noexcept;
  ~Plan();

  void apply(std::span<const V> x, std::span<V> y) { apply(Op::none, V(1), x, V(0), y); }
  void apply(V alpha, std::span<const V> x, V beta, std::span<V> y) { apply(Op::none, alpha, x, beta, y); }
  void apply(Op op, V alpha, std::span<const V> x, V beta, std::span<V> y);
  void apply(Op op, V alpha, Vectors<const V> x, V beta, Vectors<V> y);

  void apply(DeviceSpan<const V> x, DeviceSpan<V> y, Stream stream = {}) { apply(Op::none, V(1), x, V(0), y, stream); }
  void apply(V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream = {}) {
    apply(Op::none, alpha, x, beta, y, stream);
  }
  void apply(Op op, V alpha, DeviceSpan<const V> x, V beta, DeviceSpan<V> y, Stream stream = {});
  void apply(Op op, V alpha, DeviceVectors<const V> x, V beta, DeviceVectors<V> y, Stream stream = {});

  /// New numbers for the same pattern, in the order of the Csr the plan was made from. No new planning.
  void update_values(std::span<const V> csr_values);

  const PlanInfo& info() const { return info_; }
  Device device() const { return info_.device; }

 private:
  void run(Op op, V alpha, const V* x, std::size_t x_size, std::size_t x_stride, V beta, V* y, std::size_t y_size,
           std::size_t y_stride, int count, Stream stream);
  std::unique_ptr<Operator<V>> forward_;
  std::unique_ptr<Operator<V>> transposed_;
  Array<Offset> positions_;  // entry of the transposed matrix -> entry of the matrix
  PlanInfo info_;
};

/// Chooses a format for `matrix` (which must be canonical) and builds it. The plan may share the matrix's arrays; after
/// changing them call update_values. Throws Error(invalid_argument) for an unknown format (naming those there are)
/// and for a partition that is not one of the matrix's rows,
/// Error(unsupported) when the named format cannot do what is asked (naming those that can) or the matrix cannot be put
/// in the order asked for, Error(no_device).
template <Value V>
Plan<V> plan(const Csr<V>& matrix, const PlanOptions& options = {});

/// Plans the matrix of a .weft file. One that is stored in a packed format (see write_weft_as in io.hpp) is used as it
/// is stored, without encoding it anew, when `options.format` is "auto" or that format's plain name and no other
/// order is asked for; otherwise the file is read and planned as `plan` does. Throws as read_weft and plan do: no
/// kernel ever runs on a file that was altered.
template <Value V>
Plan<V> load_plan(const std::string& path, const PlanOptions& options = {});

/// The format that a .weft file keeps its matrix in: "csr", or a packed one's name. Empty for any other file. Throws
/// Error(io) when it cannot be read, Error(parse) when its header is damaged.
std::string stored_format(const std::string& path);

}  // namespace weft
