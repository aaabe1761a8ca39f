#pragma once
#include "formats/csr/carries.cuh"
#include "formats/csr/csr.hpp"
#include "formats/csr/merge_block.cuh"
#include "formats/csr/merge_warp.cuh"
#include "formats/csr/tuning.hpp"
#include "formats/csr/variants.hpp"
#include "simt/tuning.hpp"

// csr:merge. The ends of the rows and the entries, merged, make a path of rows + entries steps (Merrill and Garland): a
// row ends after its last entry. Every warp, or block, gets the same number of steps, whatever the rows look like.
//   1. csr_merge_search finds the row in which each share begins. The matrix alone decides that: a plan does it once.
//   2. csr_merge_warp or csr_merge_block multiplies. A row that goes on in the next share leaves a carry.
//   3. add_carries adds the carries, in the order of the shares. For few shares csr_merge_block does so itself: a
//   second
//      kernel would take as long as the first.
namespace weft::WEFT_SIMT_NAMESPACE::csr {

using ::weft::csr::MergeKernel;

template <class V>
constexpr int merge_items(MergeKernel kernel) {
  if (kernel == MergeKernel::narrow) return ::weft::csr::merge_narrow_items;
  if (kernel == MergeKernel::block) return ::weft::csr::merge_block_items;
  return ::weft::csr::merge_wide_items.of<V>();
}

/// Steps of a share.
template <class V>
constexpr int merge_steps(MergeKernel kernel) {
  if (kernel == MergeKernel::block) return ::weft::simt::block_threads * merge_items<V>(kernel);
  const int chunks = kernel == MergeKernel::narrow ? ::weft::csr::merge_narrow_chunks : ::weft::csr::merge_wide_chunks;
  return 32 * merge_items<V>(kernel) * chunks;
}

/// share_rows[s]: how many rows end within the first s shares.
template <class O>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_merge_search(Index rows, Offset entries, const O* __restrict__ offsets, int steps, Offset shares,
                     Index* __restrict__ share_rows, unsigned* done) {
  const Offset share = simt::global_thread_id();
  if (share == 0 && done) *done = 0;
  if (share > shares) return;
  const Offset path = rows + entries;
  const Offset step = share * steps < path ? share * steps : path;
  Index low = 0, high = rows;
  while (low < high) {
    const Index middle = high - (high - low) / 2;
    if (middle + static_cast<Offset>(offsets[middle]) <= step)
      low = middle;
    else
      high = middle - 1;
  }
  share_rows[share] = low;
}

/// The shares of a matrix and where their carries go, in a piece of the GPU's memory that the caller has.
template <class V>
struct MergeSpace {
  MergeKernel kernel = MergeKernel::block;
  Offset shares = 0;
  Index* share_rows = nullptr;
  Carries<V> carries;

  MergeSpace() = default;
  template <class O>
  MergeSpace(const View<V, O>& matrix, MergeKernel which, Carver& space) : kernel(which) {
    const int steps = merge_steps<V>(kernel);
    shares = (matrix.rows + matrix.entries + steps - 1) / steps;
    share_rows = space.take<Index>(shares + 1);
    carries = {space.take<Index>(shares), space.take<V>(shares), shares};
    if (kernel == MergeKernel::block && shares > 1 && shares <= ::weft::csr::max_shares_of_one_kernel)
      carries.done = space.take<unsigned>(1);
  }
};

template <class V, class O>
void merge_search(const View<V, O>& matrix, const MergeSpace<V>& space, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  simt::launch(WEFT_KERNEL(csr_merge_search<O>), simt::blocks_for(space.shares + 1, threads), threads, 0, stream,
               matrix.rows, matrix.entries, matrix.offsets, merge_steps<V>(space.kernel), space.shares,
               space.share_rows, space.carries.done);
}

/// For one vector. merge_search must have come before, once.
template <class V, class O>
void merge_multiply(const View<V, O>& matrix, const MergeSpace<V>& space, const Product<V>& product, Stream stream) {
  constexpr int threads = ::weft::simt::block_threads;
  const Index* share_rows = space.share_rows;
  const auto by_warps = [&](auto items) {
    simt::launch(WEFT_KERNEL(csr_merge_warp<V, O, decltype(items)::value>),
                 simt::blocks_for(space.shares, threads / 32), threads, 0, stream, matrix, merge_steps<V>(space.kernel),
                 space.shares, share_rows, space.carries, product);
  };
  const auto by_blocks = [&](auto add_carries) {
    constexpr int items = merge_items<V>(MergeKernel::block);
    simt::launch(WEFT_KERNEL(csr_merge_block<V, O, items, decltype(add_carries)::value>),
                 simt::blocks_for(space.shares, 1), threads, 0, stream, matrix, share_rows, space.carries, product);
  };
  if (space.carries.done) return by_blocks(std::true_type());
  if (space.kernel == MergeKernel::block)
    by_blocks(std::false_type());
  else if (space.kernel == MergeKernel::narrow)
    by_warps(std::integral_constant<int, merge_items<V>(MergeKernel::narrow)>());
  else
    by_warps(std::integral_constant<int, merge_items<V>(MergeKernel::wide)>());
  if (space.shares > 1) add_carries(space.carries, product, stream);
}

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
