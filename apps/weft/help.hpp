#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace weft::app {

/// Help as this tool writes it, the same whatever CLI11's version: what it does, usage, arguments, options, examples.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace weft::app
