#pragma once
#include <weft/plan.hpp>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

namespace weft::app {

/// `--recipe-file FILE`: the recipe of a plan (see PlanInfo), kept for other runs. One line; blank lines and those that
/// begin with # or % are passed over.
struct RecipeFile {
  std::string path;

  void add_to(CLI::App& parser);
  /// None when no file is named, or it is not there yet. Throws Error(io) when it cannot be read, and Error(parse) that
  /// begins with "file:line:" when it does not hold one recipe.
  std::optional<std::string> read() const;
  /// Writes the plan's recipe, with a comment about where it is from; the file appears complete or not at all. Throws
  /// Error(io), and Error(unsupported) when the plan has none.
  void write(const PlanInfo& plan, const std::string& source) const;
};

}  // namespace weft::app
