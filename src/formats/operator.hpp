#pragma once
#include <weft/buffer.hpp>
#include <weft/device.hpp>
#include <weft/order.hpp>
#include <weft/partition.hpp>
#include <weft/types.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>

namespace weft {

/// y_j = alpha A x_j + beta y_j for `count` vectors. Element i of vector j of x is x[i + j * x_stride] when
/// column-major, x[i * x_stride + j] when row-major; likewise y. The pointers are of the operator's device. beta == 0:
/// y is not read. alpha == 0: x and A are not read.
template <Value V>
struct Product {
  V alpha = 1;
  const V* x = nullptr;
  std::size_t x_stride = 0;
  V beta = 0;
  V* y = nullptr;
  std::size_t y_stride = 0;
  int count = 1;
  Layout layout = Layout::column_major;

  /// `width` vectors from vector `first` on; x may be null where the matrix has no columns.
  constexpr Product part(int first, int width) const {
    Product some = *this;
    const bool rows = layout == Layout::row_major;
    if (x) some.x += static_cast<std::size_t>(first) * (rows ? 1 : x_stride);
    some.y += static_cast<std::size_t>(first) * (rows ? 1 : y_stride);
    some.count = width;
    return some;
  }
  /// Where a vector starts; column-major.
  constexpr const V* x_of(int vector) const { return x + static_cast<std::size_t>(vector) * x_stride; }
  constexpr V* y_of(int vector) const { return y + static_cast<std::size_t>(vector) * y_stride; }
};

/// The most vectors one `apply` takes; the plan cuts longer lists into such groups.
constexpr int max_vectors = 8;
/// The same on a CPU where they are row-major.
constexpr int max_row_major_vectors = 16;
constexpr int max_vectors_at_once(Device device, Layout layout) {
  return device.is_cpu() && layout == Layout::row_major ? max_row_major_vectors : max_vectors;
}

/// What a built operator says about itself.
struct OperatorInfo {
  std::string variant;  ///< "vector8"; empty when the format has just one way
  std::string details;  ///< parameters it chose, one line for people
  std::size_t bytes = 0;
  Offset padding = 0;                                ///< entries stored besides the matrix's own
  std::map<std::string, std::int64_t> numbers = {};  ///< its parameters, as they are: given to it, it is built the same
};

/// A matrix in one format on one device: what every format implements. `apply` allocates nothing, does not wait (but
/// for variants that say so, see VariantInfo::waits), and uses only `stream`.
template <Value V>
class Operator {
 public:
  Operator() = default;
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;
  virtual ~Operator() = default;

  virtual void apply(const Product<V>& product, Stream stream) = 0;
  /// New values in the order of the matrix the operator was built from; the length has been checked. Done when it
  /// returns.
  virtual void update_values(std::span<const V> csr_values) = 0;
  /// The same with values on the operator's device, a GPU or the emulator.
  virtual void update_values(DeviceSpan<const V> csr_values) {
    Array<V> host(csr_values.size());
    detail::copy_to_host(csr_values.device(), host.data(), csr_values.data(), host.bytes(), {});
    update_values(std::span<const V>(host));
  }
  virtual OperatorInfo info() const = 0;

  /// The order that the format keeps rows and columns in, which saves it the way to the caller's and back; empty: it
  /// has none. Makes ready what apply_in_order needs, so it may allocate.
  virtual Order ordering() { return {}; }
  /// As `apply`, with x and y in that order. `ordering` has been called.
  virtual void apply_in_order(const Product<V>& product, Stream stream) { apply(product, stream); }

  /// The parts that the format keeps the rows in, for others to take; null: it has none.
  virtual std::shared_ptr<const Partition> partition() const { return nullptr; }
};

}  // namespace weft
