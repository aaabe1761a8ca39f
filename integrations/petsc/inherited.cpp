#include "inherited.hpp"

#include <array>
#include <string>

#include "dense.hpp"
#include "guarded.hpp"

namespace weft::petsc {
namespace {

using SetProduct = PetscErrorCode (*)(Mat);

constexpr const char* targets[] = {"seqbaij",   "mpibaij",   "seqsbaij",  "mpisbaij", "seqdense",
                                   "mpidense",  "seqsell",   "mpisell",   "hypre",    "is",
                                   "scalapack", "elemental", "seqaijcrl", "mpiaijcrl"};

/// Products by the types of their factors; * is the subtype. Two AIJ matrices need none: they have the same method.
constexpr const char* products[] = {"*_seqdense", "*_mpidense", "seqdense_*", "mpidense_*",   "*_seqmaij",
                                    "*_mpimaij",  "*_hypre",    "is_*",       "transpose_*_*"};

PetscErrorCode inherit_conversion(Mat matrix, const char* base, const char* name, const char* target, bool present) {
  char theirs[128], ours[128];
  Method conversion = nullptr;
  const auto object = reinterpret_cast<PetscObject>(matrix);
  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(theirs, sizeof theirs, "MatConvert_%s_%s_C", base, target));
  PetscCall(PetscSNPrintf(ours, sizeof ours, "MatConvert_%s_%s_C", name, target));
  PetscCall(PetscObjectQueryFunction(object, theirs, &conversion));
  if (conversion) PetscCall(PetscObjectComposeFunction(object, ours, present ? conversion : nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

std::string with(const char* pattern, const char* name) {
  std::string text = "MatProductSetFromOptions_";
  for (const char* letter = pattern; *letter; ++letter)
    text += *letter == '*' ? std::string(name) : std::string(1, *letter);
  return text + "_C";
}

/// The name of the type that this one is a subtype of.
std::string base_of(Mat matrix) {
  const std::string type = reinterpret_cast<PetscObject>(matrix)->type_name;
  return type == seq_type ? MATSEQAIJ : type == mpi_type ? MATMPIAIJ : type;
}

}  // namespace

PetscErrorCode set_product_of_base_types(Mat result) {
  Mat factors[3] = {};
  std::string name;
  PetscFunctionBegin;
  PetscCall(MatProductGetMats(result, &factors[0], &factors[1], &factors[2]));
  PetscCall(guarded([&] {
    name = "MatProductSetFromOptions";
    for (Mat factor : factors)
      if (factor) name += "_" + base_of(factor);
    name += "_C";
  }));
  for (Mat factor : factors) {
    SetProduct found = nullptr;
    if (!factor) continue;
    PetscCall(PetscObjectQueryFunction(reinterpret_cast<PetscObject>(factor), name.c_str(), &found));
    if (!found) continue;
    PetscCall(found(result));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode inherit_functions(Mat matrix, const char* base, const char* name, bool present) {
  PetscFunctionBegin;
  for (const char* target : targets) PetscCall(inherit_conversion(matrix, base, name, target, present));
  for (const char* pattern : products) {
    std::string composed;
    SetProduct method = set_product_of_base_types;
    PetscCall(guarded([&] {
      composed = with(pattern, name);
      if (composed == with("*_seqdense", seq_type)) method = set_product_with_dense;
    }));
    PetscCall(PetscObjectComposeFunction(reinterpret_cast<PetscObject>(matrix), composed.c_str(),
                                         present ? method : nullptr));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
