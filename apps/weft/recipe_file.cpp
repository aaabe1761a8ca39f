#include "recipe_file.hpp"

#include <fmt/format.h>
#include <weft/error.hpp>
#include <weft/formats.hpp>
#include <weft/runtime.hpp>
#include <weft/version.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>

#include "core/file_bytes.hpp"
#include "core/text_cursor.hpp"
#include "io/matrix_market_header.hpp"
#include "output.hpp"

namespace weft::app {
namespace {

/// Why a line of the file is not a recipe; empty: it is one.
std::string wrong_with(std::string_view line) {
  constexpr std::size_t max_size = 1024;
  if (line.size() > max_size) return fmt::format("a recipe has at most {} characters", max_size);
  if (!std::ranges::all_of(line, [](unsigned char c) { return std::isprint(c); }))
    return fmt::format("{} is not a recipe", io::quoted(line));
  try {
    if (parse_recipe(line).format == "auto") return "'auto' is not a recipe: it leaves open which format";
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

void RecipeFile::add_to(CLI::App& parser) {
  parser
      .add_option("--recipe-file", path,
                  "take the format, with its order and all its numbers, from this file; where there is none yet, write "
                  "it: the next run then gives the same bits")
      ->type_name("FILE");
}

std::optional<std::string> RecipeFile::read() const {
  if (path.empty() || !std::filesystem::exists(path)) return std::nullopt;
  const io::FileBytes file = io::map_file(path);
  std::optional<std::string> recipe;
  io::LineCursor cursor(file.text());
  while (cursor.next_content()) {
    const std::string_view line = io::trim(cursor.line());
    if (line.front() == '#') continue;
    const std::string wrong = recipe ? "here is another recipe, but a file has one" : wrong_with(line);
    if (!wrong.empty()) io::refuse_line(ErrorCode::parse, path, cursor.number(), wrong);
    recipe = line;
  }
  if (!recipe) io::refuse_line(ErrorCode::parse, path, cursor.number() + 1, "the file ends without a recipe");
  return recipe;
}

void RecipeFile::write(const PlanInfo& plan, const std::string& source) const {
  if (plan.recipe.empty())
    throw Error(
        ErrorCode::unsupported,
        fmt::format("cannot write {}: {} does not say how it was packed; plan it with --format NAME", path, source));
  std::string matrix = source;
  std::ranges::replace_if(matrix, [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  const std::string kernels = plan.device.is_cpu() ? fmt::format(" ({} kernels)", to_string(isa())) : "";
  write_text(path, fmt::format("# {}, {} x {}, {} on {}{}, Weft {}\n{}\n", matrix, plan.rows, plan.cols,
                               to_string(plan.type), plan.device.name(), kernels, WEFT_VERSION, plan.recipe));
}

}  // namespace weft::app
