#pragma once
#include "core/simd.hpp"
#include "formats/bro_sell/bro_sell.hpp"
#include "formats/cpu_product.hpp"

// The CPU kernel for slices in runs. For cpu.cpp only: compiled once per instruction set, see core/isa.hpp.
namespace weft::bro_sell::WEFT_ISA_NAMESPACE {

/// What a run of C slots needs of x are B * C neighbours, each a column of one slot's block. Values are stored in the
/// same order, so that entry (r, c) of all blocks is added to sums of their own, and the B sums of a row of entries are
/// added up at the end: a vector of x is loaded once for B vectors of values, and nothing is moved between lanes.
template <int B, Index C, class V>
class RunSlice {
  using Lanes = ::weft::WEFT_ISA_NAMESPACE::NativeSimd<V, C>;
  static constexpr Index lanes = static_cast<Index>(Lanes::size());
  static constexpr Index elements = B * C;            // of x in a run
  static constexpr Index vectors = elements / lanes;  // of these
  // As many sums as registers hold; where that is less than all of them, the slice is gone through several times.
  static constexpr Index room = ::weft::WEFT_ISA_NAMESPACE::native_bytes == 64 ? 26 : 12;
  static constexpr Index max_together = room / B;
  static constexpr Index passes = (vectors + max_together - 1) / max_together;
  static constexpr Index together = (vectors + passes - 1) / passes;
  // A chain of additions each of which waits for the one before it is as long as a slice is wide. Two of them where
  // there are few.
  static constexpr Index chains = B == 1 ? 2 : 1;
  static constexpr Offset bytes_ahead = 4096;  // of values: prefetched, as in csr

 public:
  /// Adds up a slice; its first slot's own place in x is `x`.
  RunSlice(const Slice& slice, const std::uint32_t* words, const V* values, const V* x) {
    pass<0>(RunWords(slice, words, B), values, x);
  }

  /// y = alpha sums + beta y for the first `count` slots; `row` is the first one's first row.
  void store(const Product<V>& product, Offset row, int vector, Index count) const {
    V out[elements];
#pragma GCC unroll 8
    for (int r = 0; r < B; ++r)
      for (Index i = 0; i < C; ++i) {
        V sum = sums_[r][i * B];
#pragma GCC unroll 8
        for (int c = 1; c < B; ++c) sum += sums_[r][i * B + c];
        out[i * B + r] = sum;
      }
    ::weft::WEFT_ISA_NAMESPACE::store_sums(product, row, vector, out, count * B);
  }

 private:
  template <Index First>
  void pass(const RunWords& runs, const V* values, const V* x) {
    namespace simd = ::weft::WEFT_ISA_NAMESPACE;
    constexpr Index count = vectors - First < together ? vectors - First : together;
    Lanes sums[chains][B][count];
#pragma GCC unroll 2
    for (Index chain = 0; chain < chains; ++chain)
#pragma GCC unroll 8
      for (int r = 0; r < B; ++r)
#pragma GCC unroll 32
        for (Index p = 0; p < count; ++p) sums[chain][r][p] = 0;

    const V* run_values = values + First * lanes;
    const V* const own = x + First * lanes;
    const auto add = [&](Index chain, auto&& load_x) {
      if constexpr (First == 0) {
#pragma GCC unroll 36
        for (int e = 0; e < B * B; ++e)
          __builtin_prefetch(reinterpret_cast<const char*>(run_values + e * C) + bytes_ahead);
      }
#pragma GCC unroll 32
      for (Index p = 0; p < count; ++p) {
        const Lanes factor = load_x(p);
#pragma GCC unroll 8
        for (int r = 0; r < B; ++r)
          simd::add_product(sums[chain][r][p], simd::load_as<Lanes>(run_values + r * elements + p * lanes), factor);
      }
      run_values += B * elements;
    };
    const auto add_full = [&](Index chain, Index run) {
      const V* const from = own + runs.distance(run);
      add(chain, [&](Index p) { return simd::load_as<Lanes>(from + p * lanes); });
    };
    Index run = 0;
    if constexpr (chains == 2)
      for (; run + 2 <= runs.full; run += 2) {
        add_full(0, run);
        add_full(1, run + 1);
      }
    for (; run < runs.full; ++run) add_full(0, run);
    for (; run < runs.count; ++run) {
      const V* const from = own + runs.distance(run);
      const std::uint32_t* const masks = runs.masks(run);
      add(chains - 1, [&](Index p) {
        const Index place = (First + p) * lanes;
        return simd::load_some<Lanes>(from + p * lanes, masks[place / C] >> (place % C));
      });
    }
#pragma GCC unroll 8
    for (int r = 0; r < B; ++r)
#pragma GCC unroll 32
      for (Index p = 0; p < count; ++p) {
        Lanes sum = sums[0][r][p];
        if constexpr (chains == 2) sum += sums[1][r][p];
        simd::store_as(sum, sums_[r] + (First + p) * lanes);
      }
    if constexpr (First + count < vectors) pass<First + count>(runs, values, x);
  }

  V sums_[B][elements];
};

}  // namespace weft::bro_sell::WEFT_ISA_NAMESPACE
