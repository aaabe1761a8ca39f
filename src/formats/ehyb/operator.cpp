// The operator of ehyb on a CPU, and what operators report.
#include <algorithm>
#include <array>
#include <cstdio>

#include "formats/cpu_operator.hpp"
#include "formats/ehyb/ehyb.hpp"

namespace weft::ehyb {

std::string describe(const Shape& shape, Index parts, Index max_cached, Offset loaded, Offset extra_entries,
                     Offset nonzeros) {
  std::array<char, 160> text{};
  const double cached =
      nonzeros == 0 ? 100 : 100 - 100 * static_cast<double>(extra_entries) / static_cast<double>(nonzeros);
  const int length = std::snprintf(text.data(), text.size(),
                                   "%d part%s, caches of up to %lld elements of x, %.1f %% of entries cached", parts,
                                   parts == 1 ? "" : "s", static_cast<long long>(max_cached) * shape.block, cached);
  std::string result(text.data(), static_cast<std::size_t>(length));
  const std::string b = std::to_string(shape.block);
  if (shape.block > 1) result += ", " + b + " x " + b + " blocks";
  // Reading x from far away is what caching saves: for all entries but the extra ones, at the price of loading. A
  // part of a power-law graph may cache most of its entries, each with an x of its own.
  if (extra_entries + loaded * shape.block > nonzeros / 2) result += "; caching cannot pay";
  return result;
}

namespace {

template <class V>
std::size_t bytes_of(const Storage<V>& storage) {
  const Caches& caches = storage.caches;
  const Extra<V>& extra = storage.extra;
  return caches.row_begin.bytes() + caches.cache_begin.bytes() + caches.cached.bytes() + storage.order.bytes() +
         storage.slice_begin.bytes() + storage.slices.bytes() + storage.columns.bytes() + storage.values.bytes() +
         extra.slices.bytes() + extra.columns.bytes() + extra.values.bytes() + extra.places.bytes() +
         extra.ranges.bytes();
}

template <Value V>
class CpuOperator final : public CpuOperatorBase<V> {
 public:
  CpuOperator(const Csr<V>& matrix, Storage<V> storage)
      : CpuOperatorBase<V>(matrix.rows, matrix.nonzeros()),
        offsets_(matrix.offsets),
        columns_(matrix.columns),
        storage_(std::move(storage)),
        runs_(find_runs(storage_.columns, cpu_slice_rows<V>)),
        max_threads_(threads()) {
    constexpr Offset line = 64 / sizeof(V);  // no cache line for two threads
    cache_stride_ = ((Offset(storage_.max_cached) + 1) * storage_.shape.block + line - 1) / line * line;
    caches_ = Array<V>(static_cast<std::size_t>(cache_stride_ * max_threads_));
    extra_sums_ = Array<V>(static_cast<std::size_t>(storage_.extra.pieces) * max_row_major_vectors);
  }

  Order ordering() override {
    if (own_.order.empty())
      own_ = own_order(storage_.order, storage_.caches.cached, storage_.extra.columns, storage_.shape.block, square());
    return own_.order;
  }
  void apply_in_order(const Product<V>& product, Stream stream) override {
    if (product.alpha == V(0) || this->entries() == 0)
      this->apply(product, stream);  // reads nothing of the matrix
    else
      this->in_good_parts(product, [this](const Product<V>& part) {
        if (square())
          multiply_with(part, own_.cached, own_.extra_columns, nullptr);
        else
          multiply_with(part, storage_.caches.cached, storage_.extra.columns, nullptr);
      });
  }

  std::shared_ptr<const Partition> partition() const override {
    return partition_of_rows(storage_.caches, storage_.shape.block);
  }

  void update_values(std::span<const V> csr_values) override { place_values(offsets_, columns_, csr_values, storage_); }

  OperatorInfo info() const override {
    const Extra<V>& extra = storage_.extra;
    const auto extra_entries = std::ranges::count_if(extra.columns, [](Index column) { return column >= 0; });
    OperatorInfo info;
    info.details = describe(storage_.shape, storage_.caches.parts(), storage_.max_cached,
                            static_cast<Offset>(storage_.caches.cached.size()), extra_entries, this->entries());
    info.bytes = bytes_of(storage_) + runs_.bytes();
    info.padding = static_cast<Offset>(storage_.values.size() + extra.values.size()) - this->entries();
    info.numbers = numbers_of(storage_.shape);
    return info;
  }

 private:
  bool square() const { return storage_.rows == storage_.cols; }

  void multiply(const Product<V>& product) override {
    multiply_with(product, storage_.caches.cached, storage_.extra.columns, storage_.order.data());
  }

  void multiply_with(const Product<V>& product, const Array<Index>& cached, const Array<Index>& extra_columns,
                     const Index* order) {
    constexpr Offset work_per_thread = 4096;
    const int wanted = std::min(max_threads_, useful_threads(this->rows() + this->entries(), work_per_thread));
    const Extra<V>& extra = storage_.extra;
    if (extra.pieces > 0)
      WEFT_CALL_ISA(this->isa(), multiply_extra<V>)({.slice_count = static_cast<Index>(extra.slices.size()),
                                                     .slices = extra.slices.data(),
                                                     .columns = extra_columns.data(),
                                                     .values = extra.values.data(),
                                                     .places = extra.places.data(),
                                                     .pieces = extra.pieces},
                                                    product, extra_sums_.data(), wanted);
    const Caches& caches = storage_.caches;
    WEFT_CALL_ISA(this->isa(), multiply<V>)({.block = storage_.shape.block,
                                             .parts = caches.parts(),
                                             .row_begin = caches.row_begin.data(),
                                             .cache_begin = caches.cache_begin.data(),
                                             .cached = cached.data(),
                                             .order = order,
                                             .slice_begin = storage_.slice_begin.data(),
                                             .slices = storage_.slices.data(),
                                             .columns = storage_.columns.data(),
                                             .runs = runs_.data(),
                                             .values = storage_.values.data(),
                                             .ranges = extra.ranges.data(),
                                             .extra_sums = extra_sums_.data(),
                                             .pieces = extra.pieces},
                                            product, caches_.data(), cache_stride_, wanted);
  }

  Array<Offset> offsets_;  // these and the columns are shared with the matrix: new values are placed by them
  Array<Index> columns_;
  Storage<V> storage_;
  Array<std::uint32_t> runs_;
  OwnOrder own_;  // once requested
  int max_threads_;
  Offset cache_stride_ = 0;
  Array<V> caches_;      // of each thread
  Array<V> extra_sums_;  // of a product's vectors
};

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> make_cpu_operator(const Csr<V>& matrix, Storage<V> storage) {
  return std::make_unique<CpuOperator<V>>(matrix, std::move(storage));
}

#define WEFT_INSTANTIATE(V) template std::unique_ptr<Operator<V>> make_cpu_operator<V>(const Csr<V>&, Storage<V>);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ehyb
