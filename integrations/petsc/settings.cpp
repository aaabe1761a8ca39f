#include "settings.hpp"

#include <weft/formats.hpp>

#include <array>

#include "guarded.hpp"

namespace weft::petsc {
namespace {

PetscErrorCode read_number(const char* prefix, const char* name, PetscInt min, std::int64_t& number, bool* given) {
  PetscInt value = 0;
  PetscBool set = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(nullptr, prefix, name, &value, &set));
  if (!set && prefix) PetscCall(PetscOptionsGetInt(nullptr, nullptr, name, &value, &set));
  if (!set) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(value >= min, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "Weft: %s must be %" PetscInt_FMT " or more, not %" PetscInt_FMT, name, min, value);
  number = value;
  if (given) *given = true;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace

PetscErrorCode read_settings(const char* prefix, Settings& settings) {
  std::array<char, 256> format{};
  PetscBool set = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(nullptr, prefix, "-mat_weft_format", format.data(), format.size(), &set));
  if (!set && prefix)
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-mat_weft_format", format.data(), format.size(), &set));
  if (set) settings.format = format.data();
  PetscCall(guarded([&] { parse_recipe(settings.format); }));
  PetscCall(read_number(prefix, "-mat_weft_products", 1, settings.products, &settings.products_given));
  PetscCall(read_number(prefix, "-mat_weft_small", 0, settings.small, nullptr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_threads(int& threads) {
  std::int64_t number = 0;
  PetscFunctionBegin;
  PetscCall(read_number(nullptr, "-mat_weft_threads", 1, number, nullptr));
  threads = static_cast<int>(number);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode read_view(bool& view) {
  PetscBool flag = PETSC_FALSE;
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-mat_weft_view", &flag, nullptr));
  view = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode describe_options() {
  const Settings defaults;
  std::array<char, 256> format{};
  PetscInt products = static_cast<PetscInt>(defaults.products), small = static_cast<PetscInt>(defaults.small),
           threads = 0;
  PetscBool view = PETSC_FALSE;
  Settings checked;
  PetscFunctionBegin;
  PetscOptionsBegin(PETSC_COMM_WORLD, nullptr, "Weft: products of the matrix types aijweft, seqaijweft, mpiaijweft",
                    "Mat");
  PetscCall(PetscOptionsString("-mat_weft_format", "how the matrix is stored: auto, or a format of `weft doctor`", "",
                               defaults.format.c_str(), format.data(), format.size(), nullptr));
  PetscCall(PetscOptionsInt("-mat_weft_products",
                            "about how many products a matrix takes part in: what may its set-up cost", "", products,
                            &products, nullptr));
  PetscCall(PetscOptionsInt("-mat_weft_small", "matrices with fewer nonzeros on a rank are left to AIJ's own products",
                            "", small, &small, nullptr));
  PetscCall(PetscOptionsInt("-mat_weft_threads", "threads of a rank (0: its share of the cores)", "", threads, &threads,
                            nullptr));
  PetscCall(PetscOptionsBool("-mat_weft_view", "at the end, report on each rank what was chosen, and why", "", view,
                             &view, nullptr));
  PetscOptionsEnd();
  PetscCall(read_settings(nullptr, checked));
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
