#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/export.hpp>
#include <weft/linear_operator.hpp>
#include <weft/runtime.hpp>
#include <weft/source.hpp>
#include <weft/types.hpp>
#include <weft/vector.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Preconditioners for the methods of solve.hpp: each is about A^-1, and only multiplies, so that it runs at the speed
// of memory on every device. None solves with a triangle.
//
//   jacobi        the inverse of the diagonal
//   block_jacobi  the inverses of blocks on the diagonal
//   chebyshev     a polynomial in A: products with A itself
//   fsai          G' G with G A G' ~ I, G lower triangular and sparse; A symmetric, positive definite
//   isai, spai    a sparse M ~ A^-1, row by row; any A
//
//   auto r = weft::cg(P, b, x, {.rtol = 1e-8, .preconditioner = weft::fsai(A)});
namespace weft {

/// What a preconditioner is, and what it cost.
struct PreconditionerInfo {
  std::string name;           ///< as in preconditioners()
  std::string details;        ///< what it chose, one line: "3 x 3 blocks, power 2, 40.5 entries per row of G"
  Offset nonzeros = 0;        ///< of the matrices that one application multiplies with, A's products included
  std::size_t bytes = 0;      ///< on its device, for these and to update them, without A
  double setup_seconds = 0;   ///< until it was made
  double update_seconds = 0;  ///< of the last update_values; 0 before
};

/// A preconditioner that was made from a matrix. Pattern and values are separate stages: when only the numbers of the
/// matrix change (time steps, Newton's method), update_values is the cheaper way.
///
/// As a Plan, to be applied from one thread (or stream) at a time. `apply` allocates nothing.
template <Value V>
class WEFT_API UpdatablePreconditioner : public LinearOperator<V> {
 public:
  /// New numbers for the pattern that it was made with. Afterwards it has the bits of one that is newly made, except
  /// where its pattern was thinned by the old numbers. Throws as the function that made it, and Error(invalid_argument)
  /// for a matrix of another size; after a throw the old numbers may be partly replaced.
  virtual void update_values(const MatrixSource<V>& A) = 0;
  virtual const PreconditionerInfo& info() const = 0;
};

template <Value V>
using MadePreconditioner = std::shared_ptr<UpdatablePreconditioner<V>>;

// All take square matrices. They throw Error(invalid_argument) for others and for options out of range, and name the
// first row that makes the preconditioner impossible. `A` is a MatrixSource, or a Csr; it is not kept. The same matrix
// gives the same bits, for any number of threads.

/// Divides by the diagonal. Throws Error(invalid_argument) naming the first row whose diagonal entry is missing, zero
/// or not finite.
template <Value V>
WEFT_API MadePreconditioner<V> jacobi(const MatrixSource<V>& A, Device device);

struct BlockJacobiOptions {
  /// Rows of a block. 0: the size of the matrix's own blocks (Structure::block_size). The last one may be smaller.
  int block = 0;
  std::vector<Index> sizes = {};          ///< the sizes of all blocks, if they differ; `block` then means nothing
  std::optional<Device> device = {};      ///< where it is applied; none: where the matrix is
  std::string format = {};                ///< as PlanOptions::format; empty: as in SparseInverseOptions
  static constexpr int max_block = 1024;  ///< of `block` and `sizes`
};

/// The inverses of the blocks on the diagonal. Throws Error(invalid_argument) naming the first row of a block that is
/// singular or not finite. Symmetric where A is.
template <Value V>
WEFT_API MadePreconditioner<V> block_jacobi(const MatrixSource<V>& A, const BlockJacobiOptions& options = {});

/// For a sparse approximate inverse. The pattern is that of A (its lower triangle in fsai), or of a power of it; in
/// nodes, where unknowns come in blocks: one dense system then gives all rows of a node.
///
/// Thinning: an entry (i, j) is as strong as the strongest path of at most `power` steps from i to j, the product of
/// its steps. A step is |a_ij| / sqrt(|a_ii a_jj|) in fsai, and |a_ij| over the largest of its row in isai and spai;
/// with blocks, of Frobenius norms. Entries weaker than `drop` are left out, and the weakest where there are more than
/// max_unknowns. Paths do not lead through rows with more than 16 max_unknowns entries.
struct SparseInverseOptions {
  int power = 2;             ///< 1 to 8: 2 takes the pattern of A^2
  double drop = 0.05;        ///< 0 to 1; 0 keeps all
  int block = 0;             ///< unknowns of a node, 1 to 64; 0: the matrix's own (Structure::block_size)
  Index max_unknowns = 256;  ///< the largest dense system, 1 to 4096
  /// Stored and multiplied in f32, to vectors of f64: half the bytes, and few more iterations. Only while
  /// matrix and vectors are well within the range of f32: matrices and right sides from 1e-20 to 1e20, say.
  bool single = false;
  std::optional<Device> device = {};  ///< where it is applied; none: where the matrix is
  /// As PlanOptions::format. Empty: bro-sell, on a CPU sell where there are no blocks, and csr where these refuse.
  std::string format = {};
  Progress progress = {};
};

/// The factored sparse approximate inverse (Kolotilina and Yeremin, 1993): M = G' G, where G is about the inverse of
/// A's Cholesky factor and diag(G A G') = 1. Symmetric and positive definite, whatever is thinned. The numbers are
/// those of the lower triangle of A; where the other has others, nobody notices. Each row, or node, takes one small
/// dense system, solved in f64; on a GPU by the GPU. Throws Error(invalid_argument) naming the first row at which A is
/// found not to be positive definite.
template <Value V>
WEFT_API MadePreconditioner<V> fsai(const MatrixSource<V>& A, const SparseInverseOptions& options = {});

/// The incomplete sparse approximate inverse (Anzt et al., 2018): M A = I at the places of M's pattern, by one small
/// dense system per row or node. A row whose system is singular is found as in spai. Computed on the host.
/// Throws Error(invalid_argument) naming the first row with an entry that is not finite, or that has none.
template <Value V>
WEFT_API MadePreconditioner<V> isai(const MatrixSource<V>& A, const SparseInverseOptions& options = {});

/// The sparse approximate inverse (Grote and Huckle, 1997, with a pattern that is given): M that minimises
/// |I - M A| in the Frobenius norm over its pattern, by one small least-squares problem per row. Takes longer to set up
/// than isai, and cannot be worse than M = 0 in that norm. Computed on the host. Throws as isai.
template <Value V>
WEFT_API MadePreconditioner<V> spai(const MatrixSource<V>& A, const SparseInverseOptions& options = {});

struct ChebyshevOptions {
  int degree = 4;      ///< 1 to 100: one application takes degree - 1 products with A
  double ratio = 30;   ///< above 1: eigenvalues from the largest / ratio on are made alike, smaller ones less
  double largest = 0;  ///< a bound of the eigenvalues of D^-1 A; 0: estimated
  int steps = 10;      ///< of Lanczos's method, for the estimate
  static constexpr int max_degree = 100;
};

/// A Chebyshev polynomial in D^-1 A, D the diagonal of A: multiplies with `P`, any operator that is A, and divides by
/// D. For symmetric, positive definite A: symmetric, and positive definite as long as no eigenvalue of D^-1 A is above
/// (1 + 1 / ratio) times the bound. The bound is the largest row sum of |D^-1 A|, which always is one, or what
/// Lanczos's method with a fixed first vector finds plus its residual, where that is smaller: nearly always a bound.
/// `P` must live as long as the result, on whose device it is applied; update P's values before calling update_values.
/// Throws as jacobi, and where the estimate finds a direction in which A is not positive.
template <Value V>
WEFT_API MadePreconditioner<V> chebyshev(const LinearOperator<V>& P, const MatrixSource<std::type_identity_t<V>>& A,
                                         const ChebyshevOptions& options = {});

template <Value V>
MadePreconditioner<V> jacobi(const Csr<V>& A, Device device = Device::cpu()) {
  return jacobi(MatrixSource<V>(A), device);
}
template <Value V>
MadePreconditioner<V> block_jacobi(const Csr<V>& A, const BlockJacobiOptions& options = {}) {
  return block_jacobi(MatrixSource<V>(A), options);
}
template <Value V>
MadePreconditioner<V> fsai(const Csr<V>& A, const SparseInverseOptions& options = {}) {
  return fsai(MatrixSource<V>(A), options);
}
template <Value V>
MadePreconditioner<V> isai(const Csr<V>& A, const SparseInverseOptions& options = {}) {
  return isai(MatrixSource<V>(A), options);
}
template <Value V>
MadePreconditioner<V> spai(const Csr<V>& A, const SparseInverseOptions& options = {}) {
  return spai(MatrixSource<V>(A), options);
}

/// A number that a preconditioner may be given by name: "fsai:power=2:drop=0.05".
struct PreconditionerParameter {
  std::string name;
  std::string summary;
  double fallback = 0;  ///< where none is given
  double min = 0;
  double max = 1;
  bool whole = true;
};

/// What one preconditioner is, for tools and tables.
struct PreconditionerKind {
  std::string name;
  std::string summary;
  bool needs_positive_definite = false;  ///< A must be symmetric and positive definite; else any square A may do
  bool keeps_symmetry = false;           ///< symmetric for a symmetric A, as cg and minres need it
  std::vector<PreconditionerParameter> parameters;
};

/// Every preconditioner, the cheapest to set up first. The one list of them.
WEFT_API const std::vector<PreconditionerKind>& preconditioners();

/// The kind that "fsai" or "fsai:power=2" names; null: there is none of that name.
WEFT_API const PreconditionerKind* find_preconditioner(std::string_view recipe);

/// Makes a preconditioner by name: NAME[:PARAMETER=NUMBER]... `P` is A as an operator, on the device where the
/// preconditioner is to be applied; chebyshev keeps a reference to it. Throws Error(invalid_argument), with what there
/// is, for an unknown name or parameter and a number out of its range, and as the function of that name.
template <Value V>
WEFT_API MadePreconditioner<V> make_preconditioner(std::string_view recipe, const LinearOperator<V>& P,
                                                   const MatrixSource<std::type_identity_t<V>>& A,
                                                   const Progress& progress = {});

}  // namespace weft
