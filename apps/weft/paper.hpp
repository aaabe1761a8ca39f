#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "bench/run.hpp"
#include "options.hpp"

// `weft bench --paper NAME`: what a paper measured is fixed, but for the matrices.
namespace weft::app {

struct PaperOptions {
  const ReadingOptions& reading;
  std::vector<std::string> sources;  ///< none: the paper's own that can be generated, or some of their kinds
  std::string json;
  bench::RunOptions run;
};
int run_paper_bro(const PaperOptions& options);
int run_paper_ehyb(const PaperOptions& options);

/// A generator as it is, a file by its name.
inline std::string without_folders(const std::string& source) {
  return source.find(':') == std::string::npos ? std::filesystem::path(source).filename().string() : source;
}

}  // namespace weft::app
