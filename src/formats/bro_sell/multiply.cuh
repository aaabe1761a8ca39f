#pragma once
#include "formats/bro_sell/packing.hpp"
#include "formats/column_groups.cuh"

// The product of a part with a thread per slot.
namespace weft::WEFT_SIMT_NAMESPACE::bro_sell {

using ::weft::bro_sell::group_columns;
using ::weft::bro_sell::Slice;

constexpr Index slice_rows = 32;  // on a GPU: a warp

template <class V>
struct View {
  Index rows = 0;  // block rows of the part
  Index slice_count = 0;
  Index width = 0;      // of all slices, when they are equally wide
  int thread_bits = 0;  // a block row is followed by 1 << thread_bits slots
  const Slice* slices = nullptr;
  const Index* order = nullptr;  // null: all rows in their order
  const Index* bases = nullptr;
  const std::uint32_t* words = nullptr;
  const V* values = nullptr;
};

/// What was loaded for a group of columns.
template <bool Wide>
struct LoadedGroup {
  simt::Pack<Index, group_columns> bases;
  std::uint32_t bits[Wide ? 4 : 2];
  std::uint32_t code;
};

/// Follows the columns of a slot, a group at a time. The loads of a group (`load`) stand apart from what is done with
/// them (`next`), so that several groups can be on their way. Wide: there may be widths of 32 bits.
template <bool Wide>
class Columns {
 public:
  __device__ __forceinline__ Columns(std::uint32_t codes, const std::uint32_t* words, std::uint32_t groups,
                                     const Index* bases, Index row)
      : words_(words), bases_(bases), codes_(codes), place_(groups), column_(static_cast<std::uint32_t>(row)) {}

  /// `number`: that of the group in its slice.
  __device__ __forceinline__ LoadedGroup<Wide> load(Index number) {
    using ::weft::bro_sell::codes_per_word;
    LoadedGroup<Wide> loaded;
    if (number % codes_per_word == 0 && number > 0)
      codes_ = simt::load_readonly(words_ + (number / codes_per_word - 1));
    const std::uint32_t code = codes_ & 15u;
    codes_ >>= ::weft::bro_sell::code_bits;
    loaded.code = code;
    loaded.bases = simt::load_pack_readonly<group_columns>(bases_ + static_cast<Offset>(number) * group_columns);
    const std::uint32_t* const words = words_ + place_;
    const auto lane = static_cast<unsigned>(simt::lane_id());
    loaded.bits[0] = loaded.bits[1] = 0;
    if (code == 1) {
      loaded.bits[0] = simt::load_streaming(reinterpret_cast<const std::uint16_t*>(words) + lane);
    } else if (code == 2) {
      loaded.bits[0] = simt::load_streaming(words + lane);
    } else if (code == 3) {
      const auto pack = simt::load_pack_streaming<2>(words + 2 * lane);
      loaded.bits[0] = pack[0];
      loaded.bits[1] = pack[1];
    }
    if constexpr (Wide) {
      if (code == 4) {
        const auto pack = simt::load_pack_streaming<4>(words + 4 * lane);
        WEFT_UNROLL
        for (int i = 0; i < 4; ++i) loaded.bits[i] = pack[i];
      }
    }
    place_ += static_cast<std::uint32_t>(::weft::bro_sell::width_of(code)) * (slice_rows * group_columns / 32);
    return loaded;
  }

  __device__ __forceinline__ void next(const LoadedGroup<Wide>& loaded, Index* columns) {
    const int width = ::weft::bro_sell::width_of(loaded.code);
    const std::uint32_t mask = (1u << (width % 32)) - 1;
    WEFT_UNROLL
    for (int i = 0; i < group_columns; ++i) {
      std::uint32_t bits = (loaded.code == 3 ? loaded.bits[i / 2] : loaded.bits[0]) >> (i * width % 32) & mask;
      if constexpr (Wide)
        if (loaded.code == 4) bits = loaded.bits[i];
      column_ += static_cast<std::uint32_t>(loaded.bases[i]) + bits;
      columns[i] = static_cast<Index>(column_);
    }
  }

 private:
  const std::uint32_t* words_;  // of the slice
  const Index* bases_;
  std::uint32_t codes_;
  std::uint32_t place_;
  std::uint32_t column_;  // wraps around: bases may be negative
};

/// Adds N single entries, whole groups or the last one to three, to the sums. `values` are those of the first column.
template <int N, bool Wide, class V, class Room>
__device__ __forceinline__ void add_singles(Columns<Wide>& follow, const V* values, Index k, Index length,
                                            const XRows<V, Room>& x, V (&sums)[Room::vectors]) {
  constexpr int groups = (N + group_columns - 1) / group_columns;
  const int lane = simt::lane_id();
  LoadedGroup<Wide> loaded[groups];
  V value[N];
  WEFT_UNROLL
  for (int g = 0; g < groups; ++g) loaded[g] = follow.load(k / group_columns + g);
  const auto load = [&](int first, auto size) {
    const auto group = load_group<decltype(size)::value>(values + first * slice_rows + lane * size);
    WEFT_UNROLL
    for (int i = 0; i < size; ++i) value[first + i] = group.values[i];
  };
  WEFT_UNROLL
  for (int first = 0; first + 4 <= N; first += 4) load(first, std::integral_constant<int, 4>());
  if constexpr (N % 4 >= 2) load(N / 4 * 4, std::integral_constant<int, 2>());
  if constexpr (N % 2 == 1) load(N - 1, std::integral_constant<int, 1>());
  Index column[groups * group_columns];
  WEFT_UNROLL
  for (int g = 0; g < groups; ++g) follow.next(loaded[g], column + g * group_columns);
  add_products(x, value, column, [&](int i) { return k + i < length; }, sums);
}

/// The sums of a slot of single entries, Batch columns (4 or 8) at a time.
template <int Batch, bool Wide, class V, class Room>
__device__ __forceinline__ void sum_singles(Columns<Wide> follow, const V* values, Index width, Index length,
                                            const XRows<V, Room>& x, V (&sums)[Room::vectors]) {
  Index k = 0;
  const auto add = [&](auto count) {
    add_singles<decltype(count)::value>(follow, values + static_cast<Offset>(k) * slice_rows, k, length, x, sums);
  };
  WEFT_KEEP_LOOP
  for (; width - k >= Batch; k += Batch) add(std::integral_constant<int, Batch>());
  with_tail<Batch>(width - k, add);
}

/// Adds Together blocks, whose columns are known, to the sums.
template <int B, int Together, bool Masked, class V, class Room>
__device__ __forceinline__ void add_blocks(const Index* column, const V* values, const std::uint32_t* masks, Index k,
                                           Index length, const XRows<V, Room>& x, V (&sums)[Room::vectors][B]) {
  constexpr int entries = B * B;
  const int lane = simt::lane_id();
  V value[Together][entries];
  WEFT_UNROLL
  for (int n = 0; n < Together; ++n) {
    const V* const block = values + n * entries * slice_rows;
    WEFT_UNROLL
    for (int e = 0; e + 4 <= entries; e += 4) {
      const auto group = load_group<4>(block + e * slice_rows + lane * 4);
      WEFT_UNROLL
      for (int i = 0; i < 4; ++i) value[n][e + i] = group.values[i];
    }
    if constexpr (entries % 4 == 1)
      value[n][entries - 1] = simt::load_streaming(block + (entries - 1) * slice_rows + lane);
  }
  std::uint64_t mask[Together];
  if constexpr (Masked) {
    constexpr int words = ::weft::bro_sell::mask_words(B);
    WEFT_UNROLL
    for (int n = 0; n < Together; ++n) {
      const std::uint32_t* const at = masks + (static_cast<Offset>(k + n) * slice_rows + lane) * words;
      mask[n] = simt::load_streaming(at);
      if constexpr (words == 2) mask[n] |= static_cast<std::uint64_t>(simt::load_streaming(at + 1)) << 32;
    }
  }
  const auto first_column = [&](int n) { return static_cast<Offset>(column[n]) * B; };
  const auto add = [&](V& sum, int n, int e, V factor) {
    if constexpr (Masked)
      sum += mask[n] >> e & 1 ? value[n][e] * factor : V(0);
    else
      sum += value[n][e] * factor;
  };
  if constexpr (Room::reach != Reach::columns) {
    WEFT_UNROLL
    for (int n = 0; n < Together; ++n) {
      V row[B][Room::vectors] = {};
      WEFT_UNROLL
      for (int c = 0; c < B; ++c)
        if (k + n < length) x.load(first_column(n) + c, row[c]);
      WEFT_UNROLL
      for (int e = 0; e < entries; ++e) WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) add(sums[j][e / B], n, e, row[e % B][j]);
    }
  } else {
    WEFT_UNROLL
    for (int j = 0; j < Room::vectors; ++j) {
      if (j >= x.count()) break;
      V factor[Together][B];
      WEFT_UNROLL
      for (int n = 0; n < Together; ++n) {
        const V* const first = x.address(first_column(n), j);
        WEFT_UNROLL
        for (int c = 0; c < B; ++c) factor[n][c] = k + n < length ? simt::load_readonly(first + c) : V(0);
      }
      WEFT_UNROLL
      for (int n = 0; n < Together; ++n) WEFT_UNROLL
      for (int e = 0; e < entries; ++e) add(sums[j][e / B], n, e, factor[n][e % B]);
    }
  }
}

/// The sums of a slot of blocks. The next group's columns are asked for before this one's blocks.
template <int B, int Together, bool Masked, bool Wide, class V, class Room>
__device__ __forceinline__ void sum_blocks(Columns<Wide> follow, const V* values, const std::uint32_t* masks,
                                           Index width, Index length, const XRows<V, Room>& x,
                                           V (&sums)[Room::vectors][B]) {
  if (width == 0) return;
  auto loaded = follow.load(0);
  WEFT_KEEP_LOOP
  for (Index k = 0; k < width; k += group_columns) {
    Index column[group_columns];
    follow.next(loaded, column);
    if (width - k > group_columns) loaded = follow.load(k / group_columns + 1);
    const V* const group = values + static_cast<Offset>(k) * (B * B * slice_rows);
    const auto add = [&](int n, auto together) {
      add_blocks<B, decltype(together)::value, Masked>(column + n, group + n * B * B * slice_rows, masks, k + n, length,
                                                       x, sums);
    };
    if (width - k >= group_columns) {
      WEFT_UNROLL
      for (int n = 0; n < group_columns; n += Together) add(n, std::integral_constant<int, Together>());
    } else {
      WEFT_UNROLL
      for (int n = 0; n < group_columns - 1; ++n)
        if (n < width - k) add(n, std::integral_constant<int, 1>());
    }
  }
}

/// B: the size of blocks. Together: columns (B = 1) or blocks on their way at once. Wide: some widths are 32 bits.
/// Equal: slices are equally wide.
template <class V, int B, int Together, bool Wide, bool Equal, class Room, int MinBlocks>
__global__ void __launch_bounds__(simt::block_threads, simt::resident_blocks(MinBlocks, simt::block_threads))
    bro_sell_multiply(View<V> view, Product<V> product) {
  using namespace ::weft::bro_sell;
  const Offset slot = simt::global_thread_id();
  const Offset number = slot / slice_rows;
  if (number >= view.slice_count) return;
  Slice slice = view.slices[number];
  if constexpr (Equal) {
    slice.width = view.width;
    slice.value = number * view.width * (B * B * slice_rows);
    slice.group = static_cast<std::uint32_t>(number) * static_cast<std::uint32_t>(groups_of(view.width));
  }
  const Offset place = slot >> view.thread_bits;
  const bool live = place < view.rows;
  const Index row = !live ? 0 : view.order ? view.order[place] : static_cast<Index>(place);
  const std::uint32_t* const words = view.words + slice.word;
  const WordLayout layout = word_layout(slice.width, slice.marks, slice_rows, B);
  const Index length = slice.marks & ragged
                           ? static_cast<Index>(simt::load_streaming(words + layout.lengths + simt::lane_id()))
                           : slice.width;
  const V* const values = view.values + slice.value;
  const Columns<Wide> follow(slice.codes, words, static_cast<std::uint32_t>(layout.groups),
                             view.bases + static_cast<Offset>(slice.group) * group_columns, row);
  const XRows<V, Room> x(product);
  V sums[Room::vectors][B] = {};
  if constexpr (B == 1) {
    V single[Room::vectors] = {};
    sum_singles<Together>(follow, values, slice.width, length, x, single);
    WEFT_UNROLL
    for (int j = 0; j < Room::vectors; ++j) sums[j][0] = single[j];
  } else {
    if (slice.marks & masked)
      sum_blocks<B, 1, true>(follow, values, words + layout.masks, slice.width, length, x, sums);
    else
      sum_blocks<B, Together, false>(follow, values, words, slice.width, length, x, sums);
  }
  WEFT_UNROLL
  for (int j = 0; j < Room::vectors; ++j) {
    WEFT_UNROLL
    for (int r = 0; r < B; ++r) {
      if (j >= product.count) break;
      for (int distance = 1 << view.thread_bits >> 1; distance > 0; distance /= 2)
        sums[j][r] += simt::shuffle_xor(simt::full_mask, sums[j][r], distance);
      if constexpr (Room::reach == Reach::columns)
        if (live && (slot & ((1 << view.thread_bits) - 1)) == 0) store_sum<Room>(product, row * B + r, j, sums[j][r]);
    }
  }
  if constexpr (Room::reach != Reach::columns) {
    if (!live || (slot & ((1 << view.thread_bits) - 1)) != 0) return;
    WEFT_UNROLL
    for (int r = 0; r < B; ++r) {
      V of_row[Room::vectors];
      WEFT_UNROLL
      for (int j = 0; j < Room::vectors; ++j) of_row[j] = sums[j][r];
      store_sums<Room>(product, row * B + r, of_row);
    }
  }
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::bro_sell
