#pragma once
#include <weft/array.hpp>
#include <weft/error.hpp>

#include <atomic>
#include <thread>

#include "core/gpu_runtime.hpp"
#include "core/mapped_memory.hpp"
#include "formats/csr/speculative.cuh"
#include "formats/csr/stage_two.hpp"

// csr:speculative-cpu, the paper's division of labour: the GPU speculates, the CPU does stage 2 in memory that both
// see, beginning with the bunches that are finished. The paper's processors share y, too. Here y is in the GPU's
// memory, so that a last kernel fetches what the CPU has mended.
namespace weft::WEFT_SIMT_NAMESPACE::csr {

/// y = alpha sums + beta y for the rows that end in dirty tiles, a warp a tile.
template <class V>
__global__ void __launch_bounds__(::weft::simt::block_threads)
    csr_fetch_placed(Speculation<V> work, Product<V> product) {
  const Offset t = simt::global_thread_id() / 32;
  if (t >= work.tiles) return;
  const Dirty tile = work.speculator[t];
  if (tile.start < 0) return;
  for (Offset row = static_cast<Offset>(tile.start) + tile.skip + simt::lane_id(); row < tile.stop; row += 32)
    store_sum(product, static_cast<Index>(row), 0, work.sums[row]);
}

template <class V, class O>
class Hybrid {
 public:
  Hybrid() = default;
  /// `offsets` are the matrix's on the host.
  Hybrid(Device device, const View<V, O>& matrix, const SpeculativeShape& shape, Index empty_rows,
         Array<Offset> offsets)
      : device_(device), shape_(shape), offsets_(std::move(offsets)) {
    Carver count;
    carve(matrix, empty_rows, count);
    bytes_ = count.bytes();
    memory_ = MappedMemory(device, bytes_);
    Carver space(memory_.data());
    carve(matrix, empty_rows, space);
    for (Offset bunch = 0; bunch < work_.synchronizer.count; ++bunch) work_.finished[bunch] = 0;
  }

  std::size_t bytes() const { return bytes_; }

  /// For one vector. Returns when the CPU has done its part; the GPU's last part is queued then.
  void multiply(const View<V, O>& matrix, Index* tile_rows, const Product<V>& product, Stream stream) {
    constexpr int threads = ::weft::simt::block_threads;
    work_.tile_rows = tile_rows;
    ++work_.product_number;
    speculate(matrix, shape_, work_, product, stream);
    const ::weft::csr::StageTwo<V> two{
        work_.tiles, work_.tiles_a_bunch,     work_.synchronizer.count,  offsets_.data(), work_.speculator,
        work_.sums,  work_.synchronizer.rows, work_.synchronizer.values, added_.rows,     added_.values};
    ::weft::csr::finish_on_cpu<V>(two, [&](Offset bunch) { wait_for(bunch, stream); });
    if (work_.speculator != nullptr)
      simt::launch(WEFT_KERNEL(csr_fetch_placed<V>), simt::blocks_for(work_.tiles, threads / 32), threads, 0, stream,
                   work_, product);
    add_carries(added_, product, stream);
  }

 private:
  void carve(const View<V, O>& matrix, Index empty_rows, Carver& space) {
    work_ = speculation_for(matrix, shape_, false, Index(0), space);
    const Offset bunches = work_.synchronizer.count;
    work_.finished = space.take<unsigned>(bunches);
    added_ = {space.take<Index>(bunches), space.take<V>(bunches), bunches};
    if (empty_rows == 0) return;
    work_.speculator = space.take<Dirty>(work_.tiles);
    work_.sums = space.take<V>(matrix.rows);
  }

  /// A kernel that fails finishes no bunch: the stream is asked now and then.
  void wait_for(Offset bunch, Stream stream) const {
    const std::atomic_ref<unsigned> finished(work_.finished[bunch]);
    const auto is_finished = [&] { return finished.load(std::memory_order_acquire) == work_.product_number; };
    for (unsigned spins = 1; !is_finished(); ++spins) {
      if (spins % 4096 != 0) continue;
      if (device_.kind() != Device::Kind::gpu || gpu::is_done(device_.index(), stream)) {
        if (is_finished()) return;
        throw Error(ErrorCode::internal, "csr:speculative-cpu: the GPU has ended without finishing its part");
      }
      std::this_thread::yield();
    }
  }

  Device device_;
  SpeculativeShape shape_;
  Array<Offset> offsets_;
  std::size_t bytes_ = 0;
  MappedMemory memory_;
  Speculation<V> work_;
  Carries<V> added_;
};

}  // namespace weft::WEFT_SIMT_NAMESPACE::csr
