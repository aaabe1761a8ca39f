#pragma once
#include <weft/buffer.hpp>
#include <weft/csr.hpp>
#include <weft/export.hpp>
#include <weft/types.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <string>

namespace weft {

/// Row offsets as other libraries have them: 32 or 64 bits.
template <class O>
concept OffsetType = std::same_as<O, std::int32_t> || std::same_as<O, Offset>;

/// Somebody else's CSR arrays in host memory, as they are. Made by `csr_view`, which checks them.
template <Value V, OffsetType O = Offset>
struct CsrView {
  Index rows = 0;
  Index cols = 0;
  std::span<const O> offsets;  ///< rows + 1
  std::span<const Index> columns;
  std::span<const V> values;
};

/// Empty when the arrays are canonical (see Csr), else one sentence naming the first thing that is wrong. Parallel;
/// costs about as much as a product.
template <Value V, OffsetType O>
WEFT_API std::string check(const CsrView<V, O>& view);

namespace detail {
[[noreturn]] WEFT_API void refuse_view(const std::string& reason);  // throws Error(invalid_matrix)
}

/// Views of contiguous arrays (std::vector, std::span, ...) that stay yours; nothing is copied. Throws
/// Error(invalid_matrix) unless they are canonical; `make_csr` sorts and sums those that are not.
///
///   weft::plan(weft::csr_view(rows, cols, offsets, columns, values))
///
/// Lifetime: the arrays must live, and columns and offsets must not change, as long as any MatrixSource or Plan made
/// from the view. Values may change: call Plan::update_values afterwards.
template <std::ranges::contiguous_range Offsets, std::ranges::contiguous_range Columns,
          std::ranges::contiguous_range Values>
auto csr_view(Index rows, Index cols, const Offsets& offsets, const Columns& columns, const Values& values) {
  using O = std::remove_cv_t<std::ranges::range_value_t<Offsets>>;
  using V = std::remove_cv_t<std::ranges::range_value_t<Values>>;
  static_assert(OffsetType<O>, "row offsets are std::int32_t or std::int64_t");
  static_assert(std::same_as<std::remove_cv_t<std::ranges::range_value_t<Columns>>, Index>, "columns are std::int32_t");
  const CsrView<V, O> view{rows, cols, std::span<const O>(std::ranges::data(offsets), std::ranges::size(offsets)),
                           std::span<const Index>(std::ranges::data(columns), std::ranges::size(columns)),
                           std::span<const V>(std::ranges::data(values), std::ranges::size(values))};
  if (const std::string reason = check(view); !reason.empty()) detail::refuse_view(reason);
  return view;
}

/// The caller's own CSR arrays in the memory of one device: rows + 1 offsets, of 32 or 64 bits, and as many columns as
/// values. `plan` checks on the device that they are canonical (see Csr). `spmv` checks nothing, which would cost as
/// much as the product, and needs less: offsets start at 0, never fall and end at the number of values; columns are in
/// 0..cols-1 and need not ascend inside a row.
template <Value V, OffsetType O = Offset>
struct DeviceCsr {
  Index rows = 0;
  Index cols = 0;
  DeviceSpan<const O> offsets;
  DeviceSpan<const Index> columns;
  DeviceSpan<const V> values;
};

/// Where the time of a set-up went: the same parts for every format, in seconds. What a format does not do is 0.
struct SetupTimes {
  double upload = 0;     ///< moving the matrix, as csr, to the device (or from it, for formats that need the host)
  double facts = 0;      ///< row lengths, block size and the like
  double order = 0;      ///< finding PlanOptions::order and reordering the matrix
  double partition = 0;  ///< putting rows into parts
  double encode = 0;     ///< the rest: the format's own arrays
  double total() const { return upload + facts + order + partition + encode; }
};

template <Value V>
class SourceState;

/// A matrix to plan from, wherever it is: a Csr, views of host arrays, or arrays on a GPU. What plans need of it (the
/// arrays on the other side of the bus, the transposed matrix, facts) is made when it is first needed, once, and shared
/// by all plans from the same source: to plan one matrix several times, make the source and keep it meanwhile.
///
/// Copies share everything. A source from a Csr shares its arrays; one from a view or a DeviceCsr borrows them, and the
/// lifetime rule of `csr_view` holds. To be used by one thread at a time.
template <Value V>
class WEFT_API MatrixSource {
 public:
  MatrixSource(const Csr<V>& matrix);
  /// Keeps the half until a format needs the whole.
  MatrixSource(const HalfCsr<V>& half);
  template <OffsetType O>
  MatrixSource(const CsrView<V, O>& view);
  /// Throws Error(invalid_argument) for arrays of wrong lengths or on different devices, Error(invalid_matrix) unless
  /// they are canonical.
  template <OffsetType O>
  MatrixSource(const DeviceCsr<V, O>& matrix);

  Index rows() const;
  Index cols() const;
  Offset nonzeros() const;
  Symmetry symmetry() const;  ///< the mark of the Csr or half it was made from; other sources are general
  Device device() const;      ///< where the arrays are

  /// The matrix on the host: downloaded from a device, offsets widened, a half completed, by the first call. Shares
  /// what it can.
  const Csr<V>& host() const;

  SourceState<V>& state() const { return *state_; }  ///< for the library

 private:
  std::shared_ptr<SourceState<V>> state_;
};

}  // namespace weft
