#pragma once
#include <weft/partition.hpp>

#include <memory>

#include "core/isa.hpp"
#include "formats/bro_sell/bro_sell.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

// The rows of a matrix in parts that have most of their columns in common. A part keeps its share of x in fast memory
// (its cache) and numbers the columns there by 16 bits. README.md draws it.
namespace weft::ehyb {

using ::weft::bro_sell::cpu_slice_rows;
using ::weft::bro_sell::Pattern;

const Format& format();
std::vector<Prediction> predict(const Outlook& outlook);  ///< see Format

/// How a matrix is cut. A node is b rows, or columns, that are stored as b x b blocks; with b = 1 it is one.
struct Shape {
  int block = 1;          ///< b
  Index slice_rows = 32;  ///< C: slots of a slice, which is as wide as the longest of them
  int pack = 4;           ///< columns of a slot that lie together, see place_in_slice
  int value_pack = 4;     ///< and values: 16 bytes of them on a GPU
  Index parts = 1;        ///< wanted
  Index max_nodes = 1;    ///< of a part, at most
  Index room = 1;         ///< nodes of x that a part caches, at most; 0 where a file does not say
  bool guests = true;     ///< a part also caches nodes of other parts, as far as there is room
  bool operator==(const Shape&) const = default;
};

/// 16 bits number the nodes of a cache and the zero behind them.
inline constexpr Index max_room = 65535;

/// What a device lets a part have.
struct Limits {
  Index multiprocessors = 1;        ///< P: the number of parts is a multiple of it, where they are large
  std::size_t cache_bytes = 0;      ///< of a part, unless the user says otherwise ...
  std::size_t max_cache_bytes = 0;  ///< ... which may be up to this; 0: any
  Index slice_rows = 32;
  int pack = 4, value_pack = 4;
};

/// A slice's columns begin at `entry`, its values at entry * b * b.
struct alignas(16) Slice {
  Offset entry = 0;
  Index width = 0;
  Index extra = -1;  ///< the number of its ranges in Extra, or -1 when all its entries are cached
  bool operator==(const Slice&) const = default;
};

/// A row's pieces in the extra part.
struct Range {
  Index begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

/// Entries whose column is not in the cache of their part, and those of blocks that are not full. Rows are cut into
/// pieces, one per slot, the longest first; the sum of slot i is piece places[i]. Rows of a slice of the matrix find
/// their pieces by its ranges.
template <class V>
struct Extra {
  Index pieces = 0;
  Array<Slice> slices;
  Array<Index> columns;     ///< padding_column where there is no entry
  Array<Offset> positions;  ///< of the entries among csr's, -1 for padding; on the host only, for new values
  Array<V> values;
  Array<Index> places;  ///< a slot: its piece, or -1
  Array<Range> ranges;  ///< for row r of slot i of a slice, at (slice.extra * C + i) * b + r
};

/// Which nodes a part has, and which it caches: its own first if the matrix is square, then guests, both ascending.
struct Caches {
  Array<Index> part_of;       ///< node row -> its part
  Array<Index> row_begin;     ///< parts + 1
  Array<Index> rows;          ///< node rows, part after part, ascending in each
  Array<Offset> cache_begin;  ///< parts + 1
  Array<Index> cached;        ///< node columns
  Array<Index> own_place;     ///< node -> its place in its part's cache; empty unless the matrix is square
  Array<std::uint8_t> whole;  ///< a part: all its entries are cached

  Index parts() const { return static_cast<Index>(row_begin.size()) - 1; }
  Index cached_by(Index part) const { return static_cast<Index>(cache_begin[part + 1] - cache_begin[part]); }
  Index own_of(Index part) const { return own_place.empty() ? 0 : row_begin[part + 1] - row_begin[part]; }
  /// How many parts a thread takes at a time: some thousand rows, since fewer do not pay for waking it.
  Offset parts_at_once() const { return 1 + Offset(4096) * parts() / (1 + static_cast<Offset>(rows.size())); }
  /// Where `part` caches a node column; -1: nowhere.
  Index find(Index part, Index column) const;
};

template <class V>
struct Storage {
  Shape shape;
  Index rows = 0, cols = 0;
  Caches caches;
  Array<Index> order;            ///< node rows as they stand in slots: part after part, the longest first in each
  Array<Index> slice_begin;      ///< parts + 1
  Array<Slice> slices;           ///< slot i of slice s of part p is order[row_begin[p] + (s - slice_begin[p]) * C + i]
  Offset entries = 0;            ///< columns that all slices have room for
  Array<std::uint16_t> columns;  ///< places in the part's cache; the one behind its last holds 0, for padding
  Array<V> values;
  Extra<V> extra;
  Index max_cached = 0;  ///< of a part
};

/// The blocks of a matrix and which of them are full; no array when all are.
struct Blocks {
  Pattern pattern;
  Array<std::uint8_t> full;
  bool is_full(Offset block) const { return full.empty() || full[block] != 0; }
};

/// Calls body(block number, its place in the part's cache or -1) for the blocks of a node row.
template <class F>
void for_each_block(const Blocks& blocks, const Caches& caches, Index part, Index node, F&& body) {
  const Pattern& pattern = blocks.pattern;
  for (Offset i = pattern.offsets[node]; i < pattern.offsets[node + 1]; ++i)
    body(i, blocks.is_full(i) ? caches.find(part, pattern.columns[i]) : -1);
}

/// The size of blocks to store.
struct BlockChoice {
  int size = 1;
  bool required = false;  ///< by the user or a file; else single entries are taken where too few blocks would be full
};
template <Value V>
BlockChoice choose_block(const MatrixSource<V>& source, const BuildOptions& options);

/// The blocks of a matrix, of the size chosen or single entries.
template <Value V>
Blocks find_blocks(const Csr<V>& matrix, const BlockChoice& choice);

/// Equations (1) and (2) of the paper, with room for guests: as few parts as the cache allows, a multiple of the
/// multiprocessors.
Shape choose_shape(Index nodes, int block, std::size_t value_bytes, const Limits& limits, const BuildOptions& options);

/// The parameters that give this shape on any device, but for a partition of the caller. Of a shape from a file only
/// the block is known.
std::map<std::string, std::int64_t> numbers_of(const Shape& shape);

/// Limits of the CPU, where a cache is the second-level one.
template <class V>
Limits cpu_limits();

/// The nodes' parts: what the user gives, limited, or what is found.
template <Value V>
Array<Index> find_parts(const Csr<V>& matrix, const Shape& shape, const BuildOptions& options, Index& parts);

/// Node rows' parts as those of the matrix's rows.
std::shared_ptr<const Partition> partition_of_rows(const Caches& caches, int block);

/// The rows of each part: all of Caches but what they cache.
Caches group_rows(Index nodes, bool square, Array<Index> part_of, Index parts);

/// What each part caches.
void find_caches(const Blocks& blocks, const Shape& shape, Caches& caches);

/// Node rows in their order and the slices; no columns and values yet.
template <Value V>
Storage<V> lay_out(const Csr<V>& matrix, const Blocks& blocks, Caches caches, const Shape& shape,
                   const BuildOptions& options);

/// Throws Error(unsupported) when slices of `entries` blocks store `kept` of them.
void require_sensible(Offset entries, Offset kept, int block, std::size_t value_bytes, const BuildOptions& options);

/// The columns of all slices, and zeros for their values.
template <Value V>
void fill_columns(const Blocks& blocks, Storage<V>& storage);

/// Values of the matrix with these rows and columns, in csr's order, to their places. Allocates nothing.
template <Value V>
void place_values(const Array<Offset>& offsets, const Array<Index>& columns, std::span<const V> csr_values,
                  Storage<V>& storage);

/// All of the extra part but its values, which are zeros until place_values. Slices get their `extra`.
template <Value V>
void lay_out_extra(const Csr<V>& matrix, const Blocks& blocks, Storage<V>& storage);

/// The whole set-up on the CPU, linear and parallel but for the partition.
template <Value V>
Storage<V> build_storage(const Csr<V>& matrix, const BlockChoice& block, const Limits& limits,
                         const BuildOptions& options);

/// The operator on the CPU, of a storage cut for it.
template <Value V>
std::unique_ptr<Operator<V>> make_cpu_operator(const Csr<V>& matrix, Storage<V> storage);

/// "132 parts, caches of up to 15360 elements of x, 98.5 % of entries cached, 3 x 3 blocks"; says so when caching
/// cannot pay. `loaded` are the nodes that all caches hold.
std::string describe(const Shape& shape, Index parts, Index max_cached, Offset loaded, Offset extra_entries,
                     Offset nonzeros);

/// What the device lets a part have.
template <Value V>
Limits limits_of(Device device);

/// A storage as arrays for files, and back: then nothing of it is certain but that its arrays fit together.
template <Value V>
StoredArrays to_arrays(const Storage<V>& storage);
template <Value V>
Storage<V> from_arrays(const StoredArrays& arrays, Index rows, Index cols);
/// The matrix that such a storage holds. Throws Error(parse) unless it is canonical and padding is 0 and at its place.
template <Value V>
Csr<V> decode(const Storage<V>& storage);
/// The extra part's positions in the decoded matrix.
template <Value V>
void find_positions(const Csr<V>& matrix, Storage<V>& storage);

/// A bit for each column of a slice, for a CPU: set where its slots' places in the cache follow each other, so that x
/// is loaded as a vector. Bit entry / C + k belongs to column k of a slice; one more word follows. The place after the
/// last holds 0 and counts as any other.
Array<std::uint32_t> find_runs(const Array<std::uint16_t>& columns, Index slice_rows);

/// What takes the place of `cached` and the extra part's columns in a product whose vectors are in the format's own
/// order. A matrix that is not square keeps its columns: then both are empty.
struct OwnOrder {
  Order order;
  Array<Index> cached;
  Array<Index> extra_columns;
};
OwnOrder own_order(const Array<Index>& order, const Array<Index>& cached, const Array<Index>& extra_columns, int block,
                   bool square);

/// What the CPU kernels read: a Storage with pack = 1.
template <class V>
struct CpuView {
  int block = 1;
  Index parts = 0;
  const Index* row_begin = nullptr;
  const Offset* cache_begin = nullptr;
  const Index* cached = nullptr;
  const Index* order = nullptr;  ///< null: node rows as they stand in slots
  const Index* slice_begin = nullptr;
  const Slice* slices = nullptr;
  const std::uint16_t* columns = nullptr;
  const std::uint32_t* runs = nullptr;  ///< see find_runs
  const V* values = nullptr;
  const Range* ranges = nullptr;
  const V* extra_sums = nullptr;  ///< of a product's vectors, one after the other; max_row_major_vectors per piece
                                  ///< when these are row-major
  Offset pieces = 0;
};
template <class V>
struct CpuExtra {
  Index slice_count = 0;
  const Slice* slices = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
  const Index* places = nullptr;
  Offset pieces = 0;
};

// `caches` has room for one cache per thread, cache_stride apart.
WEFT_FOR_EACH_ISA(template <class V> void multiply(const CpuView<V>& view, const Product<V>& product, V* caches,
                                                   Offset cache_stride, int threads);
                  template <class V>
                  void multiply_extra(const CpuExtra<V>& extra, const Product<V>& product, V* sums, int threads);)

}  // namespace weft::ehyb

WEFT_DECLARE_ON_DEVICES(ehyb,
                        template <Value V> std::unique_ptr<Operator<V>> build(const MatrixSource<V>& source,
                                                                              const ::weft::ehyb::BlockChoice& block,
                                                                              const BuildOptions& options);
                        template <Value V>::weft::ehyb::Limits limits(Device device);
                        // For tests: the set-up on the GPU, copied back.
                        template <Value V>::weft::ehyb::Storage<V> build_storage(const MatrixSource<V>& source,
                                                                                 const BuildOptions& options);)
WEFT_DECLARE_GPU_LOADER(ehyb, ehyb::Storage<V>)
