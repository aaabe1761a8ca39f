#include "paper.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "output.hpp"

namespace weft::app {

const std::vector<Paper>& papers() {
  static const std::vector<Paper> all = {{"bce", "both", true, run_paper_bce},
                                         {"specsum", "both", true, run_paper_specsum},
                                         {"bro", "f64", false, run_paper_bro},
                                         {"sellp", "f64", true, run_paper_sellp},
                                         {"ehyb", "both", true, run_paper_ehyb}};
  return all;
}

std::string without_folders(const std::string& source) {
  return source.find(':') == std::string::npos ? std::filesystem::path(source).filename().string() : source;
}

std::string name_of(const bench::PaperCase& one) {
  return one.paper_name.empty() ? without_folders(one.formats.source) : one.paper_name;
}

std::string number_text(const std::optional<double>& number, int decimals) {
  return number ? fmt::format("{:.{}f}", *number, decimals) : "-";
}

std::string gflops_text(const bench::Measurement* m) { return m ? fmt::format("{:.2f}", m->gflops) : "-"; }

std::string ratio_text(const bench::Measurement* fast, const bench::Measurement* slow) {
  if (!fast || !slow || !(fast->timing.median > 0)) return "-";
  return fmt::format("{:.2f}x", slow->timing.median / fast->timing.median);
}

void add_speedup(std::vector<std::string>& cells, const std::optional<bench::Speedup>& speedup) {
  if (!speedup) return cells.insert(cells.end(), 4, "-"), void();
  cells.push_back(fmt::format("{:.0f} %", speedup->faster_percent));
  for (const double ratio : {speedup->max, speedup->min, speedup->mean}) cells.push_back(fmt::format("{:.2f}x", ratio));
}

nlohmann::ordered_json paper_json(const std::string& paper, const PaperOptions& options,
                                  const std::vector<std::string>& notes) {
  return {
      {"schema", 1},
      {"tool", "weft bench --paper " + paper},
      {"machine", bench::to_json(bench::this_machine())},
      {"command", command_line()},
      {"device", options.run.device.name()},
      {"parameters", {{"seconds", options.run.seconds}, {"groups", options.run.groups}, {"seed", options.run.seed}}},
      {"notes", notes},
      {"matrices", nlohmann::ordered_json::array()}};
}

void write_json(const PaperOptions& options, const nlohmann::ordered_json& json) {
  if (options.json.empty()) return;
  write_text(options.json, json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

void tell(const std::vector<std::string>& notes, Device device) {
  if (device.kind() != Device::Kind::gpu) note("cuSPARSE is compared with on a GPU only: --device gpu");
  for (const std::string& sentence : notes) note(sentence);
}

int judge(bool correct) {
  if (correct) return success;
  complain("a format gave a wrong product; please report it");
  return verification_failed;
}

}  // namespace weft::app
