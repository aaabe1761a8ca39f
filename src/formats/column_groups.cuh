#pragma once
#include "formats/column_groups.hpp"
#include "formats/gpu_product.cuh"

// How a thread sums its row of a slice: shared by the formats made of slices.
namespace weft::WEFT_SIMT_NAMESPACE {

/// N neighbours, however many accesses of at most 16 bytes they take. For data that is used once.
template <int N, class T>
struct Group {
  T values[N];
};
template <int N, class T>
__device__ __forceinline__ Group<N, T> load_group(const T* address) {
  Group<N, T> group;
  if constexpr (N == 1) {
    group.values[0] = simt::load_streaming(address);
  } else {
    constexpr int together = sizeof(T) * N > 16 ? 16 / static_cast<int>(sizeof(T)) : N;
    WEFT_UNROLL
    for (int first = 0; first < N; first += together) {
      const auto pack = simt::load_pack_streaming<together>(address + first);
      WEFT_UNROLL
      for (int i = 0; i < together; ++i) group.values[first + i] = pack[i];
    }
  }
  return group;
}

/// add_products for entries of which some are padding.
template <bool TestOne = true, int N, class V, class Room, class Column>
__device__ __forceinline__ void add_padded_products(const XRows<V, Room>& x, const V (&value)[N],
                                                    const Column (&column)[N], V (&sums)[Room::vectors]) {
  add_products<TestOne>(x, value, column, [&](int k) { return column[k] != padding_column<Column>; }, sums);
}

/// Adds N columns of groups of four, two and one (N = 7: 4 + 2 + 1) to the sums of `row`. All loads of the matrix are
/// queued before the first of x, and those before the first is needed: what counts is how much is on its way at once.
/// Rows is Index or, where the compiler shall know the number, an integral_constant.
template <int N, class V, class Column, class Rows, class Room>
__device__ __forceinline__ void add_columns(const V* values, const Column* columns, Index row, Rows rows,
                                            const XRows<V, Room>& x, V (&sums)[Room::vectors]) {
  Column column[N];
  V value[N];
  const auto place = [&](int k, int group) { return k * rows + row * group; };
  const auto each_group = [&](auto load) {
    WEFT_UNROLL
    for (int k = 0; k + 4 <= N; k += 4) load(k, std::integral_constant<int, 4>());
    if constexpr (N % 4 >= 2) load(N / 4 * 4, std::integral_constant<int, 2>());
    if constexpr (N % 2 == 1) load(N - 1, std::integral_constant<int, 1>());
  };
  each_group([&](int k, auto size) {
    const auto group = load_group<decltype(size)::value>(columns + place(k, size));
    WEFT_UNROLL
    for (int i = 0; i < size; ++i) column[k + i] = group.values[i];
  });
  each_group([&](int k, auto size) {
    const auto group = load_group<decltype(size)::value>(values + place(k, size));
    WEFT_UNROLL
    for (int i = 0; i < size; ++i) value[k + i] = group.values[i];
  });
  add_padded_products(x, value, column, sums);
}

/// Calls add(std::integral_constant<int, left>()) for the last `left` columns of a row, fewer than Batch (4 or 8).
template <int Batch, class F>
__device__ __forceinline__ void with_tail(Index left, F&& add) {
  static_assert(Batch == 4 || Batch == 8);
  switch (left) {
    case 1:
      return add(std::integral_constant<int, 1>());
    case 2:
      return add(std::integral_constant<int, 2>());
    case 3:
      return add(std::integral_constant<int, 3>());
    default:
      break;
  }
  if constexpr (Batch == 8) {
    switch (left) {
      case 4:
        return add(std::integral_constant<int, 4>());
      case 5:
        return add(std::integral_constant<int, 5>());
      case 6:
        return add(std::integral_constant<int, 6>());
      case 7:
        return add(std::integral_constant<int, 7>());
      default:
        break;
    }
  }
}

/// The sums of one row of a slice in groups of four, by one thread, `Batch` columns (4 or 8) at a time. `values` and
/// `columns` are the slice's; x is that of the columns' base.
template <int Batch, class V, class Column, class Rows, class Room>
__device__ __forceinline__ void sum_grouped_row(const V* values, const Column* columns, Index row, Rows rows,
                                                Index width, const XRows<V, Room>& x, V (&sums)[Room::vectors]) {
  Index k = 0;
  const auto add = [&](auto count) {
    add_columns<decltype(count)::value>(values + static_cast<Offset>(k) * rows, columns + static_cast<Offset>(k) * rows,
                                        row, rows, x, sums);
  };
  WEFT_KEEP_LOOP
  for (; width - k >= Batch; k += Batch) add(std::integral_constant<int, Batch>());
  with_tail<Batch>(width - k, add);
}

/// Adds every `stride`-th entry from the first on, `count` of them, to the sums: a thread's share of a row that
/// several threads follow, or a row of a slice in groups of one.
template <class V, class Column, class Room>
__device__ __forceinline__ void sum_striped(const V* values, const Column* columns, Offset stride, Index count,
                                            const XRows<V, Room>& x, V (&sums)[Room::vectors]) {
  constexpr int together = Room::vectors == 1 ? 4 : 2;
  const auto add = [&](auto number) {
    constexpr int n = decltype(number)::value;
    Column column[n];
    V value[n];
    WEFT_UNROLL
    for (int i = 0; i < n; ++i) column[i] = simt::load_streaming(columns + i * stride);
    WEFT_UNROLL
    for (int i = 0; i < n; ++i) value[i] = simt::load_streaming(values + i * stride);
    add_padded_products(x, value, column, sums);
    columns += n * stride;
    values += n * stride;
  };
  Index k = 0;
  WEFT_KEEP_LOOP
  for (; count - k >= together; k += together) add(std::integral_constant<int, together>());
  WEFT_KEEP_LOOP
  for (; k < count; ++k) add(std::integral_constant<int, 1>());
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
