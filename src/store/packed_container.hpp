#pragma once
#include <weft/csr.hpp>

#include "formats/registry.hpp"
#include "store/container.hpp"

// Matrices that a .weft file keeps as a format does, not as csr.
namespace weft::io {

/// The format whose matrix a container holds; null when it is csr, or none that can be stored.
const Format* packed_format(const Container& container);

/// The recipe (see PlanInfo) of what such a container holds; empty: it does not say. Throws Error(parse) when it is not
/// one of this format.
std::string recipe_in(const Container& container, const Format& format);

/// What such a container holds: the format's arrays, and the matrix that was found in them when they were checked.
template <Value V>
struct Packed {
  StoredArrays arrays;
  Csr<V> matrix;
  std::string recipe;
};

/// Throws Error(parse), naming the file, unless the container holds a canonical matrix in this format.
template <Value V>
Packed<V> unpack(const Container& container, const Format& format);

}  // namespace weft::io
