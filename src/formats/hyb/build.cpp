// hyb has no kernels of its own: ell multiplies the first k entries of each row, and coo adds the rest. bro-hyb is the
// same with other parts.
#include <algorithm>
#include <limits>

#include "core/parallel.hpp"
#include "facts/source_facts.hpp"
#include "formats/coo/coo.hpp"
#include "formats/ell/ell.hpp"
#include "formats/hyb/hyb.hpp"
#include "formats/padding_limit.hpp"

namespace weft::hyb {

Index split_width(const RowLengths& rows) {
  Offset as_long = 0;
  for (auto length = rows.row_lengths.rbegin(); length != rows.row_lengths.rend(); ++length) {
    as_long += length->rows;
    if (3 * as_long >= rows.rows) return static_cast<Index>(length->length);
  }
  return 0;
}

namespace {

constexpr std::int64_t rows_per_task = 4096;

/// Copies what `from`, in csr order, holds after the first entries of each row.
template <class T>
void copy_rest(const Array<Offset>& offsets, const Array<Offset>& rest_offsets, const T* from, T* to) {
  parallel_for(static_cast<std::int64_t>(offsets.size()) - 1, rows_per_task, [&](std::int64_t row) {
    const Offset count = rest_offsets[row + 1] - rest_offsets[row];
    std::copy_n(from + (offsets[row + 1] - count), count, to + rest_offsets[row]);
  });
}

template <Value V>
class HybOperator final : public Operator<V> {
 public:
  HybOperator(const MatrixSource<V>& source, Index width, const BuildOptions& ell_options,
              const BuildOptions& coo_options, const Parts& parts, PartBuilder<V> build_ell)
      : parts_(parts), width_(width), entries_(source.nonzeros()), ell_(build_ell(source, width, ell_options)) {
    if (width >= row_lengths(source).longest_row) return;
    const Csr<V> rest = rest_after(source.host(), width);
    offsets_ = source.host().offsets;
    rest_offsets_ = rest.offsets;
    coo_ = parts.coo.build.get<V>()(rest, coo_options);
  }

  void apply(const Product<V>& product, Stream stream) override {
    ell_->apply(product, stream);
    if (!coo_ || product.alpha == V(0)) return;
    Product<V> rest = product;
    rest.beta = V(1);
    coo_->apply(rest, stream);
  }

  void update_values(std::span<const V> csr_values) override {
    ell_->update_values(csr_values);
    if (!coo_) return;
    Array<V> values(static_cast<std::size_t>(rest_offsets_.back()));
    copy_rest(offsets_, rest_offsets_, csr_values.data(), values.data());
    coo_->update_values(std::span<const V>(values));
  }

  void use_isa(Isa isa) override {
    ell_->use_isa(isa);
    if (coo_) coo_->use_isa(isa);
  }

  OperatorInfo info() const override {
    OperatorInfo info = ell_->info();
    const Offset rest = coo_ ? rest_offsets_.back() : 0;
    const std::string details = parts_.reports_details ? " (" + info.details + ")" : "";
    info.details = "k = " + std::to_string(width_) + ", " + std::to_string(rest) + " entries in " +
                   parts_.coo.info.name + ", " + std::to_string(entries_ - rest) + " in " +
                   full_name(parts_.ell.info, info.variant) + details;
    info.variant.clear();
    info.numbers = {{"k", width_}, {parts_.ell_number, info.numbers.at(parts_.ell_number)}};
    if (coo_) {
      const OperatorInfo coo = coo_->info();
      info.bytes += coo.bytes;
      info.padding += coo.padding;
      if (!parts_.coo_number.empty()) info.numbers[parts_.coo_number] = coo.numbers.at(parts_.coo_number);
    }
    return info;
  }

 private:
  Parts parts_;
  Index width_;
  Offset entries_;
  Array<Offset> offsets_;       // shared with the source
  Array<Offset> rest_offsets_;  // empty: there is no rest
  std::unique_ptr<Operator<V>> ell_;
  std::unique_ptr<Operator<V>> coo_;
};

const Parts& parts() {
  static const Parts both{.ell = ell::format(), .coo = coo::format(), .ell_number = "t"};
  return both;
}

template <Value V>
std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source, const BuildOptions& options) {
  return build_hybrid(source, options, parts(), &ell::build_part<V>);
}

}  // namespace

template <Value V>
std::unique_ptr<Operator<V>> build_hybrid(const MatrixSource<V>& source, const BuildOptions& options,
                                          const Parts& parts, PartBuilder<V> build_ell) {
  const RowLengths& rows = row_lengths(source);
  const auto width = static_cast<Index>(std::min(options.parameter("k", split_width(rows)), rows.longest_row));
  const auto options_of = [&](const std::string& number) {
    BuildOptions part{.device = options.device, .tuning = options.tuning};
    if (options.has(number)) part.parameters[number] = options.parameter(number, 0);
    return part;
  };
  BuildOptions ell_options = options_of(parts.ell_number);
  // The rule bounds the padding; a user's k does not, unless it is the rule's.
  if (width == split_width(rows)) ell_options.parameters["padding"] = max_padding_limit;
  return std::make_unique<HybOperator<V>>(source, width, ell_options, options_of(parts.coo_number), parts, build_ell);
}

ParameterInfo k_parameter(const std::string& ell) {
  return {"k", "entries of each row in " + ell + "; else fewer than a third of the rows are longer", 0,
          std::numeric_limits<Index>::max()};
}

template <Value V>
Csr<V> rest_after(const Csr<V>& matrix, Index width) {
  Csr<V> rest;
  rest.rows = matrix.rows;
  rest.cols = matrix.cols;
  rest.offsets = Array<Offset>(matrix.offsets.size());
  parallel_for(matrix.rows, rows_per_task, [&](std::int64_t row) {
    rest.offsets[row] = std::max<Offset>(0, matrix.offsets[row + 1] - matrix.offsets[row] - width);
  });
  prefix_sum(rest.offsets.data(), matrix.rows);
  rest.columns = Array<Index>(static_cast<std::size_t>(rest.nonzeros()));
  rest.values = Array<V>(static_cast<std::size_t>(rest.nonzeros()));
  copy_rest(matrix.offsets, rest.offsets, matrix.columns.data(), rest.columns.data());
  copy_rest(matrix.offsets, rest.offsets, matrix.values.data(), rest.values.data());
  return rest;
}

const Format& format() {
  static const Format format = [] {
    Format f;
    f.info.name = "hyb";
    f.info.summary = "the first entries of each row as ell, the rest of the long ones as coo: mostly even rows";
    f.info.devices = {Device::Kind::cpu, Device::Kind::gpu, Device::Kind::emulator};
    f.info.parameters = {k_parameter("ell"), {"t", "threads per row of ell; else by the mean row length", 1, 32, true}};
    f.info.refuses = "a given k whose padding ell would refuse";
    for_each_real_type([&]<class V>(std::type_identity<V>) { f.build.get<V>() = &build<V>; });
    return f;
  }();
  return format;
}

#define WEFT_INSTANTIATE(V)                                                                                        \
  template Csr<V> rest_after<V>(const Csr<V>&, Index);                                                             \
  template std::unique_ptr<Operator<V>> build_hybrid<V>(const MatrixSource<V>&, const BuildOptions&, const Parts&, \
                                                        PartBuilder<V>);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::hyb
