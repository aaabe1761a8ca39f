// sell: set-up on the CPU, and the operator there.
#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "formats/padding_limit.hpp"
#include "formats/sell/sell.hpp"
#include "formats/vectors.hpp"

namespace weft::sell {
namespace {

constexpr Index rows_at_once = 4096;  // of a parallel loop

/// Sorts the rows of one window by length, longest first; rows of the same length keep their order.
void sort_window(const Offset* offsets, Index begin, Index end, Index* order, std::vector<Index>& starts) {
  const auto length = [&](Index row) { return static_cast<Index>(offsets[row + 1] - offsets[row]); };
  Index longest = 0;
  for (Index row = begin; row < end; ++row) longest = std::max(longest, length(row));
  if (longest > 4 * static_cast<Offset>(end - begin) + 1024) {
    for (Index row = begin; row < end; ++row) order[row] = row;
    std::sort(order + begin, order + end,
              [&](Index a, Index b) { return length(a) != length(b) ? length(a) > length(b) : a < b; });
    return;
  }
  // Counted: starts[l] is where rows of length longest - l begin.
  starts.assign(static_cast<std::size_t>(longest) + 2, 0);
  for (Index row = begin; row < end; ++row) ++starts[static_cast<std::size_t>(longest - length(row)) + 1];
  for (std::size_t l = 1; l < starts.size(); ++l) starts[l] += starts[l - 1];
  for (Index row = begin; row < end; ++row)
    order[begin + starts[static_cast<std::size_t>(longest - length(row))]++] = row;
}

}  // namespace

Array<Index> sorted_rows(const Array<Offset>& offsets, Index rows, Index window) {
  if (window <= 1 || rows == 0) return {};
  Array<Index> order(static_cast<std::size_t>(rows));
  const Offset count = (Offset(rows) + window - 1) / window;
  parallel_ranges(count, std::max(1, rows_at_once / window), [&](std::int64_t first, std::int64_t last) {
    std::vector<Index> starts;
    for (std::int64_t w = first; w < last; ++w)
      sort_window(offsets.data(), static_cast<Index>(w * window),
                  static_cast<Index>(std::min<Offset>(rows, (w + 1) * window)), order.data(), starts);
  });
  return order;
}

namespace {

/// Widths and bases of all slices; they are not yet laid out.
template <Value V>
void measure_slices(const Csr<V>& matrix, Storage<V>& storage) {
  const Shape& shape = storage.shape;
  const Index c = shape.slice_rows;
  parallel_for(static_cast<std::int64_t>(storage.slices.size()), rows_at_once / c, [&](std::int64_t s) {
    const auto first = static_cast<Index>(s * c);
    const Index count = std::min(c, storage.rows - first);
    Index longest = 0, shortest = std::numeric_limits<Index>::max(), low = std::numeric_limits<Index>::max(), high = -1;
    for (Index i = 0; i < count; ++i) {
      const Index row = storage.order.empty() ? first + i : storage.order[first + i];
      const Offset begin = matrix.offsets[row], end = matrix.offsets[row + 1];
      longest = std::max(longest, static_cast<Index>(end - begin));
      shortest = std::min(shortest, static_cast<Index>(end - begin));
      if (begin == end) continue;
      low = std::min(low, matrix.columns[begin]);
      high = std::max(high, matrix.columns[end - 1]);
    }
    Slice& slice = storage.slices[s];
    slice.width = static_cast<Index>(round_up(longest, shape.threads));
    slice.base = longest == 0 ? 0 : high - low <= largest_short_column ? low : -1;
    storage.shortest[s] = count < c ? 0 : shortest;
  });
}

/// Gives every slice its place. Returns the entries and the units of columns that all take.
template <Value V>
std::pair<Offset, Offset> lay_out(Storage<V>& storage) {
  const Index c = storage.shape.slice_rows;
  Census census;
  for (const Slice& slice : storage.slices) {
    census.widest = std::max(census.widest, slice.width);
    census.short_slices += slice.base >= 0;
    census.entries += round_up(Offset(slice.width) * c, slice_alignment);
  }
  storage.short_slices = census.short_slices;
  storage.equally_wide = worth_widening(storage.shape, census, static_cast<Index>(storage.slices.size()));
  Offset entry = 0, column = 0;
  for (Slice& slice : storage.slices) {
    if (storage.equally_wide) slice.width = census.widest;
    slice.entry = entry;
    slice.column = column;
    const Offset size = round_up(Offset(slice.width) * c, slice_alignment);
    entry += size;
    column += slice.base >= 0 ? size : 2 * size;
  }
  return {entry, column};
}

/// Calls body(entry of csr, or -1 for padding, and its place) for the slots of one slice.
template <Value V, class F>
void for_each_place(const Storage<V>& storage, const Array<Offset>& offsets, Index s, F&& body) {
  const Index c = storage.shape.slice_rows;
  const Slice& slice = storage.slices[s];
  for (Index i = 0; i < c; ++i) {
    const Offset slot = Offset(s) * c + i;
    Offset begin = 0, end = 0;
    if (slot < storage.rows) {
      const Index row = storage.order.empty() ? static_cast<Index>(slot) : storage.order[slot];
      begin = offsets[row];
      end = offsets[row + 1];
    }
    for (Index k = 0; k < slice.width; ++k)
      body(k < end - begin ? begin + k : -1, place_in_slice(i, k, c, slice.width, storage.shape.group));
  }
}

template <Value V>
void fill(const Csr<V>& matrix, Storage<V>& storage) {
  const Index c = storage.shape.slice_rows;
  parallel_for(static_cast<std::int64_t>(storage.slices.size()), std::max(1, 256 / c), [&](std::int64_t s) {
    const Slice& slice = storage.slices[s];
    V* const values = storage.values.data() + slice.entry;
    std::uint16_t* const narrow = storage.columns.data() + slice.column;
    Index* const wide = reinterpret_cast<Index*>(narrow);  // slices begin at multiples of 16 bytes
    const auto set = [&](Offset place, Index column, V value) {
      values[place] = value;
      if (slice.base >= 0)
        narrow[place] = column < 0 ? padding_column<std::uint16_t> : static_cast<std::uint16_t>(column - slice.base);
      else
        wide[place] = column;
    };
    const Offset used = Offset(slice.width) * c;
    for (Offset gap = used; gap < round_up(used, slice_alignment); ++gap) set(gap, padding_column<Index>, V(0));
    for_each_place(storage, matrix.offsets, static_cast<Index>(s), [&](Offset from, Offset place) {
      if (from < 0)
        set(place, padding_column<Index>, V(0));
      else
        set(place, matrix.columns[from], matrix.values[from]);
    });
  });
}

}  // namespace

template <Value V>
void place_values(const Storage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values, V* values) {
  parallel_for(static_cast<std::int64_t>(storage.slices.size()), std::max(1, 256 / storage.shape.slice_rows),
               [&](std::int64_t s) {
                 V* const to = values + storage.slices[s].entry;
                 for_each_place(storage, offsets, static_cast<Index>(s), [&](Offset from, Offset place) {
                   if (from >= 0) to[place] = csr_values[static_cast<std::size_t>(from)];
                 });
               });
}

template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options) {
  Storage<V> storage;
  storage.shape = shape;
  storage.rows = matrix.rows;
  storage.order = sorted_rows(matrix.offsets, matrix.rows, shape.window);
  const Offset slices = (Offset(matrix.rows) + shape.slice_rows - 1) / shape.slice_rows;
  storage.slices = Array<Slice>(static_cast<std::size_t>(slices));
  storage.shortest = Array<Index>(static_cast<std::size_t>(slices));
  measure_slices(matrix, storage);
  const auto [entries, units] = lay_out(storage);
  require_little_padding("sell", entries, matrix.nonzeros(), sizeof(V) + 2, options, "bce");
  storage.values = Array<V>(static_cast<std::size_t>(entries));
  storage.columns = Array<std::uint16_t>(static_cast<std::size_t>(units));
  fill(matrix, storage);
  return storage;
}

namespace {

template <Value V>
class CpuOperator final : public Operator<V> {
 public:
  CpuOperator(const Csr<V>& matrix, const BuildOptions& options)
      : storage_(build_storage(matrix, choose_shape(matrix.offsets, matrix.rows, options, sizeof(V)), options)),
        offsets_(matrix.offsets) {}

  void apply(const Product<V>& product, Stream) override {
    if (product.alpha == V(0) || offsets_.back() == 0) return scale_on_cpu(product, storage_.rows);
    const CpuMatrix<V> view{.rows = storage_.rows,
                            .slice_rows = storage_.shape.slice_rows,
                            .slice_count = static_cast<Index>(storage_.slices.size()),
                            .slices = storage_.slices.data(),
                            .shortest = storage_.shortest.data(),
                            .order = storage_.order.empty() ? nullptr : storage_.order.data(),
                            .columns = storage_.columns.data(),
                            .values = storage_.values.data()};
    constexpr Offset entries_a_thread = 4096;  // fewer do not pay for waking it
    const Offset useful = 1 + (storage_.rows + static_cast<Offset>(storage_.values.size())) / entries_a_thread;
    WEFT_CALL_ISA(multiply<V>)(view, product, static_cast<int>(std::min<Offset>(threads(), useful)));
  }

  void update_values(std::span<const V> csr_values) override {
    place_values<V>(storage_, offsets_, csr_values, storage_.values.data());
  }

  OperatorInfo info() const override {
    OperatorInfo info;
    info.details = describe(storage_.shape, storage_.short_slices, static_cast<Index>(storage_.slices.size()), false);
    info.bytes = storage_.order.bytes() + storage_.slices.bytes() + storage_.shortest.bytes() +
                 storage_.columns.bytes() + storage_.values.bytes();
    info.padding = static_cast<Offset>(storage_.values.size()) - offsets_.back();
    return info;
  }

 private:
  Storage<V> storage_;
  Array<Offset> offsets_;  // shared with the caller's matrix
};

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  const Csr<V>& matrix = source.host();
  if (options.device.is_cpu()) return std::make_unique<CpuOperator<V>>(matrix, options);
  return WEFT_ON_DEVICE(options.device, sell::build<V>)(source, options);
}

/// A slice is as wide as its longest row: one long row costs C times its length.
std::string rules_out(const RowLengths& rows, Device) {
  constexpr double slice_rows = 32, most = 0.2;
  if (slice_rows * static_cast<double>(rows.longest_row) > most * static_cast<double>(rows.nonzeros))
    return "the slice of the longest row would be mostly padding";
  return {};
}

}  // namespace

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "sell";
    f.info.summary = "slices of rows, each as wide as its longest row, with 16-bit columns where they fit";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {
        {"c", "rows a slice, 4 to 64 (GPU 32, CPU 8 in f64 and 16 in f32)", 4, 64},
        {"sigma", "rows are sorted by length in windows of so many (1, or more if that saves 1 %)", 1,
         std::numeric_limits<Index>::max()},
        {"t", "threads a row on a GPU (1, or more where rows are few and long)", 1, 32, true},
        padding_parameter(),
    };
    f.info.refuses = refuses_padding();
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    f.setup_products = 30;
    f.rules_out = &rules_out;
    return f;
  }();
  return format;
}

#define WEFT_INSTANTIATE(V)                                                               \
  template Storage<V> build_storage<V>(const Csr<V>&, const Shape&, const BuildOptions&); \
  template void place_values<V>(const Storage<V>&, const Array<Offset>&, std::span<const V>, V*);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::sell
