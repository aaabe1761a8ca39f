#pragma once
#include <memory>
#include <string>

#include "planned.hpp"
#include "settings.hpp"

namespace weft::petsc {

/// What the plug-in keeps with a sequential matrix, made at its first product: PETSc's object holds and destroys it.
/// MatGetNonzeroState and PetscObjectStateGet decide whether the plan is still one of the matrix.
struct Attached {
  std::string role;    ///< "diagonal block", "off-diagonal block", or empty
  std::string prefix;  ///< of the distributed matrix that this is a block of

  std::unique_ptr<PlannedMatrix> planned;  ///< empty: AIJ's own products are used
  std::string why_not;                     ///< the reason for that, in words
  std::string note;                        ///< why it was planned as it is
  PetscObjectState pattern = -1;           ///< nonzero state that was planned
  PetscObjectState values = -1;            ///< object state whose values the plan has
  AijArrays arrays;                        ///< that were planned: other ones are another matrix

  std::int64_t products = 0;  ///< since the matrix was planned
  std::int64_t updates = 0;   ///< of values, since then
  std::int64_t products_since_update = 0;
  int hasty_updates = 0;      ///< one after the other, each after a few products only
  std::int64_t expected = 0;  ///< products to expect, from the last pattern; 0: not known
  double planning_seconds = 0;
  double update_seconds = 0;
};

/// Makes the plan of `matrix`, a seqaijweft, fit its pattern and values, and returns it in `attached`; its `planned` is
/// empty where AIJ's own product is to be used. Not collective.
PetscErrorCode make_ready(Mat matrix, bool transpose, Attached*& attached);

/// Says what a block of a distributed matrix is, for options and reports.
PetscErrorCode set_role(Mat block, const char* role, const char* prefix);

/// Drops what was kept, with a report if one was requested.
PetscErrorCode detach(Mat matrix);

}  // namespace weft::petsc
