#include "help.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::app {
namespace {

constexpr std::size_t page_width = 100;
using Entry = std::pair<std::string, std::string>;  // what to type, what it means

std::string typed(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  // CLI11 appends what its validators accept, after a colon; the description says that in words.
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() > 0 && !type.empty()) text += " " + type.substr(0, type.find(':'));
  return text;
}

/// Two columns; the right one is broken between words to fit the page.
std::string two_columns(const std::string& title, const std::vector<Entry>& entries) {
  if (entries.empty()) return {};
  std::size_t left = 0;
  for (const Entry& entry : entries) left = std::max(left, entry.first.size());
  left = std::min<std::size_t>(left, 26) + 4;
  std::string text = "\n" + title + ":\n";
  for (const auto& [what, meaning] : entries) {
    std::string line = "  " + what;
    line += line.size() + 2 > left ? "\n" + std::string(left, ' ') : std::string(left - line.size(), ' ');
    std::size_t used = left;
    std::size_t begin = 0;
    while (begin < meaning.size()) {
      const std::size_t end = std::min(meaning.find(' ', begin), meaning.size());
      if (used > left && used + 1 + (end - begin) > page_width) {
        line += "\n" + std::string(left, ' ');
        used = left;
      } else if (used > left) {
        line += ' ';
        ++used;
      }
      line += meaning.substr(begin, end - begin);
      used += end - begin;
      begin = end + 1;
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  std::vector<Entry> arguments;
  std::vector<Entry> options;
  std::vector<Entry> commands;
  std::string usage = app->get_parent() ? "weft " + app->get_name() : "weft";
  for (const CLI::Option* option : app->get_options()) {
    if (!option->nonpositional()) {
      const std::string name = option->get_name(true);
      arguments.emplace_back(name, option->get_description());
      const bool many = option->get_expected_max() > 1;
      const std::string shown = name + (many ? "..." : "");
      usage += option->get_required() ? " " + shown : " [" + shown + "]";
    } else {
      options.emplace_back(typed(*option), option->get_description());
      if (option->get_required()) {
        const std::string& all_names = options.back().first;  // "-o, --output FILE": the short one will do
        const bool two_names = all_names.find(", ") != std::string::npos;
        usage += " " + (two_names ? all_names.substr(0, all_names.find(", ")) + all_names.substr(all_names.rfind(' '))
                                  : all_names);
      }
    }
  }
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; }))
    commands.emplace_back(command->get_name(), command->get_description());
  usage += commands.empty() ? " [options]" : " COMMAND [options]";

  const std::string title = app->get_parent() ? "weft " + app->get_name() : "weft";
  return title + ": " + app->get_description() + "\n\nUsage: " + usage + "\n" + two_columns("Commands", commands) +
         two_columns("Arguments", arguments) + two_columns("Options", options) + "\n" + app->get_footer() + "\n";
}

}  // namespace weft::app
