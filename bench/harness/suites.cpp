#include "suites.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

namespace weft::bench {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, std::vector<std::string>> generated = {
    {"quick", {"gen:poisson3d:32", "gen:stencil27:20", "gen:elasticity3d:12", "gen:rmat:12", "gen:circuit:20000"}},
    {"cpu", {"gen:poisson3d:128", "gen:stencil27:90", "gen:elasticity3d:40", "gen:rmat:18", "gen:circuit:1000000"}},
    {"gpu",
     {"gen:elasticity3d:96", "gen:poisson3d:160", "gen:stencil27:120", "gen:rmat:20", "gen:circuit:2000000", "gen:tall",
      "gen:arrow:4000000", "gen:lp:20000:2000000", "gen:empty-rows:8000000", "gen:dense:5000"}},
};

bool ends_as(const std::string& name, const std::vector<std::string>& endings) {
  return std::ranges::any_of(endings, [&](const std::string& ending) { return name.ends_with(ending); });
}

/// Names of the files in a folder that end so, sorted.
std::vector<std::string> files_in(const std::string& folder, const std::vector<std::string>& endings) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    const std::string name = entry->path().filename().string();
    if (ends_as(name, endings) && entry->is_regular_file(unknown)) names.push_back(name);
  }
  if (error) throw Error(ErrorCode::io, folder + ": this folder cannot be read: " + error.message());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (char c : line)
    if (c == '\t')
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  return cells;
}

/// A file of the suite; the size only decides which are taken.
struct Listed {
  std::string file;
  double size = 0;
};

/// With fewer nonzeros a product takes about as long as calling it.
constexpr double least_nonzeros = 10'000;

std::vector<Listed> read_index(const std::string& path) {
  std::ifstream stream(path);
  std::string line;
  if (!stream || !std::getline(stream, line)) throw Error(ErrorCode::io, path + ": this index cannot be read");
  const std::vector<std::string> titles = cells_of(line);
  const auto column = [&](const std::string& title) {
    return static_cast<std::size_t>(std::ranges::find(titles, title) - titles.begin());
  };
  const std::size_t file = column("file");
  if (file == titles.size())
    throw Error(ErrorCode::parse, path + ":1: expected a column 'file' among the titles, which tabs separate");
  std::size_t size = titles.size();
  for (const char* title : {"nnz_expanded", "nonzeros", "nnz"})
    if (size == titles.size()) size = column(title);
  std::vector<Listed> listed;
  while (std::getline(stream, line)) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() <= file || cells[file].empty()) continue;
    Listed one{.file = cells[file]};
    if (size < cells.size()) std::from_chars(cells[size].data(), cells[size].data() + cells[size].size(), one.size);
    listed.push_back(std::move(one));
  }
  return listed;
}

std::vector<std::string> real_sources(const std::string& folder, int count) {
  const fs::path root(folder);
  std::error_code error;
  std::vector<Listed> listed;
  if (fs::exists(root / "INDEX.tsv", error)) {
    listed = read_index((root / "INDEX.tsv").string());
    const auto small = [](const Listed& one) { return one.size < least_nonzeros; };
    if (!std::ranges::all_of(listed, small)) std::erase_if(listed, small);
  } else {
    for (const std::string& name : files_in(folder, {".mtx", ".mtx.gz", ".mtx.xz", ".weft"})) {
      const auto bytes = fs::file_size(root / name, error);
      listed.push_back({name, error ? 0.0 : static_cast<double>(bytes)});
    }
  }
  if (listed.empty())
    throw Error(ErrorCode::io, folder + ": expected an INDEX.tsv that names matrix files, or such files");
  std::ranges::stable_sort(listed, {}, &Listed::size);
  const std::size_t taken = std::min<std::size_t>(listed.size(), static_cast<std::size_t>(std::max(count, 1)));
  std::vector<std::string> sources;
  for (std::size_t i = 0; i < taken; ++i)  // the last is the largest
    sources.push_back((root / listed[(i + 1) * listed.size() / taken - 1].file).string());
  return sources;
}

}  // namespace

const std::vector<std::string>& suite_names() {
  static const std::vector<std::string> names = {"quick", "cpu", "gpu", "real"};
  return names;
}

std::vector<std::string> suite_sources(const std::string& suite, const std::string& folder, int count) {
  if (suite == "real") return real_sources(folder, count);
  std::vector<std::string> sources = generated.at(suite);
  if (!folder.empty())
    for (const std::string& mesh : files_in(folder, {".msh", ".msh.gz", ".msh.xz"}))
      for (const char* equation : {"elasticity", "poisson"})
        sources.push_back("fem:" + (fs::path(folder) / mesh).string() + ":" + equation + ":p2");
  return sources;
}

}  // namespace weft::bench
