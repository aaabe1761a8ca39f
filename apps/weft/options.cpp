#include "options.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <weft/formats.hpp>
#include <weft/io.hpp>
#include <weft/runtime.hpp>

#include <filesystem>

#include "bench/report/numbers.hpp"
#include "core/atomic_file.hpp"
#include "order/partition/coordinates.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace weft::app {

namespace {

using bench::count_text;
using bench::with_noun;

std::string& remembered_command_line() {
  static std::string text;
  return text;
}
}  // namespace

void remember_command_line(int argc, char** argv) {
  std::string text = "weft";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool plain = !argument.empty() && argument.find_first_not_of(
                                                "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                                "_-+=:,./@%") == std::string::npos;
    text += ' ';
    if (plain) {
      text += argument;
      continue;
    }
    text += '\'';
    for (char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += '\'';
  }
  remembered_command_line() = text;
}

std::string command_line() { return remembered_command_line(); }

void CommonOptions::add_to(CLI::App& parser) {
  parser.add_option("--threads", threads, "CPU threads to use (default: one a core, or OMP_NUM_THREADS)")
      ->type_name("N")
      ->check(CLI::Range(1, 4096));
  parser.add_flag("--no-progress", no_progress, "no progress bar, even on a terminal");
  parser.add_flag("-q,--quiet", quiet, "nothing on standard error but errors");
}

void CommonOptions::apply() const {
  set_threads(threads);
  show_notes(!quiet);
  show_progress(!quiet && !no_progress);
}

void ReadingOptions::add_to(CLI::App& parser, bool both_types) {
  if (both_types)
    parser.add_option("--type", type, "value type: f32, f64 or both (default " + type + ")")
        ->type_name("TYPE")
        ->check(CLI::IsMember({"f32", "f64", "both"}));
  else
    parser.add_option("--type", type, "value type: f32 or f64 (default f64)")
        ->type_name("TYPE")
        ->check(CLI::IsMember({"f32", "f64"}));
  parser.add_option("--duplicates", duplicates, "entries at the same place: sum or refuse (default sum)")
      ->type_name("POLICY")
      ->check(CLI::IsMember({"sum", "refuse"}));
}

std::vector<ValueType> ReadingOptions::value_types() const {
  if (type == "both") return {ValueType::f32, ValueType::f64};
  return {value_type()};
}

template <Value V>
Csr<V> load(const std::string& source, const ReadingOptions& reading) {
  ProgressBar bar("reading " + source);
  return read_matrix<V>(source, {.duplicates = reading.policy(), .progress = bar.callback()});
}

template <Value V>
void save(const std::string& path, const Csr<V>& matrix, const std::string& format, const GivenParts& parts,
          std::optional<Device> device) {
  const bool packed = format != "csr";
  const auto partition = parts.read_partition(matrix.rows);
  const auto coordinates = parts.read_coordinates(matrix.rows);
  {
    ProgressBar bar("writing " + path);
    if (packed)
      write_weft_as<V>(path, matrix, format, bar.callback(), partition, device, coordinates);
    else
      write_matrix<V>(path, matrix, bar.callback());
  }
  note(fmt::format("wrote {}: {} x {}, {}{}", path, count_text(matrix.rows), count_text(matrix.cols),
                   with_noun(matrix.nonzeros(), "nonzero"), packed ? " as " + format : ""));
}

#define WEFT_INSTANTIATE(V)                                                                       \
  template Csr<V> load<V>(const std::string&, const ReadingOptions&);                             \
  template void save<V>(const std::string&, const Csr<V>&, const std::string&, const GivenParts&, \
                        std::optional<Device>);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

void GivenParts::add_to(CLI::App& parser) {
  CLI::Option* const given =
      parser
          .add_option(
              "--partition", partition,
              "parts for the formats that keep rows in parts, as 'weft partition' writes them; other formats do not "
              "look at it (default: such a format finds its own)")
          ->type_name("FILE");
  parser
      .add_option(
          "--coordinates", coordinates,
          "where the rows or nodes are, a point per line, or fem:MESH:...: such a format then halves the points "
          "instead of searching for parts")
      ->type_name("FILE")
      ->excludes(given);
}

std::shared_ptr<const Partition> GivenParts::read_partition(Index rows) const {
  if (partition.empty()) return nullptr;
  return std::make_shared<const Partition>(weft::read_partition(partition, rows));
}

std::shared_ptr<const Coordinates> GivenParts::read_coordinates(Index rows) const {
  if (coordinates.empty()) return nullptr;
  auto found = std::make_shared<const Coordinates>(weft::read_coordinates(coordinates));
  ordering::require_coordinates_of_nodes(*found, rows);
  return found;
}

Device usable_device(const std::string& name) {
  const Device device = Device::parse(name);
  describe(device);
  return device;
}

void require_format(const std::string& name) {
  try {
    parse_recipe(name);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

Ordering require_ordering(const std::string& name) {
  try {
    return parse_ordering(name);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

Ordering require_ordering(const std::string& name, const std::string& format) {
  const Ordering ordering = require_ordering(name);
  const Ordering named = parse_recipe(format).order;
  if (ordering != Ordering::none && named != Ordering::none && named != ordering)
    throw UsageError(
        fmt::format("format '{}' is in the order {}, but --order says {}", format, to_string(named), name));
  return ordering;
}

void require_storable(const std::string& format, const std::string& path) {
  if (format == "csr") return;
  if (format == "auto") throw UsageError("--format must be a name that a file can keep, as bro-ell is");
  require_format(format);
  const Recipe recipe = parse_recipe(format);
  if (recipe.order != Ordering::none || !recipe.transposed.empty())
    throw UsageError(
        fmt::format("files keep a matrix in its own order, and not the transposed one, so they cannot hold "
                    "'{}'; 'weft reorder' gives it another order",
                    format));
  if (!parse_format(format).format->storable) {
    std::string names = "csr";
    for (const FormatInfo& info : formats())
      if (info.storable) names += ", " + info.name;
    throw UsageError(fmt::format("files cannot hold format '{}'; they can hold: {}", format, names));
  }
  if (!path.ends_with(".weft"))
    throw UsageError(fmt::format("only a .weft file holds format '{}', but '{}' is none", format, path));
}

void require_target_folder(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  if (fs::is_directory(path, ignored))
    throw Error(ErrorCode::io, fmt::format("cannot write {}: it is a directory; give a file name", path));
  if (!fs::is_directory(folder, ignored))
    throw Error(ErrorCode::io, fmt::format("cannot write {}: there is no folder {}", path, folder.string()));
  // A name that leads to something else than a file (/dev/stdout, say) is written in place, not through its folder.
  const bool special =
      io::is_open_descriptor(path) || (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored));
  if (!special && access(folder.c_str(), W_OK) != 0)
    throw Error(ErrorCode::io,
                fmt::format("cannot write {}: no permission to create files in {}", path, folder.string()));
}

void require_matrix_target(const std::string& path) {
  for (const char* ending : {".mtx", ".mtx.gz", ".weft"})
    if (path.ends_with(ending)) return require_target_folder(path);
  throw UsageError(fmt::format("cannot tell how to write '{}'; let the name end in .mtx, .mtx.gz or .weft", path));
}

}  // namespace weft::app
