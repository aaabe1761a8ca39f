#pragma once
#include <weft/io.hpp>

#include <exception>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "paper_case.hpp"

// `weft bench --paper NAME`: what a paper measured is fixed, but for the matrices. A paper has two files: what it
// measured and printed (NAME.cpp), and its tables, filled anew (NAME_tables.cpp).
namespace weft::bench {

/// What to measure for a paper, and where its output goes as soon as it is there.
struct PaperRun {
  std::vector<std::string> sources;  ///< none: the paper's own that can be generated, or some of their kinds
  std::vector<ValueType> types;      ///< f32 before f64
  Duplicates duplicates = Duplicates::sum;
  RunOptions run;
  bool solve = false;   ///< solve systems, too, where the paper speaks of solvers
  std::string command;  ///< that repeats the run
  std::function<void(const std::string& tables)> show;
  std::function<void(const std::string& sentence)> note;
  /// Calls `work` with something that follows its progress, under this label.
  std::function<void(const std::string& label, const std::function<void(const Progress&)>& work)> follow;

  bool wants(ValueType type) const { return std::ranges::find(types, type) != types.end(); }
};

struct PaperResult {
  std::string json;
  bool correct = true;         ///< all products that are ours
  std::exception_ptr stopped;  ///< why there are no more cases; what was measured before is kept
};

/// A paper whose tables can be made.
struct Paper {
  std::string name;
  std::vector<ValueType> types;  ///< what it measured
  bool several_types;            ///< may be measured in one run
  bool solves;                   ///< speaks of solvers
  PaperResult (*run)(const PaperRun&);
};

/// The one list of papers.
const std::vector<Paper>& papers();

/// "bce (f32, f64), bro (f64)": the list, for a help text.
std::string papers_text();

/// A generator as it is, a file by its name.
std::string without_folders(const std::string& source);

/// As the paper calls it, or else the source without its folders.
std::string name_of(const PaperCase& one);

std::string gflops_text(const Measurement* m);                               ///< "1.23", or "-" for none
std::string ratio_text(const Measurement* fast, const Measurement* slow);    ///< how many times faster
std::string number_text(const std::optional<double>& number, int decimals);  ///< or "-"

/// Cells of a speed-up: share of matrices where it is faster, largest, smallest, mean.
void add_speedup(std::vector<std::string>& cells, const std::optional<Speedup>& speedup);

/// Beginning of the JSON of every paper.
nlohmann::ordered_json paper_json(const std::string& paper, const PaperRun& run, const std::vector<std::string>& notes);
std::string paper_text(const nlohmann::ordered_json& json);

/// Of cases in one type, those that have solves, by their names.
template <class C>
std::vector<NamedSolves> solves_in(const std::vector<C>& cases, ValueType type) {
  std::vector<NamedSolves> all;
  for (const C& one : cases)
    if (one.formats.type == type && one.solves) all.push_back({name_of(one), &*one.solves});
  return all;
}

/// Notes which peers were not there.
void note_missing(const PaperRun& run, const std::vector<std::string>& notes);

/// Cases of one paper, in the requested types, f32 first.
template <class C>
struct PaperCases {
  std::vector<C> cases;
  std::vector<std::string> notes;  ///< peers that were not there
  std::exception_ptr stopped;

  PaperResult result(const nlohmann::ordered_json& json) const {
    return {paper_text(json), std::ranges::all_of(cases, [](const C& one) { return one.correct(); }), stopped};
  }
};

/// `measure(source, matrix, options, notes)` makes a case of a matrix; what it notes is for the end.
template <class C, class Measure>
PaperCases<C> measure_all(const std::vector<std::string>& sources, const PaperRun& paper, Measure&& measure) {
  PaperCases<C> result;
  const auto add = [&]<Value V>(const std::string& source, const Csr<V>& matrix) {
    paper.follow("measuring " + source + " " + std::string(to_string(value_type<V>)), [&](const Progress& progress) {
      RunOptions run = paper.run;
      run.progress = progress;
      result.cases.push_back(measure(source, matrix, run, result.notes));
    });
  };
  const auto read = [&]<Value V>(const std::string& source, Csr<V>& matrix) {
    paper.follow("reading " + source, [&](const Progress& progress) {
      matrix = read_matrix<V>(source, {.duplicates = paper.duplicates, .progress = progress});
    });
  };
  const auto add_source = [&](const std::string& source) {
    if (!paper.wants(ValueType::f64)) {
      Csr<float> matrix;
      read(source, matrix);
      return add(source, matrix);
    }
    Csr<double> matrix;
    read(source, matrix);
    if (paper.wants(ValueType::f32)) add(source, convert<float>(matrix));
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

}  // namespace weft::bench
