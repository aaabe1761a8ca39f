#pragma once
#include <weft/spmv.hpp>

#include "formats/csr/csr.hpp"

// csr without a plan, for `spmv`. O is uint32 or Offset.
WEFT_DECLARE_ON_DEVICES(csr, template <class V, class O>
                             std::size_t direct_workspace(const ::weft::csr::View<V, O>& matrix, Device device,
                                                          SpmvAlgorithm algorithm);
                        template <class V, class O>
                        void direct_multiply(const ::weft::csr::View<V, O>& matrix, const Product<V>& product,
                                             Device device, SpmvAlgorithm algorithm, std::byte* workspace,
                                             Stream stream);)
