#pragma once
#include <weft/error.hpp>
#include <weft/formats.hpp>

#include <array>
#include <string>
#include <string_view>

// The one table of csr's variants: what the registry lists, and what the kernels are chosen by.
namespace weft::csr {

enum class Algorithm { by_rows, vector, stream, merge, speculative, hybrid, long_rows };
/// csr_merge_warp with few and with many entries per lane, and csr_merge_block.
enum class MergeKernel { by_rows, narrow, wide, block };

struct Variant {
  std::string_view name;
  std::string_view summary;
  Algorithm algorithm = Algorithm::by_rows;
  int lanes = 0;  ///< threads per row; 0: by the mean row length
  MergeKernel merge = MergeKernel::by_rows;
  bool on_cpu = false;
  bool waits = false;    ///< see VariantInfo
  bool chooses = false;  ///< see VariantInfo
};

inline constexpr std::array variants{
    Variant{"auto", "chooses among these by the lengths of the rows, as plain csr does", Algorithm::by_rows, 0,
            MergeKernel::by_rows, true, false, true},
    Variant{"long", "blocks share a row: few and long rows", Algorithm::long_rows},
    Variant{"merge", "equal shares of rows + entries, whatever the rows look like", Algorithm::merge, 0,
            MergeKernel::by_rows, true, false, true},
    Variant{"merge-block", "a share per block, summed from shared memory", Algorithm::merge, 0, MergeKernel::block},
    Variant{"merge-narrow", "a share per warp, which leaves the cache to x: power-law graphs", Algorithm::merge, 0,
            MergeKernel::narrow},
    Variant{"merge-wide", "a share per warp, many entries at once", Algorithm::merge, 0, MergeKernel::wide},
    Variant{"speculative", "segmented sums of equal tiles of entries: few empty rows", Algorithm::speculative},
    Variant{"speculative-cpu", "the same, its second stage on the CPU", Algorithm::hybrid, 0, MergeKernel::by_rows,
            false, true},
    Variant{"scalar", "a thread per row", Algorithm::vector, 1},
    Variant{"stream", "a block stages the products of its rows in shared memory: even rows", Algorithm::stream},
    Variant{"vector", "2 to 32 threads per row, by the mean row length", Algorithm::vector, 0, MergeKernel::by_rows,
            false, false, true},
    Variant{"vector2", "2 threads per row", Algorithm::vector, 2},
    Variant{"vector4", "4 threads per row", Algorithm::vector, 4},
    Variant{"vector8", "8 threads per row", Algorithm::vector, 8},
    Variant{"vector16", "16 threads per row", Algorithm::vector, 16},
    Variant{"vector32", "32 threads per row", Algorithm::vector, 32},
};

/// Empty means "auto". Throws Error(invalid_argument) for a name that is not in the table, or not for `device`.
inline const Variant& find_variant(std::string_view name, Device device) {
  if (name.empty()) return variants.front();
  for (const Variant& variant : variants)
    if (variant.name == name && (variant.on_cpu || !device.is_cpu())) return variant;
  throw Error(ErrorCode::invalid_argument, "csr has no variant '" + std::string(name) + "' on " + device.name());
}

inline std::vector<VariantInfo> variant_infos() {
  std::vector<VariantInfo> infos;
  for (const Variant& variant : variants) {
    std::vector<Device::Kind> devices{Device::Kind::gpu, Device::Kind::emulator};
    if (variant.on_cpu) devices.insert(devices.begin(), Device::Kind::cpu);
    infos.push_back(
        {std::string(variant.name), std::string(variant.summary), std::move(devices), variant.waits, variant.chooses});
  }
  return infos;
}

}  // namespace weft::csr
