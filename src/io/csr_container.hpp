#pragma once
#include <weft/csr.hpp>

#include "io/container.hpp"

namespace weft::io {

/// The matrix a container holds; columns and offsets are views of it, values too unless they must be converted. Throws
/// Error(parse) when it holds no canonical matrix or a value is too large for V, Error(unsupported) past 2^31-1 rows or
/// columns.
template <Value V>
Csr<V> csr_from_container(const Container& container);

}  // namespace weft::io
