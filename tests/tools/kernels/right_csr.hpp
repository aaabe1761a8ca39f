#pragma once
// The csr kernel as it is, under another name: what slowed_csr.cpp and wrong_csr.cpp make theirs from.
#include "core/simd.hpp"
#include "formats/cpu_product.hpp"
#include "formats/csr/row_groups.hpp"
#include "formats/row_vectors.hpp"

// One object for all value types, where the library has one for each.
#define WEFT_KERNELS(DO) WEFT_FOR_EACH_VALUE(DO)
#define multiply multiply_rightly
#include "formats/csr/cpu.cpp"
#undef multiply
#undef WEFT_INSTANTIATE
