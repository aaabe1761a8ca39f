#pragma once
#include <weft/csr.hpp>
#include <weft/device.hpp>
#include <weft/order.hpp>
#include <weft/partition.hpp>
#include <weft/types.hpp>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace weft::app {

/// What the shell is told.
enum ExitCode { success = 0, failure = 1, usage = 2, verification_failed = 3, no_such_device = 4 };

/// The command line itself is wrong: exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line as it was given, quoted where a shell would need it: what repeats a run.
std::string command_line();
void remember_command_line(int argc, char** argv);

/// Options every subcommand has.
struct CommonOptions {
  int threads = 0;
  bool quiet = false;
  bool no_progress = false;

  void add_to(CLI::App& parser);
  void apply() const;  ///< sets the number of threads and whether progress and notes are shown
};

/// Options of subcommands that read matrices.
struct ReadingOptions {
  std::string type = "f64";
  std::string duplicates = "sum";

  void add_to(CLI::App& parser, bool both_types = false);
  ValueType value_type() const { return type == "f32" ? ValueType::f32 : ValueType::f64; }
  std::vector<ValueType> value_types() const;  ///< those of "both", or the one; f32 before f64
  Duplicates policy() const { return duplicates == "refuse" ? Duplicates::refuse : Duplicates::sum; }
};

/// Reads what `source` names, under a progress bar.
template <Value V>
Csr<V> load(const std::string& source, const ReadingOptions& reading);

/// `--partition FILE` and `--coordinates FILE`, for formats that keep rows in parts.
struct GivenParts {
  std::string partition;
  std::string coordinates;

  void add_to(CLI::App& parser);
  bool empty() const { return partition.empty() && coordinates.empty(); }
  std::string option() const { return partition.empty() ? "--coordinates" : "--partition"; }  ///< that was given
  /// None when no file was named.
  std::shared_ptr<const Partition> read_partition(Index rows) const;
  std::shared_ptr<const Coordinates> read_coordinates(Index rows) const;
};

/// Writes a matrix under a progress bar, and notes that it did. `format`, `parts` and `device` (to
/// store for) are for .weft files.
template <Value V>
void save(const std::string& path, const Csr<V>& matrix, const std::string& format = "csr",
          const GivenParts& parts = {}, std::optional<Device> device = {});

/// Calls work.operator()<float>() or <double>().
template <class Work>
int with_type(ValueType type, Work&& work) {
  return type == ValueType::f32 ? work.template operator()<float>() : work.template operator()<double>();
}

/// Reads a device's name; throws Error(no_device) when it is none or cannot be used here.
Device usable_device(const std::string& name);

/// Throws UsageError unless `name` is "auto", a format, a variant or a recipe: before hours of reading, not after.
void require_format(const std::string& name);

/// Reads the name of an ordering; throws UsageError, with those there are, when it is none.
Ordering require_ordering(const std::string& name);

/// The same for an ordering besides a format; throws UsageError, too, when that is a recipe with another one.
Ordering require_ordering(const std::string& name, const std::string& format);

/// Throws UsageError unless a file of this name can hold a matrix in this format.
void require_storable(const std::string& format, const std::string& path);

/// Throws UsageError unless the name ends as a matrix file we write does, and Error(io) when its folder is not there.
void require_matrix_target(const std::string& path);
void require_target_folder(const std::string& path);

}  // namespace weft::app
