#include "report.hpp"

#include <cstdio>
#include <vector>

#include "threads.hpp"

namespace weft::petsc {
namespace {

constexpr std::size_t max_lines = 200;  // a multigrid hierarchy that is set up again and again has more

bool requested = false;
std::vector<std::string> lines;
std::size_t left_out = 0;

std::string in_words(double seconds) {
  char text[32];
  if (seconds >= 1)
    std::snprintf(text, sizeof text, "%.3g s", seconds);
  else if (seconds >= 1e-3)
    std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.3g us", seconds * 1e6);
  return text;
}

std::string with_noun(std::int64_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string storage(const PlannedMatrix& planned) {
  const PlanInfo& info = planned.info();
  char bytes[32];
  std::snprintf(bytes, sizeof bytes, "%.1f", info.bytes_per_nonzero);
  std::string text =
      info.format + (info.details.empty() ? "" : " (" + info.details + ")") + ", " + bytes + " bytes per nonzero";
  if (planned.borrows_values()) text += ", on PETSc's own arrays";
  if (planned.transpose()) text += ", with the transposed matrix";
  return text;
}

}  // namespace

std::string reasons(const PlanInfo& info) {
  std::string chosen, timed;
  for (const Candidate& candidate : info.candidates) {
    if (candidate.verdict.starts_with("chosen")) chosen = candidate.verdict;
    if (candidate.product_seconds > 0) timed += "; " + candidate.format + " " + in_words(candidate.product_seconds);
  }
  return chosen + timed + (info.remembered ? " (timed earlier)" : "");
}

std::string describe(const Attached& attached) {
  const AijArrays& arrays = attached.arrays;
  std::string text = attached.role.empty() ? "matrix" : attached.role;
  if (!attached.prefix.empty()) text += " of " + attached.prefix;
  text += " " + std::to_string(arrays.rows) + " x " + std::to_string(arrays.cols);
  if (!attached.planned) return text + ": AIJ's own product: " + attached.why_not;
  const PlannedMatrix& planned = *attached.planned;
  text += ", " + with_noun(planned.info().nonzeros, "nonzero");
  if (planned.planned_rows() < arrays.rows) text += " in " + with_noun(planned.planned_rows(), "row");
  text += ": " + storage(planned) + (attached.note.empty() ? "" : ", " + attached.note) + "; planned in " +
          in_words(attached.planning_seconds);
  if (attached.products > 0) text += "; " + with_noun(attached.products, "product");
  if (attached.updates > 0)
    text += "; " + with_noun(attached.updates, "update") + " of values in " + in_words(attached.update_seconds);
  return text;
}

void keep_report(const Attached& attached) noexcept {
  if (!requested) return;
  try {
    if (lines.size() < max_lines)
      lines.push_back(describe(attached));
    else
      ++left_out;
  } catch (const std::exception&) {
    ++left_out;  // there is no memory for it
  }
}

PetscErrorCode start_reports() {
  PetscFunctionBegin;
  PetscCall(read_view(requested));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode print_reports() {
  PetscMPIInt rank = 0, ranks = 0;
  PetscFunctionBegin;
  if (!requested) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
  const ThreadShare& share = thread_share();
  PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "Weft: rank %d of %d, %d thread%s (%s)\n", rank, ranks,
                                    share.threads, share.threads == 1 ? "" : "s", share.why.c_str()));
  for (const std::string& line : lines)
    PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "Weft:   %s\n", line.c_str()));
  if (left_out > 0) PetscCall(PetscSynchronizedPrintf(PETSC_COMM_WORLD, "Weft:   and %zu more\n", left_out));
  PetscCall(PetscSynchronizedFlush(PETSC_COMM_WORLD, PETSC_STDOUT));
  lines.clear();
  left_out = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

}  // namespace weft::petsc
