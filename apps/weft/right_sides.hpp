#pragma once
#include <weft/csr.hpp>

#include <string>

#include "io/columns_file.hpp"

namespace weft::app {

/// What `weft solve` solves for.
template <Value V>
struct RightSides {
  io::Columns<V> b;
  Array<V> answer;               ///< of the only right side, where it is known; else empty
  bool of_the_equation = false;  ///< the answer is that of the equation, not of the matrix: the mesh's error is in it
};

/// `name` is "known" (A times a random x), "smooth" (A times an x that changes slowly from row to row, or over the mesh
/// of fem:), "manufactured" (of fem: only: the load of a smooth field), "ones", or a file with a right side in each
/// column. `source` is where the matrix is from. Throws Error(invalid_argument) when the lengths do not fit.
template <Value V>
RightSides<V> make_right_sides(const std::string& name, const std::string& source, const Csr<V>& matrix);

/// A file with as many columns as there are right sides, of a number for each row; `name` begins the sentence when it
/// is not so.
template <Value V>
io::Columns<V> read_one_per_row(const std::string& path, const char* name, Index rows);

/// |x - answer| / |answer|
template <Value V>
double relative_error(std::span<const V> x, std::span<const V> answer);

}  // namespace weft::app
