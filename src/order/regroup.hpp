#pragma once
#include <weft/array.hpp>
#include <weft/types.hpp>

#include "sparse/group_by_key.hpp"

namespace weft::ordering {

/// The same rows, ordered by key(row), which is below `key_count`; rows of one key stay in their order. Linear.
template <class Key>
Array<Index> regroup(const Array<Index>& rows, Offset key_count, Key&& key) {
  Array<Index> result(rows.size());
  const auto source = [&](Offset begin, Offset end, auto&& sink) {
    for (Offset i = begin; i < end; ++i) sink(static_cast<Index>(key(rows[i])), rows[i]);
  };
  group_by_key(source, static_cast<Offset>(rows.size()), key_count, Fields<Index>(result.data()));
  return result;
}

}  // namespace weft::ordering
