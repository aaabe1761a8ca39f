#include <weft/structure.hpp>

#include <algorithm>
#include <limits>

#include "formats/ell/ell.hpp"
#include "formats/ell/tuning.hpp"
#include "formats/padding_limit.hpp"

namespace weft::ell {
namespace {

constexpr Index warp_size = 32;

/// Threads a row where the user gives none: as many as leave each enough entries. A warp reads neighbours anyhow, one
/// thread a row, so plain ell goes beyond that only where the rows are too few to keep the device busy.
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

/// What the user asks for, or else the cheaper: without lengths a product reads some of the padding, and may where all
/// of it is less than the lengths.
Variant choose_variant(const BuildOptions& options, const Shape& shape, std::size_t value_bytes) {
  if (options.variant == "plain") return Variant::plain;
  if (options.variant == "r") return Variant::r;
  if (options.variant == "rt" || options.has("t") || shape.threads > 1) return Variant::rt;
  const double padding = static_cast<double>(static_cast<Offset>(shape.rows) * shape.width - shape.kept);
  const double lengths = static_cast<double>(shape.rows) * sizeof(Index);
  return padding * static_cast<double>(sizeof(Index) + value_bytes) > lengths ? Variant::r : Variant::plain;
}

/// Where the width is hyb's k, only a smaller k would help.
void refuse_padding(const Shape& shape, std::size_t entry_bytes, const BuildOptions& options) {
  if (!options.has("width"))
    return require_little_padding("ell", shape.stored(), shape.kept, entry_bytes, options, "hyb");
  const std::string needs =
      padding_over(options.parameter("padding", default_padding_limit), shape.stored(), shape.kept, entry_bytes);
  if (!needs.empty())
    throw Error(ErrorCode::unsupported, "the ell part of hyb needs " + needs + ": use a smaller k, or none");
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
                 (shape.threads == 1 ? " thread a row" : " threads a row");
  info.bytes = bytes;
  info.padding = shape.padding();
  return info;
}

template <Value V>
Shape choose_shape(const Csr<V>& matrix, const BuildOptions& options) {
  const std::string& variant = options.variant;
  if (options.has("t") && !variant.empty() && variant != "rt")
    throw Error(ErrorCode::invalid_argument, "format 'ell:" + variant + "' gives a row one thread; t is for ell:rt");
  const RowLengths rows = analyze_rows(matrix);
  Shape shape;
  shape.rows = rows.rows;
  shape.width = static_cast<Index>(std::min(rows.longest_row, options.parameter("width", rows.longest_row)));
  for (const LengthCount& count : rows.row_lengths)
    shape.kept += std::min<Offset>(count.length, shape.width) * count.rows;
  if (options.has("t"))
    shape.threads = static_cast<int>(options.parameter("t", 1));
  else if (variant.empty() || variant == "rt")
    shape.threads = choose_threads(rows, shape.width, options);
  shape.variant = choose_variant(options, shape, sizeof(V));
  refuse_padding(shape, sizeof(Index) + sizeof(V), options);
  return shape;
}

#define WEFT_INSTANTIATE(V) template Shape choose_shape<V>(const Csr<V>&, const BuildOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::ell
