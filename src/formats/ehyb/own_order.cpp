// The order of rows in slots as one that callers may keep their vectors in.
#include "core/parallel.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "sparse/permutation.hpp"

namespace weft::ehyb {

OwnOrder own_order(const Array<Index>& order, const Array<Index>& cached, const Array<Index>& extra_columns, int block,
                   bool square) {
  constexpr std::int64_t grain = 1 << 14;
  const auto nodes = static_cast<Index>(order.size());
  OwnOrder own;
  own.order.rows = Array<Index>(order.size() * static_cast<std::size_t>(block));
  parallel_for(nodes, grain, [&](Offset i) {
    for (int r = 0; r < block; ++r) own.order.rows[i * block + r] = order[i] * block + r;
  });
  if (!square) return own;
  own.order.columns = own.order.rows;
  const Array<Index> places = inverse_permutation(order, nodes, "the order of the rows");
  own.cached = Array<Index>(cached.size());
  parallel_for(static_cast<Offset>(cached.size()), grain, [&](Offset i) { own.cached[i] = places[cached[i]]; });
  own.extra_columns = Array<Index>(extra_columns.size());
  parallel_for(static_cast<Offset>(extra_columns.size()), grain, [&](Offset i) {
    const Index column = extra_columns[i];
    own.extra_columns[i] = column < 0 ? column : places[column / block] * block + column % block;
  });
  return own;
}

}  // namespace weft::ehyb
