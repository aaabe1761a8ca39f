#pragma once
#include <array>

namespace weft::generation {

using Block = std::array<double, 9>;  ///< 3x3, by rows

/// Lame's constants of an isotropic material of modulus 1 and Poisson's ratio 0.3.
inline constexpr double poissons_ratio = 0.3;
inline constexpr double lame_lambda = poissons_ratio / ((1.0 + poissons_ratio) * (1.0 - 2.0 * poissons_ratio));
inline constexpr double lame_mu = 1.0 / (2.0 * (1.0 + poissons_ratio));

/// Turns the integrals of d_i N_a d_j N_b into the stiffness between the displacements of nodes a and b, for an
/// isotropic material of modulus 1 and Poisson's ratio 0.3:
///   lambda d_i N_a d_j N_b + mu (d_j N_a d_i N_b + delta_ij grad N_a . grad N_b)
inline Block elastic_block(const Block& gradients) {
  constexpr double lambda = lame_lambda, mu = lame_mu;
  const double shear = mu * (gradients[0] + gradients[4] + gradients[8]);
  Block block;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      block[i * 3 + j] = lambda * gradients[i * 3 + j] + mu * gradients[j * 3 + i];
      if (i == j) block[i * 3 + j] += shear;
    }
  return block;
}

}  // namespace weft::generation
