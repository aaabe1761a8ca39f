#include <weft/error.hpp>

#include "order/methods.hpp"
#ifdef WEFT_HAS_AMD
#include <amd.h>

#include "core/parallel.hpp"
#endif

namespace weft::ordering {

#ifdef WEFT_HAS_AMD
namespace {

void report(const Progress& progress, double fraction) {
  if (progress && !progress(fraction)) throw Error(ErrorCode::cancelled, "cancelled");
}

}  // namespace

Array<Index> approximate_minimum_degree(const Pattern& pattern, const Progress& progress) {
  // The library takes one type for all numbers; of 64 bits, so that no matrix is too large for it.
  const Offset nodes = pattern.rows;
  Array<SuiteSparse_long> offsets(static_cast<std::size_t>(nodes) + 1);
  Array<SuiteSparse_long> columns(static_cast<std::size_t>(pattern.nonzeros()) + 1);  // none would be a null pointer
  Array<SuiteSparse_long> order(static_cast<std::size_t>(nodes) + 1);
  parallel_for(nodes + 1, 1 << 15, [&](Offset i) { offsets[i] = pattern.offsets[i]; });
  parallel_for(pattern.nonzeros(), 1 << 15, [&](Offset i) { columns[i] = pattern.columns[i]; });
  report(progress, 0.1);  // it cannot be asked how far it is
  const int status =
      static_cast<int>(amd_l_order(nodes, offsets.data(), columns.data(), order.data(), nullptr, nullptr));
  if (status == AMD_OUT_OF_MEMORY)
    throw Error(ErrorCode::out_of_memory, "not enough memory to order " + std::to_string(nodes) + " rows by amd");
  if (status != AMD_OK)
    throw Error(ErrorCode::internal, "SuiteSparse's AMD refuses the matrix, status " + std::to_string(status));
  report(progress, 1);
  Array<Index> result(static_cast<std::size_t>(nodes));
  for (Offset i = 0; i < nodes; ++i) result[i] = static_cast<Index>(order[i]);
  return result;
}
#else
Array<Index> approximate_minimum_degree(const Pattern&, const Progress&) {
  throw Error(
      ErrorCode::unsupported,
      "this build has no ordering 'amd'; install SuiteSparse (Debian: libsuitesparse-dev) and build Weft again");
}
#endif

}  // namespace weft::ordering
