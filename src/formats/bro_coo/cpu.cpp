// The CPU kernel of bro-coo; compiled once per instruction set, see core/isa.hpp.
#include "core/simd.hpp"
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/cpu_product.hpp"

namespace weft::bro_coo::WEFT_ISA_NAMESPACE {
namespace {

namespace simd = ::weft::WEFT_ISA_NAMESPACE;

constexpr Offset bytes_ahead = 4096;  // of values: asked for early, as in csr

/// What is being summed: a row, and its sum so far.
template <class V>
struct Running {
  Index row = 0;
  V sum = 0;
};

/// Where the sums of a chunk go. That of its last row stays in `running`.
template <class V>
struct Target {
  Index first_row = 0;
  V* first_carry = nullptr;
  V* y = nullptr;
  V alpha = 1;

  inline void finish(Running<V>& running) const {
    if (running.row == first_row)
      *first_carry = running.sum;
    else
      y[running.row] += alpha * running.sum;
    running.sum = 0;
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

/// Adds the products of a lane from `step` to `end`.
template <class V>
inline V add_steps(V sum, const V* products, int step, int end) {
  for (; step < end; ++step) sum += products[step * lanes];
  return sum;
}

/// Deltas of one bit, at most 32: the places of the ones are where rows begin.
template <class V>
inline void sum_lane_of_bits(std::uint32_t bits, int steps, const V* products, const Target<V>& target,
                             Running<V>& running) {
  int step = 0;
  while (bits != 0) {
    const int next = __builtin_clz(bits);
    running.sum = add_steps(running.sum, products, step, next);
    target.finish(running);
    ++running.row;
    step = next;
    bits &= ~(0x80000000u >> next);
  }
  running.sum = add_steps(running.sum, products, step, steps);
}

/// Deltas of any width, read in words of 32 bits: the higher half of a symbol of 64 bits comes first.
template <class V>
inline void sum_lane(const std::uint32_t* from, int words_per_symbol, int width, int steps, const V* products,
                     const Target<V>& target, Running<V>& running) {
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
      target.finish(running);
      running.row += static_cast<Index>(delta);
    }
    running.sum += products[step * lanes];
  }
}

template <class V>
inline void multiply_interval(const CpuMatrix<V>& matrix, Offset interval, const V* x, const Target<V>& target,
                              Running<V>& running, V* products) {
  const Offset begin = interval * lanes * matrix.steps;
  const Offset room = static_cast<Offset>(matrix.steps) * lanes;
  const Offset count = matrix.entries - begin < room ? matrix.entries - begin : room;
  const int steps = static_cast<int>((count + lanes - 1) / lanes);
  multiply_places(matrix, begin, steps, count, x, products);
  const Index first_row = matrix.bounds[2 * interval];
  if (first_row != running.row) {
    target.finish(running);
    running.row = first_row;
  }
  const int width = matrix.widths[interval];
  const std::uint32_t* const symbols = matrix.symbols + matrix.words[interval];
  for (int lane = 0; lane < lanes; ++lane) {
    if (width == 0)
      running.sum = add_steps(running.sum, products + lane, 0, steps);
    else if (width == 1 && matrix.words_per_symbol == 1 && steps <= 32)
      sum_lane_of_bits(symbols[lane], steps, products + lane, target, running);
    else
      sum_lane(symbols + lane * matrix.words_per_symbol, matrix.words_per_symbol, width, steps, products + lane, target,
               running);
  }
}

template <class V>
inline void multiply_chunk(const CpuMatrix<V>& matrix, const Product<V>& product, Offset chunk) {
  alignas(64) V products[lanes * max_steps];
  const Offset first = chunk * matrix.chunk_intervals;
  const Offset last =
      first + matrix.chunk_intervals < matrix.intervals ? first + matrix.chunk_intervals : matrix.intervals;
  V* const first_carry = matrix.carries + chunk * 2 * max_vectors;
  V* const last_carry = first_carry + max_vectors;
  Running<V> running[max_vectors];
  for (int j = 0; j < product.count; ++j) running[j] = {matrix.bounds[2 * first], V(0)};
  for (Offset interval = first; interval < last; ++interval)
    for (int j = 0; j < product.count; ++j) {
      const Target<V> target{matrix.bounds[2 * first], first_carry + j,
                             product.y + static_cast<std::size_t>(j) * product.y_stride, product.alpha};
      multiply_interval(matrix, interval, product.x + static_cast<std::size_t>(j) * product.x_stride, target,
                        running[j], products);
    }
  for (int j = 0; j < product.count; ++j)
    (running[j].row == matrix.bounds[2 * first] ? first_carry : last_carry)[j] = running[j].sum;
}

}  // namespace

template <class V>
void multiply_add(const CpuMatrix<V>& matrix, const Product<V>& product, int threads) {
  const Offset chunks = (matrix.intervals + matrix.chunk_intervals - 1) / matrix.chunk_intervals;
  ::weft::WEFT_ISA_NAMESPACE::for_each_piece(chunks, threads,
                                             [&](int, Offset chunk) { multiply_chunk(matrix, product, chunk); });

  for (Offset chunk = 0; chunk < chunks; ++chunk) {
    const Offset first = chunk * matrix.chunk_intervals;
    const Offset end =
        first + matrix.chunk_intervals < matrix.intervals ? first + matrix.chunk_intervals : matrix.intervals;
    const Index first_row = matrix.bounds[2 * first], last_row = matrix.bounds[2 * end - 1];
    const V* const carry = matrix.carries + chunk * 2 * max_vectors;
    for (int j = 0; j < product.count; ++j) {
      V* const y = product.y + static_cast<std::size_t>(j) * product.y_stride;
      y[first_row] += product.alpha * carry[j];
      if (last_row != first_row) y[last_row] += product.alpha * carry[max_vectors + j];
    }
  }
}

#define WEFT_INSTANTIATE(V) template void multiply_add<V>(const CpuMatrix<V>&, const Product<V>&, int);
WEFT_REAL_KERNELS(WEFT_INSTANTIATE)

}  // namespace weft::bro_coo::WEFT_ISA_NAMESPACE
