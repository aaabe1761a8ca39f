#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace weft::app {

/// A subcommand: its options are on `parser`, `run` does the work and returns the exit code.
struct Command {
  CLI::App* parser = nullptr;
  std::function<int()> run;
};

Command add_info(CLI::App& tool);
Command add_gen(CLI::App& tool);
Command add_convert(CLI::App& tool);
Command add_reorder(CLI::App& tool);
Command add_partition(CLI::App& tool);
Command add_spmv(CLI::App& tool);
Command add_solve(CLI::App& tool);
Command add_bench(CLI::App& tool);
Command add_report(CLI::App& tool);
Command add_doctor(CLI::App& tool);
Command add_tune(CLI::App& tool);
Command add_tune_kernels(CLI::App& tool);

/// The one list of subcommands, in the order of the help.
inline constexpr Command (*commands[])(CLI::App&) = {add_info,      add_gen,    add_convert, add_reorder,
                                                     add_partition, add_spmv,   add_solve,   add_bench,
                                                     add_report,    add_doctor, add_tune,    add_tune_kernels};

}  // namespace weft::app
