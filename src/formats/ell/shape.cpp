#include <algorithm>
#include <limits>

#include "formats/ell/ell.hpp"
#include "formats/ell/tuning.hpp"
#include "formats/padding_limit.hpp"

namespace weft::ell {
namespace {

constexpr Index warp_size = 32;

/// Threads per row where the user gives none: as many as leave each enough entries. A warp reads neighbours anyhow with
/// one thread per row, so plain ell goes beyond that only where the rows are too few to keep the device busy.
int choose_threads(const RowLengths& rows, Index width, const BuildOptions& options) {
  if (options.device.is_cpu()) return rows.rows < rows_at_once && width >= warp_size ? warp_size : 1;
  const auto tuning = options.tuning_as<Tuning>();
  const double mean = std::min(rows.mean_row, static_cast<double>(width));
  const Offset enough = options.variant == "rt" ? std::numeric_limits<Offset>::max() : tuning.enough_threads;
  int threads = 1;
  while (threads < warp_size && static_cast<Offset>(rows.rows) * threads < enough &&
         mean >= 2 * threads * tuning.entries_per_thread)
    threads *= 2;
  return threads;
}

/// What the user requests, or else the cheaper: without lengths a product reads some of the padding, and may where all
/// of it is less than the lengths. A part has no variant to request, so its t does not request one.
Variant choose_variant(const BuildOptions& options, const Shape& shape, std::size_t value_bytes, bool is_part) {
  if (options.variant == "plain") return Variant::plain;
  if (options.variant == "r") return Variant::r;
  if (options.variant == "rt" || (options.has("t") && !is_part) || shape.threads > 1) return Variant::rt;
  const double padding = static_cast<double>(static_cast<Offset>(shape.rows) * shape.width - shape.kept);
  const double lengths = static_cast<double>(shape.rows) * sizeof(Index);
  return padding * static_cast<double>(sizeof(Index) + value_bytes) > lengths ? Variant::r : Variant::plain;
}

}  // namespace

Offset Shape::slots() const {
  constexpr Offset many_warps = 64;
  const Offset warps = (static_cast<Offset>(rows) * threads + warp_size - 1) / warp_size;
  return (warps >= many_warps ? warps | 1 : warps) * warp_size;
}

OperatorInfo describe(const Shape& shape, std::size_t bytes) {
  OperatorInfo info;
  info.variant = shape.variant == Variant::rt ? "rt" : shape.variant == Variant::r ? "r" : "plain";
  info.details = "width " + std::to_string(shape.width) + ", " + std::to_string(shape.threads) +
                 (shape.threads == 1 ? " thread per row" : " threads per row");
  info.bytes = bytes;
  info.padding = shape.padding();
  info.numbers = {{"t", shape.threads}};
  return info;
}

Shape choose_shape(const RowLengths& rows, std::size_t value_bytes, const BuildOptions& options,
                   std::optional<Index> part_width) {
  const std::string& variant = options.variant;
  if (options.parameter("t", 1) != 1 && !variant.empty() && variant != "rt")
    throw Error(ErrorCode::invalid_argument, "format 'ell:" + variant + "' gives a row one thread; t is for ell:rt");
  Shape shape;
  shape.rows = rows.rows;
  shape.width = static_cast<Index>(std::min<Offset>(rows.longest_row, part_width.value_or(rows.longest_row)));
  for (const LengthCount& count : rows.row_lengths)
    shape.kept += std::min<Offset>(count.length, shape.width) * count.rows;
  if (options.has("t"))
    shape.threads = static_cast<int>(options.parameter("t", 1));
  else if (variant.empty() || variant == "rt")
    shape.threads = choose_threads(rows, shape.width, options);
  shape.variant = choose_variant(options, shape, value_bytes, part_width.has_value());
  const std::size_t entry_bytes = sizeof(Index) + value_bytes;
  if (part_width)
    require_little_padding_in_part("ell", "hyb", shape.stored(), shape.kept, entry_bytes, options);
  else
    require_little_padding("ell", shape.stored(), shape.kept, entry_bytes, options, "hyb");
  return shape;
}

}  // namespace weft::ell
