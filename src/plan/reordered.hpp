#pragma once
#include <weft/buffer.hpp>
#include <weft/order.hpp>
#include <weft/vector.hpp>

#include <memory>

#include "formats/operator.hpp"

namespace weft {

/// How vectors are moved around a product with a reordered matrix; each device has its own two functions.
template <Value V>
struct VectorMoves {
  // The vectors in the workspace have the layout of the product's and no gaps: element i of vector j is at
  // j * count + i, or at i * vectors + j.
  /// to_j[i] = x_j[order[i]] for all vectors of the product.
  void (*gather)(const Index* order, Index count, const Product<V>& product, V* to, Stream stream) = nullptr;
  /// y_j[i] = alpha sums_j[places[i]] + beta y_j[i], not reading y when beta is 0.
  void (*spread)(const Index* places, Index count, const V* sums, const Product<V>& product, Stream stream) = nullptr;
};

/// The order of a matrix's rows and columns on a device, with room for vectors in it. Shared by the formats that are
/// tried on the same reordered matrix.
template <Value V>
class VectorOrder {
 public:
  /// `order` as in `permute`, for a matrix of rows x cols; it is not empty.
  VectorOrder(Device device, Index rows, Index cols, const Order& order);

  /// y = alpha A x + beta y in the caller's order, where `inner` is A reordered.
  void apply(Operator<V>& inner, const Product<V>& product, Stream stream);

  const Order& order() const { return order_; }
  std::size_t bytes() const;  ///< of the row and column numbers

 private:
  /// Vectors that go through the workspace at a time; more are cut into such groups. All of max_vectors would take
  /// twice the memory, as much as many matrices, for little.
  static constexpr int vectors_at_once = 4;
  void apply_group(Operator<V>& inner, const Product<V>& product, Stream stream);

  Device device_;
  Index rows_;
  Index cols_;
  Order order_;
  VectorMoves<V> moves_;
  Vector<Index> columns_;  // column j of the reordered matrix is this one; none when the columns keep their order
  Vector<Index> places_;   // row i of the matrix is this one of the reordered; none when the rows keep theirs
  Vector<V> x_;            // x in the order of the columns
  Vector<V> sums_;         // A x in the order of the rows
};

/// `inner`, which multiplies by the reordered matrix, as an operator in the caller's order. Entry k of the reordered
/// matrix is entry positions[k] of what update_values gets; without positions they are the same.
template <Value V>
std::unique_ptr<Operator<V>> in_callers_order(std::unique_ptr<Operator<V>> inner, std::shared_ptr<VectorOrder<V>> order,
                                              Array<Offset> positions);

}  // namespace weft
