#pragma once
#include <weft/coo.hpp>

#include "io/line_chunks.hpp"
#include "io/matrix_market_header.hpp"

namespace weft::io {

/// The entries of a coordinate file in its order; a stored half stays one.
template <Value V>
Coo<V> read_coordinate_body(const LineChunks& lines, const MatrixMarketHeader& header, ProgressMeter& progress);

/// The values of an array file in its order: by columns, of a symmetric matrix only the lower triangle.
template <Value V>
Array<V> read_array_body(const LineChunks& lines, const MatrixMarketHeader& header, ProgressMeter& progress);

/// One number a line, as many as there are lines.
template <Value V>
Array<V> read_plain_numbers(const LineChunks& lines, ProgressMeter& progress);

}  // namespace weft::io
