#include "papers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bce.hpp"
#include "bench/report/writer.hpp"
#include "bro.hpp"
#include "ehyb.hpp"
#include "sellp.hpp"
#include "specsum.hpp"

namespace weft::bench {

const std::vector<Paper>& papers() {
  static const std::vector<ValueType> both = {ValueType::f32, ValueType::f64}, f64 = {ValueType::f64};
  static const std::vector<Paper> all = {{"bce", both, true, true, run_paper_bce},
                                         {"specsum", both, true, false, run_paper_specsum},
                                         {"bro", f64, false, false, run_paper_bro},
                                         {"sellp", f64, true, false, run_paper_sellp},
                                         {"ehyb", both, true, true, run_paper_ehyb}};
  return all;
}

std::string papers_text() {
  std::vector<std::string> texts;
  for (const Paper& paper : papers()) {
    std::string types;
    for (const ValueType type : paper.types) types += fmt::format("{}{}", types.empty() ? "" : ", ", to_string(type));
    texts.push_back(fmt::format("{} ({})", paper.name, types));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string without_folders(const std::string& source) {
  return source.find(':') == std::string::npos ? std::filesystem::path(source).filename().string() : source;
}

std::string name_of(const PaperCase& one) {
  return one.paper_name.empty() ? without_folders(one.formats.source) : one.paper_name;
}

std::string number_text(const std::optional<double>& number, int decimals) {
  return number ? fmt::format("{:.{}f}", *number, decimals) : "-";
}

std::string gflops_text(const Measurement* m) { return m ? fmt::format("{:.2f}", m->gflops) : "-"; }

std::string ratio_text(const Measurement* fast, const Measurement* slow) {
  if (!fast || !slow || !(fast->timing.median > 0)) return "-";
  return fmt::format("{:.2f}x", slow->timing.median / fast->timing.median);
}

void add_speedup(std::vector<std::string>& cells, const std::optional<Speedup>& speedup) {
  if (!speedup) return cells.insert(cells.end(), 4, "-"), void();
  cells.push_back(fmt::format("{:.0f} %", speedup->faster_percent));
  for (const double ratio : {speedup->max, speedup->min, speedup->mean}) cells.push_back(fmt::format("{:.2f}x", ratio));
}

nlohmann::ordered_json paper_json(const std::string& paper, const PaperRun& run,
                                  const std::vector<std::string>& notes) {
  return {{"schema", 1},
          {"tool", "weft bench --paper " + paper},
          {"machine", to_json(this_machine())},
          {"command", run.command},
          {"device", run.run.device.name()},
          {"parameters", {{"seconds", run.run.seconds}, {"groups", run.run.groups}, {"seed", run.run.seed}}},
          {"notes", notes},
          {"matrices", nlohmann::ordered_json::array()}};
}

std::string paper_text(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void note_missing(const PaperRun& run, const std::vector<std::string>& notes) {
  if (run.run.device.kind() != Device::Kind::gpu) run.note("cuSPARSE is compared with on a GPU only: --device gpu");
  for (const std::string& sentence : notes) run.note(sentence);
}

}  // namespace weft::bench
