#pragma once
#include "core/gpu_runtime.hpp"
#include "formats/operator.hpp"
#include "simt/simt.hpp"
#include "simt/tuning.hpp"
#include "simt/warp.cuh"

// What the kernels of all formats do with the vectors of a product. Where an element of x or y is stored is known here
// only.
namespace weft::WEFT_SIMT_NAMESPACE {

/// What is known of the vectors when a kernel is compiled.
enum class Reach : std::uint8_t {
  columns,  ///< column-major
  rows,     ///< row-major
  packed,   ///< row-major, as many vectors as there is room for, rows aligned: a row takes one or a few wide accesses
};

/// Kernels are compiled for these numbers of sums in registers.
template <int Vectors, Reach How>
struct RoomFor {
  static constexpr int vectors = Vectors;
  static constexpr Reach reach = How;
  /// Elements of one access to a row of packed vectors.
  template <class V>
  static constexpr int pack = Vectors * static_cast<int>(sizeof(V)) > 16 ? 16 / static_cast<int>(sizeof(V)) : Vectors;
};
using OneVector = RoomFor<1, Reach::columns>;

/// What a kernel that takes the vectors one after the other needs to know of them.
using ColumnMajor = RoomFor<max_vectors, Reach::columns>;
using RowMajor = RoomFor<max_vectors, Reach::rows>;

/// Whether neighbouring elements of a vector have something between them. A row-major vector without gaps is as good as
/// a column-major one.
template <class V>
bool has_gaps(const Product<V>& product) {
  return product.layout == Layout::row_major && (product.count > 1 || product.x_stride > 1 || product.y_stride > 1);
}

/// Calls body(ColumnMajor()) or body(RowMajor()).
template <class V, class F>
void with_layout_of(const Product<V>& product, F&& body) {
  if (has_gaps(product)) return body(RowMajor());
  body(ColumnMajor());
}

template <class Room, class V>
bool is_packed(const Product<V>& product) {
  constexpr std::size_t bytes = Room::template pack<V> * sizeof(V);
  const auto is_aligned = [](const V* first, std::size_t stride) {
    return reinterpret_cast<std::uintptr_t>(first) % bytes == 0 && stride * sizeof(V) % bytes == 0;
  };
  return product.layout == Layout::row_major && product.count == Room::vectors &&
         is_aligned(product.x, product.x_stride) && is_aligned(product.y, product.y_stride);
}

/// Calls body(room) with the smallest RoomFor of 1, 2, 4, 8 vectors that holds those of the product. Row-major ones
/// that are not aligned, or of another number, have the largest only: they are rare, and every kernel costs compile
/// time.
template <class V, class F>
void with_room_for(const Product<V>& product, F&& body) {
  static_assert(max_vectors == 8);
  if (product.count == 1 && !has_gaps(product)) return body(OneVector());
  const auto several = [&](auto vectors) {
    using Packed = RoomFor<decltype(vectors)::value, Reach::packed>;
    if (product.layout == Layout::column_major) return body(RoomFor<decltype(vectors)::value, Reach::columns>());
    if (is_packed<Packed>(product)) return body(Packed());
    body(RowMajor());
  };
  if (product.count <= 2) return several(std::integral_constant<int, 2>());
  if (product.count <= 4) return several(std::integral_constant<int, 4>());
  several(std::integral_constant<int, 8>());
}

/// x as a kernel reads it: row `column` has an element of each vector.
template <class V, class Room>
class XRows {
 public:
  static constexpr int vectors = Room::vectors;

  __device__ __forceinline__ explicit XRows(const Product<V>& product) : product_(&product), x_(product.x) {}

  /// The same with rows counted from `base` on.
  __device__ __forceinline__ XRows from(Index base) const {
    XRows other = *this;
    other.x_ = address(base, 0);
    return other;
  }

  /// Where the element of vector j is.
  template <class Column>
  __device__ __forceinline__ const V* address(Column column, int j) const {
    if constexpr (Room::reach == Reach::columns) return x_ + static_cast<std::size_t>(j) * product_->x_stride + column;
    return x_ + static_cast<Offset>(column) * static_cast<Offset>(product_->x_stride) + j;
  }

  /// The element of vector j.
  template <class Column>
  __device__ __forceinline__ V at(Column column, int j) const {
    return simt::load_readonly(address(column, j));
  }

  /// Elements of all vectors; 0 for those that the product does not have.
  template <class Column>
  __device__ __forceinline__ void load(Column column, V (&row)[vectors]) const {
    if constexpr (Room::reach == Reach::packed) {
      constexpr int size = Room::template pack<V>;
      WEFT_UNROLL
      for (int j = 0; j < vectors; j += size) {
        const auto pack = simt::load_pack_readonly<size>(address(column, j));
        WEFT_UNROLL
        for (int i = 0; i < size; ++i) row[j + i] = pack[i];
      }
    } else {
      WEFT_UNROLL
      for (int j = 0; j < vectors; ++j) row[j] = j < product_->count ? at(column, j) : V(0);
    }
  }

  __device__ __forceinline__ int count() const { return product_->count; }

 private:
  const Product<V>* product_;
  const V* x_;
};

/// Bytes of rows of x that a thread has on their way: more would take registers from other threads.
inline constexpr int row_bytes_in_flight = 128;

/// sums[j] += value[k] times element column[k] of vector j, for the k with is_live(k). All loads of a vector, or of
/// some rows, are queued before the first is needed. The order of the additions is that of the columns, of which there
/// may be more than values. TestOne: also the kernel for one vector tests that there is one, which there always is. The
/// test costs bro-ell 8 % on rows of seven, and its absence bro-sell 3 % on rows of 81 (bench/NOTES.md).
template <bool TestOne = true, int N, int Columns, class V, class Room, class Column, class IsLive>
__device__ __forceinline__ void add_products(const XRows<V, Room>& x, const V (&value)[N],
                                             const Column (&column)[Columns], IsLive is_live,
                                             V (&sums)[Room::vectors]) {
  static_assert(N <= Columns);
  constexpr int vectors = Room::vectors;
  if constexpr (Room::reach != Reach::columns) {
    constexpr int fitting = row_bytes_in_flight / (vectors * static_cast<int>(sizeof(V)));
    constexpr int together = fitting < N ? fitting : N;
    WEFT_UNROLL
    for (int first = 0; first < N; first += together) {
      V row[together][vectors];
      WEFT_UNROLL
      for (int i = 0; i < together; ++i) {
        WEFT_UNROLL
        for (int j = 0; j < vectors; ++j) row[i][j] = V(0);
        if (first + i < N && is_live(first + i)) x.load(column[first + i], row[i]);
      }
      WEFT_UNROLL
      for (int i = 0; i < together; ++i) {
        if (first + i >= N) break;
        WEFT_UNROLL
        for (int j = 0; j < vectors; ++j) sums[j] += value[first + i] * row[i][j];
      }
    }
  } else {
    WEFT_UNROLL
    for (int j = 0; j < vectors; ++j) {
      if ((vectors > 1 || TestOne) && j >= x.count()) break;
      V factor[N];
      WEFT_UNROLL
      for (int k = 0; k < N; ++k) factor[k] = is_live(k) ? x.at(column[k], j) : V(0);
      WEFT_UNROLL
      for (int k = 0; k < N; ++k) sums[j] += value[k] * factor[k];
    }
  }
}

/// Where y has the element of a vector.
template <class Room, class V>
__device__ __forceinline__ V* y_at(const Product<V>& product, Index row, int vector) {
  if constexpr (Room::reach == Reach::columns)
    return product.y + static_cast<std::size_t>(vector) * product.y_stride + static_cast<std::size_t>(row);
  return product.y + static_cast<Offset>(row) * static_cast<Offset>(product.y_stride) + vector;
}

/// alpha sum + beta y, rounded alike in every kernel: which of the two products becomes part of a fused multiply-add is
/// not left to the compiler.
template <class V>
__device__ __forceinline__ V scaled_sum(V alpha, V sum, V beta, V y) {
#ifdef __CUDA_ARCH__
  return fma(alpha, sum, beta * y);
#else
  return alpha * sum + beta * y;
#endif
}

/// y = alpha sum + beta y for one element, not reading y when beta is 0.
template <class Room = OneVector, class V>
__device__ void store_sum(const Product<V>& product, Index row, int vector, V sum) {
  V* y = y_at<Room>(product, row, vector);
  *y = product.beta == V(0) ? product.alpha * sum : scaled_sum(product.alpha, sum, product.beta, *y);
}

/// The same for `Size` neighbours of a row of packed vectors, from `vector` on.
template <class Room, int Size, class V>
__device__ __forceinline__ void store_pack_of_sums(const Product<V>& product, Index row, int vector, const V* sums) {
  V* const y = y_at<Room>(product, row, vector);
  simt::Pack<V, Size> pack;
  WEFT_UNROLL
  for (int i = 0; i < Size; ++i) pack[i] = product.alpha * sums[i];
  if (product.beta != V(0)) {
    const auto before = simt::load_pack<Size>(static_cast<const V*>(y));
    WEFT_UNROLL
    for (int i = 0; i < Size; ++i) pack[i] = scaled_sum(product.alpha, sums[i], product.beta, V(before[i]));
  }
  simt::store_pack(y, pack);
}

/// The same for one row of all vectors.
template <class Room, class V>
__device__ __forceinline__ void store_sums(const Product<V>& product, Index row, const V (&sums)[Room::vectors]) {
  if constexpr (Room::reach == Reach::packed) {
    constexpr int size = Room::template pack<V>;
    WEFT_UNROLL
    for (int j = 0; j < Room::vectors; j += size) store_pack_of_sums<Room, size>(product, row, j, sums + j);
  } else {
    WEFT_UNROLL
    for (int j = 0; j < Room::vectors; ++j)
      if (j < product.count) store_sum<Room>(product, row, j, sums[j]);
  }
}

/// Calls body(i, look_up(i), j) for element i of every vector j, 0 <= i < count: a block of block_threads takes so many
/// rows. Neighbouring threads have neighbouring elements, in a vector or, unless vectors are column-major, in a row.
template <class Vectors, class LookUp, class F>
__device__ __forceinline__ void for_each_element(Index count, int vectors, LookUp look_up, F body) {
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * simt::block_threads;
  if constexpr (Vectors::reach == Reach::columns) {
    if (first + threadIdx.x >= count) return;
    const auto i = static_cast<Index>(first + threadIdx.x);
    const auto found = look_up(i);
    for (int j = 0; j < vectors; ++j) body(i, found, j);
  } else {
    const std::int64_t here = count - first < simt::block_threads ? count - first : simt::block_threads;
    for (int e = static_cast<int>(threadIdx.x); e < static_cast<int>(here) * vectors; e += simt::block_threads) {
      const auto i = static_cast<Index>(first + e / vectors);
      body(i, look_up(i), e % vectors);
    }
  }
}

template <class V, class Vectors>
__global__ void __launch_bounds__(simt::block_threads) scale_kernel(Index rows, Product<V> product) {
  for_each_element<Vectors>(
      rows, product.count, [](Index row) { return row; },
      [&](Index row, Index, int j) {
        V* y = y_at<Vectors>(product, row, j);
        *y = product.beta == V(0) ? V(0) : product.beta * *y;
      });
}

/// y = beta y.
template <class V>
void scale(Index rows, const Product<V>& product, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  with_layout_of(product, [&](auto vectors) {
    simt::launch(WEFT_KERNEL(scale_kernel<V, decltype(vectors)>), simt::blocks_for(rows, threads), threads, 0, stream,
                 rows, product);
  });
}

}  // namespace weft::WEFT_SIMT_NAMESPACE
