#pragma once
#include <optional>

#include "formats/bro_sell/blocks.cuh"
#include "formats/ehyb/ehyb.hpp"

// The set-up on a GPU but for the values, which is the same for all value types: from csr and the parts of its rows. It
// delivers the same arrays as the CPU, bit by bit.
namespace weft::WEFT_SIMT_NAMESPACE::ehyb {

using ::weft::ehyb::Range;
using ::weft::ehyb::Shape;
using ::weft::ehyb::Slice;
using ::weft::WEFT_SIMT_NAMESPACE::bro_sell::PatternOnDevice;
using ::weft::WEFT_SIMT_NAMESPACE::bro_sell::PatternView;

constexpr Index slice_rows = 32;  // on a GPU: a warp
constexpr int column_pack = 4;

/// Where the arrays of a part begin, and how long they are.
struct alignas(32) Part {
  Offset cache = 0;
  Index cached = 0;
  Index row = 0, rows = 0;  // of nodes in `order`
  Index slice = 0, slices = 0;
};

/// The extra part but its values.
struct DeviceExtra {
  Index pieces = 0;
  Offset entries = 0;  // without padding
  DeviceBuffer<Slice> slices;
  DeviceBuffer<Index> columns;
  DeviceBuffer<Index> places;
  DeviceBuffer<Range> ranges;
  // On the host, for what is rarely done.
  Array<Index> host_columns;
  Array<Offset> positions;

  std::size_t bytes() const { return slices.bytes() + columns.bytes() + places.bytes() + ranges.bytes(); }
};

/// As Storage, but the values.
struct DeviceLayout {
  Shape shape;
  Index part_count = 0;
  Index max_cached = 0;
  Index slice_count = 0;
  Index max_slices = 0;  // of a part
  DeviceBuffer<Part> parts;
  DeviceBuffer<Index> cached;
  DeviceBuffer<Index> order;
  DeviceBuffer<Slice> slices;
  DeviceBuffer<std::uint16_t> columns;
  DeviceExtra extra;

  std::size_t bytes() const {
    return parts.bytes() + cached.bytes() + order.bytes() + slices.bytes() + columns.bytes() + extra.bytes();
  }
  /// A warp per slice, as far as that is possible and there are so many.
  int threads_for_parts(int max_threads) const { return std::min(max_threads, std::max(1, max_slices) * 32); }
};

/// As Caches on the host, with Part saying where a part's arrays are.
struct CachesView {
  const Part* parts = nullptr;
  const Index* part_of = nullptr;
  const Index* own_place = nullptr;  // null: the matrix is not square, no column is a part's own
  const Index* rows = nullptr;
  const Index* cached = nullptr;
};

/// Whose rows are whose, and the places of columns in the caches of their own part, during the set-up.
class CachesOnDevice {
 public:
  CachesOnDevice(Device device, const Array<Index>& part_of, Index parts, bool square);

  CachesView view(const DeviceLayout& layout) const {
    return {layout.parts.data(), part_of_.data(), square() ? own_place_.data() : nullptr, rows_.data(),
            layout.cached.data()};
  }
  bool square() const { return square_; }
  const Index* rows() const { return rows_.data(); }
  const Array<Index>& row_begin() const { return row_begin_; }
  Index parts() const { return static_cast<Index>(row_begin_.size()) - 1; }

 private:
  bool square_;
  DeviceBuffer<Index> part_of_, own_place_, rows_;
  Array<Index> row_begin_;
};

/// Shared memory that a part's cache may take.
std::size_t max_cache_bytes(Device device);

/// Where the rows and slices of each part begin, in `parts` too; what it caches is not known yet.
Array<Part> part_table(const Array<Index>& row_begin, DeviceLayout& layout);

/// All that the layout of a matrix whose blocks are full depends on.
struct LayoutInput {
  Device device;
  Shape shape;
  PatternView pattern;
  Index node_cols = 0;
  Offset blocks = 0;
  std::size_t value_bytes = 0;
  const CachesOnDevice& caches;
  const BuildOptions& options;
};

/// Guests, order and slices; columns are allocated. Nothing where that does not work out: more guests than there is
/// room for, or than a hash table takes. The device is current.
std::optional<DeviceLayout> lay_out_on_device(const LayoutInput& input);

/// The columns of all slices. `matrix` has single entries.
void fill_columns(Device device, const PatternView& matrix, const PatternView& pattern, const CachesOnDevice& caches,
                  DeviceLayout& layout);

}  // namespace weft::WEFT_SIMT_NAMESPACE::ehyb
