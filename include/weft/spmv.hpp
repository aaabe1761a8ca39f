#pragma once
#include <weft/buffer.hpp>
#include <weft/export.hpp>
#include <weft/source.hpp>
#include <weft/types.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace weft {

/// How `spmv` goes about it; both give the same bits every time. `merge` gives equal shares of rows + entries to all;
/// `speculative` gives equal tiles of entries to all and mends what empty rows have put in the wrong place.
enum class SpmvAlgorithm { merge, speculative };

/// The bytes `spmv` needs for a matrix of this size. Depends on its rows and the number of its entries only.
template <Value V, OffsetType O>
WEFT_API std::size_t spmv_workspace_bytes(const DeviceCsr<V, O>& matrix,
                                          SpmvAlgorithm algorithm = SpmvAlgorithm::merge);

/// y = alpha A x + beta y without a plan, for a matrix that is on the GPU (or the emulator) already and is multiplied a
/// few times only. Nothing is converted, copied, allocated or kept: all launches go to `stream`, and a CUDA graph may
/// capture them. beta == 0 never reads y, alpha == 0 never reads x; x and y must not overlap. `workspace`, of
/// spmv_workspace_bytes and aligned to 16 bytes, is scratch memory of this call until its work on `stream` is done.
/// Throws Error(invalid_argument) for wrong lengths and for arrays on different devices.
template <Value V, OffsetType O>
WEFT_API void spmv(std::type_identity_t<V> alpha, const DeviceCsr<V, O>& matrix,
                   DeviceSpan<const std::type_identity_t<V>> x, std::type_identity_t<V> beta,
                   DeviceSpan<std::type_identity_t<V>> y, DeviceSpan<std::byte> workspace,
                   SpmvAlgorithm algorithm = SpmvAlgorithm::merge, Stream stream = {});

}  // namespace weft
