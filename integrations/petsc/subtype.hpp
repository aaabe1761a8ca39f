#pragma once
#include <initializer_list>
#include <vector>

#include "petsc.hpp"

namespace weft::petsc {

/// A method of AIJ that the subtype replaces. AIJ's own, which PETSc does not export, is remembered from the first
/// matrix of the base type that is converted.
struct Replaced {
  MatOperation operation;
  Method ours = nullptr;
  Method aijs = nullptr;
};

using Conversion = PetscErrorCode (*)(Mat, MatType, MatReuse, Mat*);

/// A matrix type that is AIJ but for a few methods. An object changes between the two in place: AIJ's data stay as
/// they are.
class Subtype {
 public:
  /// `base` and `name` are types' names, `to_weft` and `to_aij` what MatConvert is to call.
  Subtype(const char* base, const char* name, std::initializer_list<Replaced> replaced, Conversion to_weft,
          Conversion to_aij);

  const char* name() const { return name_; }
  PetscErrorCode is(Mat matrix, bool& result) const;

  /// Makes a matrix of the base type one of this type. One that is already stays as it is.
  PetscErrorCode adopt(Mat matrix);
  /// The reverse.
  PetscErrorCode release(Mat matrix) const;
  /// As MatConvert demands: `adopt` or `release`, of the matrix itself or of a copy.
  PetscErrorCode convert(Mat matrix, bool to_weft, MatReuse reuse, Mat* result);

  /// AIJ's own method.
  template <class F>
  F* aijs(MatOperation operation) const {
    return reinterpret_cast<F*>(find(operation));
  }

 private:
  Method find(MatOperation operation) const;
  PetscErrorCode remember(Mat matrix);
  PetscErrorCode compose(Mat matrix, bool present) const;

  const char* base_;
  const char* name_;
  std::vector<Replaced> replaced_;
  Conversion to_weft_;
  Conversion to_aij_;
  bool remembered_ = false;
};

}  // namespace weft::petsc
