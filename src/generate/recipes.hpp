#pragma once
#include <weft/csr.hpp>
#include <weft/runtime.hpp>

#include "generate/arguments.hpp"

/// One function a generator; docs/generators.md says what each makes. They take their arguments, refuse bad ones, and
/// build a canonical matrix.
namespace weft::generation {

// grids.cpp
template <Value V>
Csr<V> poisson2d(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> poisson3d(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> stencil27(Arguments& arguments, const Progress& progress);

// elasticity3d.cpp
template <Value V>
Csr<V> elasticity3d(Arguments& arguments, const Progress& progress);

// physics.cpp
template <Value V>
Csr<V> epidemic2d(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> lattice4d(Arguments& arguments, const Progress& progress);

// rmat.cpp
template <Value V>
Csr<V> rmat(Arguments& arguments, const Progress& progress);

// irregular.cpp
template <Value V>
Csr<V> uniform(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> circuit(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> lp(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> tall(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> empty_rows(Arguments& arguments, const Progress& progress);

// shapes.cpp
template <Value V>
Csr<V> band(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> arrow(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> dense(Arguments& arguments, const Progress& progress);
template <Value V>
Csr<V> diagonal(Arguments& arguments, const Progress& progress);

}  // namespace weft::generation
