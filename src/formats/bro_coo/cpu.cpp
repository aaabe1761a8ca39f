// The CPU kernel of bro-coo; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/cpu_product.hpp"
#include "formats/row_vectors.hpp"

namespace weft::bro_coo::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: asked for early, as in csr

/// The sum of a row so far, with one vector. That of a chunk's first row goes to `first_carry`, and that of its last
/// row stays in here.
template <class V>
struct Running {
  V* y;
  V alpha;
  V* first_carry;
  Index first_row;
  Index row = first_row;
  V sum = 0;
  const V* products = nullptr;  ///< of the interval, see multiply_places

  inline void add(int place) { sum += products[place]; }
  inline void finish() {
    if (row == first_row)
      *first_carry = sum;
    else
      simd::add_product(y[row], alpha, sum);
    sum = 0;
  }
};

/// The same with row-major vectors.
template <class Vectors, class V>
struct RowMajorRunning {
  const Vectors& vectors;
  V* first_carry;
  Index first_row;
  Index row = first_row;
  typename Vectors::Sums sum = {};
  const V* values = nullptr;  ///< of the interval
  const Index* columns = nullptr;
  int steps = 0;  ///< of it; 0: it has no padding
  Offset count = 0;

  inline void add(int place) {
    if (steps > 0 && static_cast<Offset>(place % lanes) * steps + place / lanes >= count) return;
    vectors.add(sum, values[place], vectors.x(columns[place]));
  }
  inline void finish() {
    if (row == first_row)
      vectors.save(sum, first_carry);
    else
      vectors.add_to(row, sum);
    sum = {};
  }
};

/// products[place] = value * x, all places at once; the last interval of the matrix may have padding, which must not
/// meet x.
template <class V>
inline void multiply_places(const CpuMatrix<V>& matrix, Offset begin, int steps, Offset count, const V* x,
                            V* products) {
  using Lanes = simd::Simd<V>;
  constexpr Offset together = static_cast<Offset>(Lanes::size());
  const V* const values = matrix.values + begin;
  const Index* const columns = matrix.columns + begin;
  const Offset places = static_cast<Offset>(steps) * lanes;
  if (count == places) {
    for (Offset p = 0; p < places; p += 4 * together) {
      __builtin_prefetch(reinterpret_cast<const char*>(values + p) + bytes_ahead);
      __builtin_prefetch(reinterpret_cast<const char*>(columns + p) + bytes_ahead / 2);
#pragma GCC unroll 4
      for (Offset part = 0; part < 4; ++part) {
        const Offset at = p + part * together;
        simd::store<V>(simd::load(values + at) * simd::gather(x, columns + at), products + at);
      }
    }
    return;
  }
  for (int step = 0; step < steps; ++step)
    for (int lane = 0; lane < lanes; ++lane) {
      const Offset place = static_cast<Offset>(step) * lanes + lane;
      const bool live = static_cast<Offset>(lane) * steps + step < count;
      products[place] = live ? values[place] * x[columns[place]] : V(0);
    }
}

/// Adds the entries of a lane from `step` to `end`.
template <class Running>
inline void add_steps(Running& running, int lane, int step, int end) {
  for (; step < end; ++step) running.add(step * lanes + lane);
}

/// Deltas of one bit, at most 32: the places of the ones are where rows begin.
template <class Running>
inline void sum_lane_of_bits(std::uint32_t bits, int steps, int lane, Running& running) {
  int step = 0;
  while (bits != 0) {
    const int next = __builtin_clz(bits);
    add_steps(running, lane, step, next);
    running.finish();
    ++running.row;
    step = next;
    bits &= ~(0x80000000u >> next);
  }
  add_steps(running, lane, step, steps);
}

/// Deltas of any width, read in words of 32 bits: the higher half of a symbol of 64 bits comes first.
template <class Running>
inline void sum_lane(const std::uint32_t* from, int words_per_symbol, int width, int steps, int lane,
                     Running& running) {
  std::uint64_t bits = 0;
  int left = 0, word = 0;
  const std::uint32_t mask = (std::uint32_t(1) << width) - 1;
  for (int step = 0; step < steps; ++step) {
    if (left < width) {
      const std::uint32_t next = words_per_symbol == 1 ? from[word * lanes] : from[word / 2 * 2 * lanes + 1 - word % 2];
      bits = bits << 32 | next;
      ++word;
      left += 32;
    }
    left -= width;
    const std::uint32_t delta = static_cast<std::uint32_t>(bits >> left) & mask;
    if (delta != 0) {
      running.finish();
      running.row += static_cast<Index>(delta);
    }
    running.add(step * lanes + lane);
  }
}

/// The entries of an interval: its places that are in use, and steps of each lane.
struct Extent {
  Offset begin;
  Offset count;
  int steps;
};
template <class V>
inline Extent extent_of(const CpuMatrix<V>& matrix, Offset interval) {
  const Offset begin = interval * lanes * matrix.steps;
  const Offset room = static_cast<Offset>(matrix.steps) * lanes;
  const Offset count = matrix.entries - begin < room ? matrix.entries - begin : room;
  return {begin, count, static_cast<int>((count + lanes - 1) / lanes)};
}

/// Sums the rows of an interval, entry by entry.
template <class V, class Running>
inline void sum_interval(const CpuMatrix<V>& matrix, Offset interval, int steps, Running& running) {
  const Index first_row = matrix.bounds[2 * interval];
  if (first_row != running.row) {
    running.finish();
    running.row = first_row;
  }
  const int width = matrix.widths[interval];
  const std::uint32_t* const symbols = matrix.symbols + matrix.words[interval];
  for (int lane = 0; lane < lanes; ++lane) {
    if (width == 0)
      add_steps(running, lane, 0, steps);
    else if (width == 1 && matrix.words_per_symbol == 1 && steps <= 32)
      sum_lane_of_bits(symbols[lane], steps, lane, running);
    else
      sum_lane(symbols + lane * matrix.words_per_symbol, matrix.words_per_symbol, width, steps, lane, running);
  }
}

/// The intervals of a chunk, where its sums go, and between which rows it is.
template <class V>
struct Chunk {
  Offset first, end;
  Index first_row, last_row;
  V* first_carry;
  V* last_carry;
};
template <class V>
inline Chunk<V> chunk_of(const CpuMatrix<V>& matrix, Offset chunk) {
  const Offset first = chunk * matrix.chunk_intervals;
  const Offset end =
      first + matrix.chunk_intervals < matrix.intervals ? first + matrix.chunk_intervals : matrix.intervals;
  V* const carry = matrix.carries + chunk * 2 * max_row_major_vectors;
  return {first, end, matrix.bounds[2 * first], matrix.bounds[2 * end - 1], carry, carry + max_row_major_vectors};
}

/// The chunk stays in the cache from one vector to the next.
template <class V>
inline void multiply_chunk(const CpuMatrix<V>& matrix, const Product<V>& product, const Chunk<V>& chunk) {
  alignas(64) V products[lanes * max_steps];
  for (int j = 0; j < product.count; ++j) {
    const V* const x = product.x + static_cast<std::size_t>(j) * product.x_stride;
    Running<V> running{product.y + static_cast<std::size_t>(j) * product.y_stride, product.alpha, chunk.first_carry + j,
                       chunk.first_row};
    running.products = products;
    for (Offset interval = chunk.first; interval < chunk.end; ++interval) {
      const Extent extent = extent_of(matrix, interval);
      multiply_places(matrix, extent.begin, extent.steps, extent.count, x, products);
      sum_interval(matrix, interval, extent.steps, running);
    }
    (running.row == chunk.first_row ? chunk.first_carry : chunk.last_carry)[j] = running.sum;
  }
}

template <class Vectors, class V>
inline void multiply_chunk_rows(const CpuMatrix<V>& matrix, const Vectors vectors, const Chunk<V>& chunk) {
  RowMajorRunning<Vectors, V> running{vectors, chunk.first_carry, chunk.first_row};
  for (Offset interval = chunk.first; interval < chunk.end; ++interval) {
    const Extent extent = extent_of(matrix, interval);
    running.values = matrix.values + extent.begin;
    running.columns = matrix.columns + extent.begin;
    running.steps = extent.count == static_cast<Offset>(extent.steps) * lanes ? 0 : extent.steps;
    running.count = extent.count;
    sum_interval(matrix, interval, extent.steps, running);
  }
  vectors.save(running.sum, running.row == chunk.first_row ? chunk.first_carry : chunk.last_carry);
}

/// Calls body(chunk) for all chunks on threads, then finish(chunk) for one after the other.
template <class V, class Body, class Finish>
inline void for_each_chunk(const CpuMatrix<V>& matrix, int threads, Body&& body, Finish&& finish) {
  const Offset chunks = (matrix.intervals + matrix.chunk_intervals - 1) / matrix.chunk_intervals;
  simd::for_each_piece(chunks, threads, [&](int, Offset chunk) { body(chunk_of(matrix, chunk)); });
  for (Offset chunk = 0; chunk < chunks; ++chunk) finish(chunk_of(matrix, chunk));
}

}  // namespace

template <class V>
void multiply_add(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  if (product.layout == Layout::row_major)
    return simd::with_row_vectors(product, [&](const auto& vectors) {
      for_each_chunk(
          matrix, threads, [&](const Chunk<V>& chunk) { multiply_chunk_rows(matrix, vectors, chunk); },
          [&](const Chunk<V>& chunk) {
            vectors.add_to(chunk.first_row, vectors.saved(chunk.first_carry));
            if (chunk.last_row != chunk.first_row) vectors.add_to(chunk.last_row, vectors.saved(chunk.last_carry));
          });
    });
  for_each_chunk(
      matrix, threads, [&](const Chunk<V>& chunk) { multiply_chunk(matrix, product, chunk); },
      [&](const Chunk<V>& chunk) {
        for (int j = 0; j < product.count; ++j) {
          V* const y = product.y + static_cast<std::size_t>(j) * product.y_stride;
          simd::add_product(y[chunk.first_row], product.alpha, chunk.first_carry[j]);
          if (chunk.last_row != chunk.first_row)
            simd::add_product(y[chunk.last_row], product.alpha, chunk.last_carry[j]);
        }
      });
}

#define WEFT_INSTANTIATE(V) template void multiply_add<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bro_coo::WEFT_ISA_NAMESPACE
