#include "plan/reordered.hpp"

#include <algorithm>

#include "core/gpu_runtime.hpp"
#include "core/parallel.hpp"
#include "formats/vectors.hpp"
#include "simt/on_device.hpp"
#include "sparse/permutation.hpp"

WEFT_DECLARE_ON_DEVICES(reordered, template <Value V>::weft::VectorMoves<V> vector_moves();)

namespace weft {
namespace {

constexpr std::int64_t grain = 1 << 14;

template <Value V>
void gather_on_cpu(const Index* order, Index count, const Product<V>& product, V* to, Stream) {
  const int vectors = product.count;
  if (product.layout == Layout::row_major)
    return parallel_for(count, grain / vectors, [&](std::int64_t i) {
      const V* const x = product.x + static_cast<std::size_t>(order[i]) * product.x_stride;
      for (int j = 0; j < vectors; ++j) to[i * vectors + j] = x[j];
    });
  for (int j = 0; j < product.count; ++j) {
    const V* x = product.x + static_cast<std::size_t>(j) * product.x_stride;
    V* target = to + static_cast<std::size_t>(j) * static_cast<std::size_t>(count);
    parallel_for(count, grain, [&](std::int64_t i) { target[i] = x[order[i]]; });
  }
}

template <Value V>
void spread_on_cpu(const Index* places, Index count, const V* sums, const Product<V>& product, Stream) {
  const int vectors = product.count;
  if (product.layout == Layout::row_major)
    return parallel_for(count, grain / vectors, [&](std::int64_t i) {
      const V* const from = sums + static_cast<std::int64_t>(places[i]) * vectors;
      V* const y = product.y + static_cast<std::size_t>(i) * product.y_stride;
      for (int j = 0; j < vectors; ++j) {
        const V sum = product.alpha * from[j];
        y[j] = product.beta == V(0) ? sum : sum + product.beta * y[j];
      }
    });
  for (int j = 0; j < product.count; ++j) {
    V* y = product.y + static_cast<std::size_t>(j) * product.y_stride;
    const V* from = sums + static_cast<std::size_t>(j) * static_cast<std::size_t>(count);
    parallel_for(count, grain, [&](std::int64_t i) {
      const V sum = product.alpha * from[places[i]];
      y[i] = product.beta == V(0) ? sum : sum + product.beta * y[i];
    });
  }
}

template <Value V>
VectorMoves<V> moves_on(Device device) {
  if (device.is_cpu()) return {&gather_on_cpu<V>, &spread_on_cpu<V>};
  return WEFT_ON_DEVICE(device, reordered::vector_moves<V>)();
}

}  // namespace

template <Value V>
VectorOrder<V>::VectorOrder(Device device, Index rows, Index cols, const Order& order)
    : device_(device), rows_(rows), cols_(cols), order_(order), moves_(moves_on<V>(device)) {
  if (!order.columns.empty()) {
    columns_ = Vector<Index>(device, order.columns);
    x_ = Vector<V>(device, static_cast<std::size_t>(cols) * vectors_at_once);
  }
  if (!order.rows.empty()) {
    places_ = Vector<Index>(device, inverse_permutation(order.rows, rows, "the order of the rows"));
    sums_ = Vector<V>(device, static_cast<std::size_t>(rows) * vectors_at_once);
  }
}

template <Value V>
std::size_t VectorOrder<V>::bytes() const {
  return columns_.bytes() + places_.bytes();
}

template <Value V>
void VectorOrder<V>::apply(Operator<V>& inner, const Product<V>& product, Stream stream) {
  // The rows' order does not matter to beta y, and nothing else is wanted.
  if (product.alpha == V(0)) return inner.apply(product, stream);
  const gpu::CurrentDevice current(device_);
  for (int first = 0; first < product.count; first += vectors_at_once) {
    apply_group(inner, product.part(first, std::min(vectors_at_once, product.count - first)), stream);
  }
}

template <Value V>
void VectorOrder<V>::apply_group(Operator<V>& inner, const Product<V>& product, Stream stream) {
  Product<V> work = product;
  const bool row_major = product.layout == Layout::row_major;
  const auto stride = [&](Index length) { return static_cast<std::size_t>(row_major ? product.count : length); };
  if (columns_.size() > 0) {
    moves_.gather(columns_.data(), cols_, product, x_.data(), stream);
    work.x = x_.data();
    work.x_stride = stride(cols_);
  }
  if (places_.size() == 0) return inner.apply(work, stream);
  work.alpha = 1;
  work.beta = 0;
  work.y = sums_.data();
  work.y_stride = stride(rows_);
  inner.apply(work, stream);
  moves_.spread(places_.data(), rows_, sums_.data(), product, stream);
}

namespace {

template <Value V>
class ReorderedOperator final : public Operator<V> {
 public:
  ReorderedOperator(std::unique_ptr<Operator<V>> inner, std::shared_ptr<VectorOrder<V>> order, Array<Offset> positions)
      : inner_(std::move(inner)), order_(std::move(order)), positions_(std::move(positions)) {}

  void apply(const Product<V>& product, Stream stream) override { order_->apply(*inner_, product, stream); }

  /// The reordered matrix's own order, or the order that it was put in: either way nothing is left to permute.
  Order ordering() override {
    const Order inner = inner_->ordering();
    return {compose(order_->order().rows, inner.rows), compose(order_->order().columns, inner.columns)};
  }
  void apply_in_order(const Product<V>& product, Stream stream) override { inner_->apply_in_order(product, stream); }

  void update_values(std::span<const V> csr_values) override {
    if (positions_.empty()) return inner_->update_values(csr_values);
    Array<V> values(csr_values.size());
    parallel_for(static_cast<std::int64_t>(values.size()), 1 << 15,
                 [&](std::int64_t i) { values[i] = csr_values[positions_[i]]; });
    inner_->update_values(std::span<const V>(values));
  }

  /// Of the reordered rows.
  std::shared_ptr<const Partition> partition() const override { return inner_->partition(); }

  OperatorInfo info() const override {
    OperatorInfo info = inner_->info();
    info.bytes += order_->bytes();
    return info;
  }

 private:
  static Array<Index> compose(const Array<Index>& outer, const Array<Index>& inner) {
    if (inner.empty()) return outer;
    if (outer.empty()) return inner;
    Array<Index> both(inner.size());
    parallel_for(static_cast<std::int64_t>(both.size()), grain, [&](std::int64_t i) { both[i] = outer[inner[i]]; });
    return both;
  }

  std::unique_ptr<Operator<V>> inner_;
  std::shared_ptr<VectorOrder<V>> order_;
  Array<Offset> positions_;
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> in_callers_order(std::unique_ptr<Operator<V>> inner, std::shared_ptr<VectorOrder<V>> order,
                                              Array<Offset> positions) {
  return std::make_unique<ReorderedOperator<V>>(std::move(inner), std::move(order), std::move(positions));
}

#define WEFT_INSTANTIATE(V)                                                               \
  template class VectorOrder<V>;                                                          \
  template std::unique_ptr<Operator<V>> in_callers_order<V>(std::unique_ptr<Operator<V>>, \
                                                            std::shared_ptr<VectorOrder<V>>, Array<Offset>);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
