#pragma once
#include <fmt/format.h>

#include <exception>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/papers.hpp"
#include "options.hpp"
#include "progress.hpp"

// `weft bench --paper NAME`: what a paper measured is fixed, but for the matrices.
namespace weft::app {

struct PaperOptions {
  ReadingOptions reading;
  std::vector<std::string> sources;  ///< none: the paper's own that can be generated, or some of their kinds
  std::string json;
  bench::RunOptions run;

  bool shows_tables() const { return json != "-"; }
  bool wants(ValueType type) const { return reading.type == "both" || reading.value_type() == type; }
};

/// A paper whose tables can be made.
struct Paper {
  std::string name;
  std::string default_type;  ///< what it measured: f64, or both
  bool both_types;           ///< may be asked for
  int (*run)(const PaperOptions&);
};
const std::vector<Paper>& papers();

int run_paper_bce(const PaperOptions& options);
int run_paper_bro(const PaperOptions& options);
int run_paper_ehyb(const PaperOptions& options);
int run_paper_sellp(const PaperOptions& options);
int run_paper_specsum(const PaperOptions& options);

/// A generator as it is, a file by its name.
std::string without_folders(const std::string& source);

/// As the paper calls it, or else the source without its folders.
std::string name_of(const bench::PaperCase& one);

std::string gflops_text(const bench::Measurement* m);                                    ///< "1.23", or "-" for none
std::string ratio_text(const bench::Measurement* fast, const bench::Measurement* slow);  ///< how many times faster
std::string number_text(const std::optional<double>& number, int decimals);              ///< or "-"

/// Cells of a speed-up: share of matrices where it is faster, largest, smallest, mean.
void add_speedup(std::vector<std::string>& cells, const std::optional<bench::Speedup>& speedup);

/// What the JSON of every paper begins with.
nlohmann::ordered_json paper_json(const std::string& paper, const PaperOptions& options,
                                  const std::vector<std::string>& notes);
void write_json(const PaperOptions& options, const nlohmann::ordered_json& json);

/// Says which peers were not there.
void tell(const std::vector<std::string>& notes, Device device);

/// The exit code; complains about a wrong product.
int judge(bool correct);

/// Cases of one paper, in the types asked for, f32 first.
template <class C>
struct PaperCases {
  std::vector<C> cases;
  std::vector<std::string> notes;  ///< peers that were not there
  std::exception_ptr stopped;      ///< why there are no more; what was measured before is kept

  int exit_code() const {
    if (stopped) std::rethrow_exception(stopped);
    for (const C& one : cases)
      if (!one.correct()) return judge(false);
    return judge(true);
  }
};

/// `measure(source, matrix, options, notes)` makes a case of a matrix; what it notes is told at the end.
template <class C, class Measure>
PaperCases<C> measure_all(const std::vector<std::string>& sources, const PaperOptions& options, Measure&& measure) {
  PaperCases<C> result;
  const auto add = [&]<Value V>(const std::string& source, const Csr<V>& matrix) {
    ProgressBar bar(fmt::format("measuring {} {}", source, to_string(value_type<V>)));
    bench::RunOptions run = options.run;
    run.progress = bar.callback();
    result.cases.push_back(measure(source, matrix, run, result.notes));
  };
  const auto add_source = [&](const std::string& source) {
    if (options.reading.type == "f32") return add(source, load<float>(source, options.reading));
    const Csr<double> matrix = load<double>(source, options.reading);
    if (options.reading.type == "both") add(source, convert<float>(matrix));
    add(source, matrix);
  };
  try {
    for (const std::string& source : sources) add_source(source);
  } catch (...) {
    if (result.cases.empty()) throw;
    result.stopped = std::current_exception();
  }
  return result;
}

}  // namespace weft::app
