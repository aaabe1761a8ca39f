#include "attached.hpp"

#include <weft/error.hpp>

#include <cstring>
#include <memory>

#include "events.hpp"
#include "guarded.hpp"
#include "report.hpp"

namespace weft::petsc {
namespace {

constexpr const char* key = "weft_attached";

/// Values that change before this many products are not worth converting: then the matrix stays in csr, on PETSc's own
/// array.
constexpr std::int64_t few_products = 5;
constexpr int max_hasty_updates = 3;

/// `auto` looks at a matrix for some tenths of a millisecond at least. With fewer nonzeros 100 products would not pay
/// for that, whatever it found.
constexpr std::int64_t min_nonzeros_to_choose = 100000;

PetscErrorCode destroy_attached(void* memory) {
  const std::unique_ptr<Attached> attached(static_cast<Attached*>(memory));
  if (attached->planned || !attached->why_not.empty()) keep_report(*attached);
  return PETSC_SUCCESS;
}
#if PETSC_VERSION_GE(3, 23, 0)
/// Takes where the pointer is: a void** at first, a void* in later versions.
template <class Place>
PetscErrorCode destroy_attached_at(Place place) {
  return destroy_attached(*static_cast<void**>(place));
}
#endif

PetscErrorCode find(Mat matrix, Attached*& attached) {
  PetscContainer container = nullptr;
  void* memory = nullptr;
  PetscFunctionBegin;
  PetscCall(PetscObjectQuery(reinterpret_cast<PetscObject>(matrix), key, reinterpret_cast<PetscObject*>(&container)));
  if (container) PetscCall(PetscContainerGetPointer(container, &memory));
  attached = static_cast<Attached*>(memory);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode find_or_make(Mat matrix, Attached*& attached) {
  PetscContainer container = nullptr;
  PetscFunctionBegin;
  PetscCall(find(matrix, attached));
  if (attached) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &container));
  PetscCall(guarded([&] { attached = std::make_unique<Attached>().release(); }));
  PetscCall(PetscContainerSetPointer(container, attached));
#if PETSC_VERSION_GE(3, 23, 0)
  PetscCall(PetscContainerSetCtxDestroy(container, destroy_attached_at));
#else
  PetscCall(PetscContainerSetUserDestroy(container, destroy_attached));
#endif
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(matrix), key, reinterpret_cast<PetscObject>(container)));
  PetscCall(PetscContainerDestroy(&container));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// PETSc hands out its own arrays here, no copies; they stay until the pattern changes.
PetscErrorCode arrays_of(Mat matrix, AijArrays& arrays) {
  PetscScalar* values = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(matrix, &arrays.rows, &arrays.cols));
  PetscCall(MatSeqAIJGetCSRAndMemType(matrix, &arrays.offsets, &arrays.columns, &values, nullptr));
  arrays.values = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}

bool same_pattern(const AijArrays& a, const AijArrays& b) {
  return a.rows == b.rows && a.cols == b.cols && a.offsets == b.offsets && a.columns == b.columns;
}

PetscErrorCode read_settings_of(Mat matrix, Attached& attached, Settings& settings) {
  const char* prefix = nullptr;
  PetscFunctionBegin;
  PetscCall(MatGetOptionsPrefix(matrix, &prefix));
  PetscCall(guarded([&] {
    if (prefix) attached.prefix = prefix;  // else that of the matrix it is a block of, if any
  }));
  PetscCall(read_settings(attached.prefix.empty() ? nullptr : attached.prefix.c_str(), settings));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Plans the matrix. Where its rows are not sorted, as only arrays of the user's own may be, AIJ's product is used.
void plan_anew(Attached& attached, const AijArrays& arrays, const Request& request) {
  attached.planned.reset();
  attached.why_not.clear();
  try {
    attached.planned = std::make_unique<PlannedMatrix>(arrays, request);
    attached.planning_seconds += attached.planned->info().planning_seconds;
    // A format that was chosen before is named when the transposed matrix joins it.
    if (std::string why = reasons(attached.planned->info()); !why.empty()) attached.note = std::move(why);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_matrix) throw;
    attached.why_not = error.what();
  }
}

PetscErrorCode inform(Mat matrix, const Attached& attached) {
  std::string text;
  PetscFunctionBegin;
  PetscCall(guarded([&] { text = describe(attached); }));
  PetscCall(PetscInfo(matrix, "Weft: %s\n", text.c_str()));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode plan_pattern(Mat matrix, Attached& attached, const AijArrays& arrays, Request request) {
  PetscFunctionBegin;
  PetscCall(PetscLogEventBegin(event(Event::plan), matrix, 0, 0, 0));
  PetscCall(guarded([&] { plan_anew(attached, arrays, request); }));
  PetscCall(PetscLogEventEnd(event(Event::plan), matrix, 0, 0, 0));
  PetscCall(inform(matrix, attached));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// A pattern that was not seen before, or another one than last time.
PetscErrorCode take_pattern(Mat matrix, Attached& attached, const AijArrays& arrays, bool transpose) {
  Settings settings;
  PetscFunctionBegin;
  PetscCall(read_settings_of(matrix, attached, settings));
  if (attached.pattern >= 0) {
    if (attached.planned) keep_report(attached);
    if (!settings.products_given) attached.expected = PetscMax(attached.products, 1);
  }
  attached.products = attached.updates = attached.products_since_update = 0;
  attached.hasty_updates = 0;
  attached.note.clear();
  attached.update_seconds = attached.planning_seconds = 0;
  attached.arrays = arrays;
  if (arrays.nonzeros() < PetscMax(settings.small, 1)) {
    attached.planned.reset();
    PetscCall(guarded([&] {
      attached.why_not = std::to_string(arrays.nonzeros()) + " nonzeros are few (-mat_weft_small " +
                         std::to_string(settings.small) + ")";
    }));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(guarded([&] {
    if (settings.format != "auto" || settings.products_given || arrays.nonzeros() >= min_nonzeros_to_choose) return;
    settings.format = "csr";
    attached.note = "too small to look for another format";
  }));
  PetscCall(plan_pattern(matrix, attached, arrays,
                         {.format = settings.format,
                          .products = attached.expected > 0 ? attached.expected : settings.products,
                          .transpose = transpose}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// The same storage, and that of the transposed matrix.
PetscErrorCode add_transposed(Mat matrix, Attached& attached, const AijArrays& arrays) {
  const PlanInfo& info = attached.planned->info();
  PetscFunctionBegin;
  PetscCall(plan_pattern(matrix, attached, arrays, {.format = info.recipe, .products = 1, .transpose = true}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/// Whether values keep changing so soon that converting them does not pay.
bool is_hasty(Attached& attached) {
  attached.hasty_updates = attached.products_since_update < few_products ? attached.hasty_updates + 1 : 0;
  return attached.hasty_updates >= max_hasty_updates && !attached.planned->borrows_values();
}

PetscErrorCode take_values(Mat matrix, Attached& attached, const AijArrays& arrays) {
  Settings settings;
  PetscLogDouble begin = 0, end = 0;
  PetscFunctionBegin;
  ++attached.updates;
  if (attached.planned && is_hasty(attached) && !attached.planned->transpose()) {
    PetscCall(read_settings_of(matrix, attached, settings));
    if (settings.format == "auto") {
      PetscCall(guarded([&] { attached.note = "values change too often for another format"; }));
      PetscCall(plan_pattern(matrix, attached, arrays, {.format = "csr"}));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  attached.products_since_update = 0;
  if (!attached.planned) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscLogEventBegin(event(Event::update), matrix, 0, 0, 0));
  PetscCall(PetscTime(&begin));
  PetscCall(guarded([&] { attached.planned->update(arrays.values); }));
  PetscCall(PetscTime(&end));
  PetscCall(PetscLogEventEnd(event(Event::update), matrix, 0, 0, 0));
  attached.update_seconds += end - begin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode make_ready(Mat matrix, bool transpose, Attached*& attached) {
  PetscObjectState pattern = 0, values = 0;
  AijArrays arrays;
  PetscFunctionBegin;
  PetscCall(find_or_make(matrix, attached));
  PetscCall(MatGetNonzeroState(matrix, &pattern));
  PetscCall(PetscObjectStateGet(reinterpret_cast<PetscObject>(matrix), &values));
  const bool known = attached->pattern == pattern && attached->values == values;
  if (!known) {
    PetscCall(arrays_of(matrix, arrays));
    if (attached->pattern != pattern || !same_pattern(attached->arrays, arrays))
      PetscCall(take_pattern(matrix, *attached, arrays, transpose));
    else
      PetscCall(take_values(matrix, *attached, arrays));
    attached->arrays = arrays;
    attached->pattern = pattern;
    attached->values = values;
  }
  if (transpose && attached->planned && !attached->planned->transpose())
    PetscCall(add_transposed(matrix, *attached, attached->arrays));
  ++attached->products;
  ++attached->products_since_update;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode set_role(Mat block, const char* role, const char* prefix) {
  Attached* attached = nullptr;
  PetscFunctionBegin;
  PetscCall(find_or_make(block, attached));
  if (attached->role.empty()) {
    PetscCall(guarded([&] {
      attached->role = role;
      attached->prefix = prefix ? prefix : "";
    }));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode detach(Mat matrix) {
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose(reinterpret_cast<PetscObject>(matrix), key, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
