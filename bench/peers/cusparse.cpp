#include "adapters.hpp"

#ifdef WEFT_HAS_CUSPARSE
#include <weft/coo.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include "bsr.hpp"
#include "core/timer.hpp"
#include "cusparse_library.hpp"
#include "facts/blocks.hpp"
#endif

namespace weft::bench {

#ifdef WEFT_HAS_CUSPARSE
namespace {

enum class Layout { csr, coo, sell, bsr };

struct Algorithm {
  const char* name;
  Layout layout;
  cusparseSpMVAlg_t algorithm;
};

constexpr Algorithm algorithms[] = {
    {"cusparse:csr-default", Layout::csr, CUSPARSE_SPMV_ALG_DEFAULT},
    {"cusparse:csr-alg1", Layout::csr, CUSPARSE_SPMV_CSR_ALG1},
    {"cusparse:csr-alg2", Layout::csr, CUSPARSE_SPMV_CSR_ALG2},
    {"cusparse:coo", Layout::coo, CUSPARSE_SPMV_COO_ALG1},
    {"cusparse:sell", Layout::sell, CUSPARSE_SPMV_SELL_ALG1},
    {"cusparse:bsr", Layout::bsr, CUSPARSE_SPMV_ALG_DEFAULT},
};

template <Value V>
class CusparsePeer : public Peer<V> {
  static constexpr cudaDataType value_kind = std::is_same_v<V, float> ? CUDA_R_32F : CUDA_R_64F;

 public:
  CusparsePeer(Device device, const Algorithm& algorithm) : device_(device), algorithm_(algorithm) {}

  ~CusparsePeer() override {
    forget_vectors();
    if (matrix_) library_.destroy_matrix(matrix_);
    if (handle_) library_.destroy(handle_);
  }

  std::string name() const override { return algorithm_.name; }

  void prepare(const Csr<V>& matrix, std::int64_t) override {
    if (cudaSetDevice(device_.index()) != cudaSuccess)
      throw Error(ErrorCode::no_device, "cuSPARSE cannot use " + device_.name());
    require(library_.create(&handle_));
    rows_ = matrix.rows;
    cols_ = matrix.cols;
    const bool wide = matrix.nonzeros() > std::numeric_limits<std::int32_t>::max();
    if (algorithm_.layout == Layout::sell) {
      prepare_sell(matrix);
    } else if (algorithm_.layout == Layout::bsr) {
      prepare_bsr(matrix);
    } else {
      const Stopwatch watch;
      columns_ = Indices(device_, matrix.columns, wide);
      values_ = DeviceBuffer<V>(device_, matrix.values);
      upload_seconds_ = watch.seconds();
      if (algorithm_.layout == Layout::csr) {
        offsets_ = Indices(device_, matrix.offsets, wide);
        upload_seconds_ = watch.seconds();
        require(library_.create_csr(&matrix_, rows_, cols_, matrix.nonzeros(), offsets_.data(), columns_.data(),
                                    values_.data(), offsets_.type(), columns_.type(), CUSPARSE_INDEX_BASE_ZERO,
                                    value_kind));
      } else {
        offsets_ = Indices(device_, to_coo(matrix).row_indices, wide);
        require(library_.create_coo(&matrix_, rows_, cols_, matrix.nonzeros(), offsets_.data(), columns_.data(),
                                    values_.data(), columns_.type(), CUSPARSE_INDEX_BASE_ZERO, value_kind));
      }
    }
    // The analysis wants vectors of the right size; any memory of that size does.
    DeviceBuffer<V> x(device_, static_cast<std::size_t>(cols_));
    DeviceBuffer<V> y(device_, static_cast<std::size_t>(rows_));
    set_vectors(x.data(), y.data());
    std::size_t size = 0;
    require(library_.buffer_size(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, value_kind,
                                 algorithm_.algorithm, &size));
    workspace_ = DeviceBuffer<std::byte>(device_, std::max<std::size_t>(size, 16));
    if (library_.preprocess)
      require(library_.preprocess(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, value_kind,
                                  algorithm_.algorithm, workspace_.data()));
    synchronize(device_);
    forget_vectors();
  }

  PeerInfo info() const override {
    return {.version = library_.version,
            .details = details_,
            .bytes = offsets_.bytes() + columns_.bytes() + values_.bytes(),
            .upload_seconds = upload_seconds_};
  }

  void run(const V* x, V* y) override {
    set_vectors(x, y);
    require(library_.multiply(handle_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, matrix_, x_, &zero_, y_, value_kind,
                              algorithm_.algorithm, workspace_.data()));
  }

 private:
  /// Slices of 32 rows, column after column, padded with column -1 as cuSPARSE wants it.
  void prepare_sell(const Csr<V>& matrix) {
    constexpr Offset slice_rows = 32;
    const Offset slices = (rows_ + slice_rows - 1) / slice_rows;
    Array<Offset> starts(static_cast<std::size_t>(slices) + 1, 0);
    for (Offset slice = 0; slice < slices; ++slice) {
      Offset width = 0;
      for (Offset row = slice * slice_rows; row < std::min(rows_, (slice + 1) * slice_rows); ++row)
        width = std::max(width, matrix.offsets[row + 1] - matrix.offsets[row]);
      starts[slice + 1] = starts[slice] + width * slice_rows;
    }
    if (starts[slices] > std::numeric_limits<std::int32_t>::max() || starts[slices] > 4 * matrix.nonzeros() + 4096)
      throw Error(ErrorCode::unsupported, "padding would make cuSPARSE's sliced ELL too large");
    Array<Index> columns(static_cast<std::size_t>(starts[slices]), -1);
    Array<V> values(columns.size(), V(0));
    for (Offset row = 0; row < rows_; ++row) {
      Offset place = starts[row / slice_rows] + row % slice_rows;
      for (Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k, place += slice_rows) {
        columns[place] = matrix.columns[k];
        values[place] = matrix.values[k];
      }
    }
    upload(starts, columns, values, false);
    details_ = "slices of " + std::to_string(slice_rows) + " rows";
    require(library_.create_sell(&matrix_, rows_, cols_, matrix.nonzeros(), starts[slices], slice_rows, offsets_.data(),
                                 columns_.data(), values_.data(), offsets_.type(), columns_.type(),
                                 CUSPARSE_INDEX_BASE_ZERO, value_kind));
  }

  void prepare_bsr(const Csr<V>& matrix) {
    const BlockFacts blocks = find_blocks(matrix.rows, matrix.cols, matrix.offsets.data(), matrix.columns.data());
    if (blocks.size == 1) throw Error(ErrorCode::unsupported, "the matrix has no dense blocks for bsr");
    if (!library_.create_bsr) throw Error(ErrorCode::unsupported, "this cuSPARSE is too old for bsr, 12.6 is needed");
    const Bsr<V> bsr = to_bsr(matrix, blocks.size);
    const Offset count = bsr.offsets.back();
    upload(bsr.offsets, bsr.columns, bsr.values, count > std::numeric_limits<std::int32_t>::max());
    details_ = "blocks of " + std::to_string(blocks.size) + " x " + std::to_string(blocks.size);
    require(library_.create_bsr(&matrix_, rows_ / blocks.size, cols_ / blocks.size, count, blocks.size, blocks.size,
                                offsets_.data(), columns_.data(), values_.data(), offsets_.type(), columns_.type(),
                                CUSPARSE_INDEX_BASE_ZERO, value_kind, CUSPARSE_ORDER_ROW));
  }

  void upload(const Array<Offset>& offsets, const Array<Index>& columns, const Array<V>& values, bool wide) {
    const Stopwatch watch;
    offsets_ = Indices(device_, offsets, wide);
    columns_ = Indices(device_, columns, wide);
    values_ = DeviceBuffer<V>(device_, std::span<const V>(values));
    upload_seconds_ = watch.seconds();
  }

  void set_vectors(const V* x, V* y) {
    if (x_ && x == bound_x_ && y == bound_y_) return;
    forget_vectors();
    require(library_.create_input(&x_, cols_, x, value_kind));
    require(library_.create_output(&y_, rows_, y, value_kind));
    bound_x_ = x;
    bound_y_ = y;
  }

  void forget_vectors() {
    if (x_) library_.destroy_vector(std::exchange(x_, nullptr));
    if (y_) library_.destroy_vector(std::exchange(y_, nullptr));
  }

  const CusparseLibrary& library_ = CusparseLibrary::instance();
  const V one_ = 1;
  const V zero_ = 0;
  Device device_;
  Algorithm algorithm_;
  Offset rows_ = 0;
  Offset cols_ = 0;
  Indices offsets_;  // of rows, of slices, or the row of each entry
  Indices columns_;
  DeviceBuffer<V> values_;
  DeviceBuffer<std::byte> workspace_;
  std::string details_;
  double upload_seconds_ = 0;
  cusparseHandle_t handle_ = nullptr;
  cusparseConstSpMatDescr_t matrix_ = nullptr;
  cusparseConstDnVecDescr_t x_ = nullptr;
  cusparseDnVecDescr_t y_ = nullptr;
  const V* bound_x_ = nullptr;
  V* bound_y_ = nullptr;
};

}  // namespace

template <Value V>
PeerList<V> cusparse_peers(Device device) {
  if (device.kind() != Device::Kind::gpu) return impossible_peers<V>(Device::Kind::gpu);
  const CusparseLibrary& library = CusparseLibrary::instance();
  PeerList<V> list{.why_none = library.why_none, .version = library.version};
  if (list.why_none.empty())
    for (const Algorithm& algorithm : algorithms)
      list.peers.push_back(std::make_unique<CusparsePeer<V>>(device, algorithm));
  return list;
}
#else
template <Value V>
PeerList<V> cusparse_peers(Device device) {
  if (device.kind() != Device::Kind::gpu) return impossible_peers<V>(Device::Kind::gpu);
  return {.why_none = "this build has no CUDA"};
}
#endif

#define WEFT_INSTANTIATE(V) template PeerList<V> cusparse_peers<V>(Device);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
