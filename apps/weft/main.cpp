#include <fmt/format.h>
#include <weft/error.hpp>
#include <weft/runtime.hpp>
#include <weft/version.hpp>

#include <CLI/CLI.hpp>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bench/report/numbers.hpp"
#include "commands/commands.hpp"
#include "help.hpp"
#include "options.hpp"
#include "output.hpp"
#include "signals.hpp"

namespace weft::app {
namespace {

const CLI::App& deepest(const CLI::App& tool) {
  const auto chosen = tool.get_subcommands();
  return chosen.empty() ? tool : *chosen.front();
}

int run_tool(int argc, char** argv) {
  CLI::App tool("sparse matrix-vector products at memory speed", "weft");
  tool.formatter(std::make_shared<HelpFormatter>());
  tool.set_help_flag("-h,--help", "print this help and exit");
  tool.set_version_flag("--version", "weft " WEFT_VERSION, "print the version and exit");
  tool.require_subcommand(0, 1);
  tool.option_defaults()->take_last();  // a later option overrides an earlier one, as shell aliases expect
  tool.footer(
      "SOURCE is a Matrix Market file (.mtx, .mtx.gz, .mtx.xz), a .weft file, or a built-in generator such as\n"
      "gen:poisson3d:30 (see 'weft gen --list').\n\n"
      "Examples, which run as they stand:\n"
      "  weft info gen:elasticity3d:12\n"
      "  weft spmv gen:poisson3d:30 --x random:7 --check\n"
      "  weft bench gen:elasticity3d:16\n\n"
      "Exit codes: 0 ok, 1 failure, 2 wrong usage, 3 verification failed, 4 no such device.");
  std::vector<Command> added;
  for (const auto add : commands) added.push_back(add(tool));
  for (const Command& command : added) command.parser->set_help_flag("-h,--help", "print this help and exit");

  try {
    tool.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print(deepest(tool).help());
    return success;
  } catch (const CLI::CallForVersion&) {
    print("weft " WEFT_VERSION "\n");
    return success;
  } catch (const CLI::ParseError& error) {
    const CLI::App& parser = deepest(tool);
    complain(fmt::format("{}; see 'weft{}{} --help'", error.what(), &parser == &tool ? "" : " ",
                         &parser == &tool ? "" : parser.get_name()));
    return usage;
  }
  for (const Command& command : added)
    if (command.parser->parsed()) return command.run();
  std::vector<std::string> names;
  for (const Command& command : added) names.push_back(command.parser->get_name());
  complain(fmt::format("a command is missing: {}; see 'weft --help'", bench::one_of(names)));
  return usage;
}

/// No exception leaves the tool: each becomes a sentence and an exit code.
int guarded(int argc, char** argv) noexcept {
  try {
    return run_tool(argc, argv);
  } catch (const UsageError& error) {
    complain(error.what());
    return usage;
  } catch (const Error& error) {
    complain(error.what());
    return error.code() == ErrorCode::no_device ? no_such_device : failure;
  } catch (const std::bad_alloc&) {
    complain("not enough memory for this; use a smaller matrix, --type f32 or a machine with more");
  } catch (const std::exception& error) {
    complain(std::string("unexpected failure, please report it: ") + error.what());
  } catch (...) {
    complain("unexpected failure, please report it");
  }
  return failure;
}

}  // namespace
}  // namespace weft::app

int main(int argc, char** argv) {
  weft::app::secure_standard_streams();
  weft::app::install_signal_handlers();
  weft::app::remember_command_line(argc, argv);
  weft::set_logger([](weft::LogLevel level, std::string_view sentence) {
    if (level == weft::LogLevel::warning) weft::app::note(fmt::format("warning: {}", sentence));
  });
  return weft::app::guarded(argc, argv);
}
