#pragma once
#include <weft/csr.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "generate/mesh.hpp"
#include "generate/random.hpp"
#include "sparse/testing.hpp"

/// What the tests of the generators share.
namespace weft::testing {

inline std::string mesh_file(const std::string& name) { return WEFT_TEST_DATA "/mesh/" + name; }

/// FNV-1a over the size and all bytes of the matrix: one number that pins every bit.
template <class V>
std::uint64_t checksum(const Csr<V>& matrix) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&](const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3u;
  };
  add(&matrix.rows, sizeof matrix.rows);
  add(&matrix.cols, sizeof matrix.cols);
  add(matrix.offsets.data(), matrix.offsets.bytes());
  add(matrix.columns.data(), matrix.columns.bytes());
  add(matrix.values.data(), matrix.values.bytes());
  return hash;
}

template <class V>
std::vector<std::vector<double>> dense_of(const Csr<V>& matrix) {
  std::vector<std::vector<double>> result(matrix.rows, std::vector<double>(matrix.cols, 0.0));
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      result[row][matrix.columns[i]] = matrix.values[i];
  return result;
}

/// Symmetric to the last bit, pattern and values.
template <class V>
bool is_symmetric(const Csr<V>& matrix) {
  return matrix.rows == matrix.cols && same_bits(matrix, transpose(matrix));
}

/// Whether Cholesky's factorisation runs through, with pivots clearly above rounding.
template <class V>
bool is_positive_definite(const Csr<V>& matrix) {
  auto a = dense_of(matrix);
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, a[i][i]);
  for (std::size_t k = 0; k < a.size(); ++k) {
    if (!(a[k][k] > 1e-10 * largest)) return false;
    const double pivot = std::sqrt(a[k][k]);
    for (std::size_t i = k; i < a.size(); ++i) a[i][k] /= pivot;
    for (std::size_t j = k + 1; j < a.size(); ++j)
      for (std::size_t i = j; i < a.size(); ++i) a[i][j] -= a[i][k] * a[j][k];
  }
  return true;
}

/// Stresses from strains (xx, yy, zz, yz, xz, xy) in an isotropic material of modulus 1 and Poisson's ratio 0.3.
inline std::array<std::array<double, 6>, 6> material_matrix() {
  const double ratio = 0.3, scale = 1 / ((1 + ratio) * (1 - 2 * ratio));
  std::array<std::array<double, 6>, 6> material{};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) material[i][j] = scale * (i == j ? 1 - ratio : ratio);
  for (int i = 3; i < 6; ++i) material[i][i] = scale * (1 - 2 * ratio) / 2;
  return material;
}

template <class V>
std::vector<double> product(const Csr<V>& matrix, const std::vector<double>& x) {
  std::vector<double> y(matrix.rows, 0.0);
  for (Index row = 0; row < matrix.rows; ++row)
    for (Offset i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i)
      y[row] += static_cast<double>(matrix.values[i]) * x[matrix.columns[i]];
  return y;
}

/// The unit cube cut into cells^3 cubes and each of these into six tetrahedra; inner points are pushed about at random,
/// so that nothing is right by symmetry only.
inline generation::Mesh box_mesh(int cells, double push = 0.2) {
  generation::Mesh mesh;
  const int side = cells + 1;
  const generation::Random random(7);
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        const bool inner = x > 0 && y > 0 && z > 0 && x < cells && y < cells && z < cells;
        const auto at = [&](int place, std::size_t axis) {
          const double shift = inner ? push * random.uniform(3 * mesh.points.size() + axis) : 0.0;
          return (place + shift) / cells;
        };
        mesh.points.push_back({at(x, 0), at(y, 1), at(z, 2)});
      }
  const int steps[3] = {1, side, side * side};
  for (int z = 0; z < cells; ++z)
    for (int y = 0; y < cells; ++y)
      for (int x = 0; x < cells; ++x) {
        const Index origin = x + side * (y + side * z);
        // One tetrahedron for each order in which a path can walk the three axes from corner to opposite corner.
        const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        for (const auto& order : orders) {
          const Index second = origin + steps[order[0]];
          const Index third = second + steps[order[1]];
          mesh.tetrahedra.push_back({origin, second, third, third + steps[order[2]]});
        }
      }
  return mesh;
}

}  // namespace weft::testing
