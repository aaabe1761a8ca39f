#include "bce.hpp"

#include <weft/structure.hpp>

#include <nlohmann/json.hpp>

#include "formats/bce/bce.hpp"

namespace weft::bench {

const char* to_string(BceColumn column) {
  constexpr std::array<const char*, 6> names = {"bce", "bsr", "hyb", "ell", "coo", "csr"};
  return names[static_cast<std::size_t>(column)];
}

const BcePaperMatrix* find_bce_matrix(const std::string& source) {
  const std::string stem = stem_of(source);
  for (const BcePaperMatrix& matrix : bce_matrices())
    if (stem == matrix.name) return &matrix;
  return nullptr;
}

std::vector<std::string> bce_sources(const std::vector<std::string>& given, Device device) {
  std::vector<std::string> names;
  for (const BcePaperMatrix& matrix : bce_matrices()) names.emplace_back(matrix.name);
  if (!given.empty()) return expand_folders(given, names, "Table 2");
  // Structures, a channel, meshes of triangles, circuits and links between pages, as the table has them.
  if (device.kind() == Device::Kind::gpu)
    return {"gen:elasticity3d:64", "gen:stencil27:160",      "gen:poisson2d:4000",
            "gen:circuit:5000000", "gen:uniform:5000000:19", "gen:rmat:20"};
  if (device.kind() == Device::Kind::emulator)
    return {"gen:elasticity3d:5", "gen:poisson2d:40", "gen:circuit:1000", "gen:rmat:8"};
  return {"gen:elasticity3d:20", "gen:stencil27:40", "gen:poisson2d:600", "gen:circuit:200000", "gen:rmat:15"};
}

namespace {

std::optional<double> of_paper(const BceNumbers& numbers, BceColumn column, double unit) {
  const double number = numbers[static_cast<std::size_t>(column)];
  return number > 0 ? std::optional(number * unit) : std::nullopt;
}

/// The name under which a column is measured here; empty: it is not.
const char* name_of(BceBy by, BceColumn column) {
  if (by == BceBy::weft) return column == BceColumn::bsr ? "" : to_string(column);
  switch (column) {
    case BceColumn::bsr:
      return "cusparse:bsr";
    case BceColumn::coo:
      return "cusparse:coo";
    case BceColumn::csr:
      return "cusparse:csr-default";
    default:
      return "";
  }
}

constexpr double milliseconds = 1e-3;

}  // namespace

int BceCase::iterations() const { return paper ? paper->iterations : 7500; }

std::optional<double> BceCase::product(BceBy by, BceColumn column) const {
  if (by == BceBy::paper)
    return paper ? of_paper(paper->times(formats.type).product, column, milliseconds) : std::nullopt;
  const Measurement* m = find(name_of(by, column));
  return m ? std::optional(m->timing.median) : std::nullopt;
}

std::optional<double> BceCase::transformation(BceBy by, BceColumn column) const {
  if (by == BceBy::paper)
    return paper ? of_paper(paper->times(formats.type).transformation, column, milliseconds) : std::nullopt;
  const Measurement* m = find(name_of(by, column));
  return m ? std::optional(m->setup.total() - m->setup.upload) : std::nullopt;
}

std::optional<double> BceCase::solving(BceBy by, BceColumn column) const {
  if (by == BceBy::paper) return paper ? of_paper(paper->times(formats.type).solving, column, 1) : std::nullopt;
  const std::optional<double> once = transformation(by, column), each = product(by, column);
  return once && each ? std::optional(*once + iterations() * *each) : std::nullopt;
}

std::optional<double> BceCase::cpu_seconds(BceBy by) const {
  if (by == BceBy::paper) return paper ? std::optional(paper->times(formats.type).mkl) : std::nullopt;
  const Measurement* m = by == BceBy::weft ? fastest_on_cpu() : nullptr;
  return m ? std::optional(m->timing.median) : std::nullopt;
}

std::optional<double> BceCase::total_seconds(BceBy by) const {
  if (by == BceBy::paper) return paper ? std::optional(paper->times(formats.type).transmission_and_all) : std::nullopt;
  const Measurement* m = by == BceBy::weft ? find("bce") : nullptr;
  return m ? std::optional(m->setup.total() + m->timing.median) : std::nullopt;
}

std::optional<double> BceCase::improvement(Seconds seconds, BceBy by, BceColumn over) const {
  const BceBy ours = by == BceBy::cusparse ? BceBy::weft : by;
  const std::optional<double> slow = (this->*seconds)(by, over), fast = (this->*seconds)(ours, BceColumn::bce);
  return slow && fast ? std::optional(improvement_percent(*slow, *fast)) : std::nullopt;
}

double improvement_percent(double slow, double fast) { return 100 * (slow - fast) / slow; }

std::optional<double> paper_mean_improvement(ValueType type, BceColumn over) {
  if (over == BceColumn::bce) return {};
  constexpr BceNumbers f32 = {0, 12.3, 11.7, 16.5, 27.7, 21.7}, f64 = {0, 12.3, 12.2, 20.5, 28.1, 21.7};
  return (type == ValueType::f32 ? f32 : f64)[static_cast<std::size_t>(over)];
}

namespace {

template <Value V>
BceBlocks blocks_of(const Csr<V>& matrix, Device device) {
  const RowLengths lengths = analyze_rows(matrix);
  const Index rows_to_fill = bce::settings_for({.device = device}).rows_to_fill;
  const bce::Partition best = bce::optimal_partition(lengths.row_lengths, rows_to_fill);
  if (best.widths.empty()) return {};
  const bce::Partition ell = bce::partition_at(lengths.row_lengths, {{best.widths.back()}}, rows_to_fill);
  return {.widest_row = best.widths.back(),
          .blocks = best.widths.size(),
          .padding = best.padding,
          .model_gain = static_cast<double>(ell.cost) / static_cast<double>(best.cost)};
}

}  // namespace

template <Value V>
BceCase run_bce_case(const std::string& source, const Csr<V>& matrix, const RunOptions& options,
                     std::vector<std::string>& notes) {
  std::vector<std::string> names = {"bce", "hyb", "ell", "coo", "csr"};
  if (options.device.is_cpu()) names.emplace_back(cpu_libraries);
  if (options.device.kind() == Device::Kind::gpu)
    for (const BceColumn column : {BceColumn::bsr, BceColumn::coo, BceColumn::csr})
      names.emplace_back(name_of(BceBy::cusparse, column));
  BceCase result{run_paper_case(source, matrix, names, true, options, notes)};
  result.paper = find_bce_matrix(source);
  if (result.paper) result.paper_name = result.paper->name;
  result.blocks = blocks_of(matrix, options.device);
  return result;
}

using Json = nlohmann::ordered_json;

namespace {

/// All a paper's tables say of one matrix, in seconds; a column that is not there is null.
Json numbers_of(const BceCase& one, BceBy by) {
  Json json;
  for (const BceColumn column : bce_columns)
    json[to_string(column)] = {
        {"product_seconds", or_null(one.product(by, column))},
        {"transformation_seconds", or_null(one.transformation(by, column))},
        {"solving_seconds", or_null(one.solving(by, column))},
        {"improvement_percent",
         column == BceColumn::bce ? Json(nullptr) : or_null(one.improvement(&BceCase::product, by, column))},
        {"solving_improvement_percent",
         column == BceColumn::bce ? Json(nullptr) : or_null(one.improvement(&BceCase::solving, by, column))}};
  json["cpu_seconds"] = or_null(one.cpu_seconds(by));
  json["total_seconds"] = or_null(one.total_seconds(by));
  return json;
}

}  // namespace

Json to_json(const BceCase& one) {
  Json json = to_json(static_cast<const PaperCase&>(one));
  json["widest_row"] = one.blocks.widest_row;
  json["blocks"] = one.blocks.blocks;
  json["block_padding"] = one.blocks.padding;
  json["model_gain_over_ell"] = one.blocks.model_gain;
  json["iterations"] = one.iterations();
  json["weft"] = numbers_of(one, BceBy::weft);
  json["cusparse"] = numbers_of(one, BceBy::cusparse);
  json["paper"] = nullptr;
  if (one.paper) {
    json["paper"] = {{"rows", one.paper->rows},
                     {"widest_row", one.paper->widest_row},
                     {"nonzeros", one.paper->nonzeros},
                     {"device", "K20c"}};
    json["paper"].update(numbers_of(one, BceBy::paper));
  }
  return json;
}

#define WEFT_INSTANTIATE(V)                                                                      \
  template BceCase run_bce_case<V>(const std::string&, const Csr<V>&, const RunOptions& options, \
                                   std::vector<std::string>& notes);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft::bench
