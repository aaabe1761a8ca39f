#include "formats/csr/direct.hpp"

#include <weft/error.hpp>

#include <limits>
#include <string>
#include <type_traits>

namespace weft {
namespace {

[[noreturn]] void refuse(const std::string& sentence) { throw Error(ErrorCode::invalid_argument, "spmv: " + sentence); }

void require_size(const char* what, std::size_t given, std::size_t expected) {
  if (given != expected)
    refuse(std::string(what) + " has " + std::to_string(given) + " elements, but the matrix needs " +
           std::to_string(expected));
}

void require_device(const char* what, Device given, Device matrix) {
  if (given != matrix)
    refuse(std::string(what) + " is on " + given.name() + ", but the matrix's values are on " + matrix.name());
}

/// The kernels count in 64 bits, or in 32 without a sign, which 31 bits fit in as they are.
template <class O>
using Counted = std::conditional_t<std::same_as<O, std::int32_t>, std::uint32_t, Offset>;

/// The matrix as kernels see it, checked as far as the lengths of its arrays go.
template <Value V, class O>
csr::View<V, Counted<O>> view_of(const DeviceCsr<V, O>& matrix) {
  if (matrix.rows < 0 || matrix.cols < 0) refuse("a matrix cannot have fewer than 0 rows or columns");
  if (matrix.values.size() > static_cast<std::size_t>(std::numeric_limits<O>::max()))
    refuse("the offsets are of 32 bits, too few for " + std::to_string(matrix.values.size()) + " entries");
  require_size("the array of offsets", matrix.offsets.size(), static_cast<std::size_t>(matrix.rows) + 1);
  require_size("the array of columns", matrix.columns.size(), matrix.values.size());
  require_device("the array of offsets", matrix.offsets.device(), matrix.values.device());
  require_device("the array of columns", matrix.columns.device(), matrix.values.device());
  if (matrix.values.device().is_cpu()) refuse("the matrix is on the CPU; make a plan for it instead");
  return {matrix.rows, static_cast<Offset>(matrix.values.size()),
          reinterpret_cast<const Counted<O>*>(matrix.offsets.data()), matrix.columns.data(), matrix.values.data()};
}

}  // namespace

template <Value V, OffsetType O>
std::size_t spmv_workspace_bytes(const DeviceCsr<V, O>& matrix, SpmvAlgorithm algorithm) {
  const auto view = view_of(matrix);
  const Device device = matrix.values.device();
  return WEFT_ON_DEVICE(device, csr::direct_workspace<V, Counted<O>>)(view, device, algorithm);
}

template <Value V, OffsetType O>
void spmv(std::type_identity_t<V> alpha, const DeviceCsr<V, O>& matrix, DeviceSpan<const std::type_identity_t<V>> x,
          std::type_identity_t<V> beta, DeviceSpan<std::type_identity_t<V>> y, DeviceSpan<std::byte> workspace,
          SpmvAlgorithm algorithm, Stream stream) {
  const auto view = view_of(matrix);
  const Device device = matrix.values.device();
  require_size("x", x.size(), static_cast<std::size_t>(matrix.cols));
  require_size("y", y.size(), static_cast<std::size_t>(matrix.rows));
  require_device("x", x.device(), device);
  require_device("y", y.device(), device);
  require_device("the workspace", workspace.device(), device);
  const std::size_t needed = spmv_workspace_bytes(matrix, algorithm);
  if (workspace.size() < needed)
    refuse("the workspace has " + std::to_string(workspace.size()) + " bytes, but " + std::to_string(needed) +
           " are needed; spmv_workspace_bytes tells");
  if (reinterpret_cast<std::uintptr_t>(workspace.data()) % 16 != 0)
    refuse("the workspace must begin at a multiple of 16 bytes");
  if (matrix.rows == 0) return;
  const Product<V> product{alpha, x.data(), x.size(), beta, y.data(), y.size(), 1};
  WEFT_ON_DEVICE(device, csr::direct_multiply<V, Counted<O>>)
  (view, product, device, algorithm, workspace.data(), stream);
}

#define WEFT_INSTANTIATE_WITH(V, O)                                                                                 \
  template std::size_t spmv_workspace_bytes<V, O>(const DeviceCsr<V, O>&, SpmvAlgorithm);                           \
  template void spmv<V, O>(V, const DeviceCsr<V, O>&, DeviceSpan<const V>, V, DeviceSpan<V>, DeviceSpan<std::byte>, \
                           SpmvAlgorithm, Stream);
#define WEFT_INSTANTIATE(V)              \
  WEFT_INSTANTIATE_WITH(V, std::int32_t) \
  WEFT_INSTANTIATE_WITH(V, Offset)
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
