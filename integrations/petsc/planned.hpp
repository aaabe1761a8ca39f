#pragma once
#include <weft/plan.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "petsc.hpp"

namespace weft::petsc {

/// The arrays of a sequential AIJ matrix, as PETSc has them.
struct AijArrays {
  PetscInt rows = 0;
  PetscInt cols = 0;
  const PetscInt* offsets = nullptr;
  const PetscInt* columns = nullptr;
  const PetscScalar* values = nullptr;

  std::int64_t nonzeros() const { return rows > 0 ? offsets[rows] : 0; }
};

/// How a matrix is to be planned.
struct Request {
  std::string format = "auto";
  std::int64_t products = 250;
  bool transpose = false;
};

/// Several dense columns: element i of column j is data[i + j * stride].
template <class T>
struct Columns {
  T* data = nullptr;
  int count = 1;
  std::size_t stride = 0;
};

/// A sequential matrix planned by Weft. It borrows PETSc's arrays, which must stay where they are; formats other than
/// csr hold values of their own. Where most rows are empty, as in the off-diagonal block of a distributed matrix, only
/// the others are planned, and products touch nothing else of y.
///
/// Everything throws weft::Error; arrays that are not canonical are an invalid_matrix.
class PlannedMatrix {
 public:
  PlannedMatrix(const AijArrays& arrays, const Request& request);

  /// y = A x, or y += A x.
  void multiply(const PetscScalar* x, PetscScalar* y, bool add);
  /// y = A^T x, or y += A^T x; the request was with .transpose.
  void multiply_transposed(const PetscScalar* x, PetscScalar* y, bool add);
  /// Y = A X. Throws std::bad_alloc where there is no memory for copies of eight columns of both.
  void multiply_several(Columns<const PetscScalar> x, Columns<PetscScalar> y);

  /// y = A x, or y += A x, with vectors in the memory of GPU `device`, where the matrix is then held too. Done when it
  /// returns.
  void multiply_on_gpu(int device, const PetscScalar* x, PetscScalar* y, bool add);

  /// PETSc's values changed, the pattern did not.
  void update(const PetscScalar* values);

  /// Whether the plan multiplies with PETSc's own array of values, so that an update is free.
  bool borrows_values() const;
  bool transpose() const { return request_.transpose; }
  const AijArrays& arrays() const { return arrays_; }
  const PlanInfo& info() const { return plan_->info(); }
  /// Rows that are planned: those with entries, or all.
  std::int64_t planned_rows() const;

 private:
  void keep_filled_rows();
  void multiply_together(int count, Columns<const PetscScalar> x, Columns<PetscScalar> y);
  enum class Rows { planned, all };
  Plan<PetscScalar> make_plan(const PlanOptions& options, Rows which) const;
  std::span<const PetscScalar> values() const;

  AijArrays arrays_;
  Request request_;
  std::vector<Index> narrow_columns_;     // where PETSc's are 64-bit
  std::vector<PetscInt> filled_rows_;     // empty: all are planned
  std::vector<PetscInt> filled_offsets_;  // of these
  std::vector<PetscScalar> packed_x_;     // some dense columns, row by row
  std::vector<PetscScalar> packed_y_;
  std::vector<PetscScalar> filled_;              // a part of y, or of x for the transposed matrix
  std::unique_ptr<Plan<PetscScalar>> plan_;      // never empty
  std::unique_ptr<Plan<PetscScalar>> gpu_plan_;  // made by the first product there
};

}  // namespace weft::petsc
