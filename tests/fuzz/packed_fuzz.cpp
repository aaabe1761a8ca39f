// Feeds arbitrary bytes, with checksums made to agree, to the loaders of packed .weft files. What they accept is
// multiplied by the CPU kernels, straight from the stored stream: that must stay inside all arrays, and give what the
// unpacked matrix gives.
#include <weft/csr.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "forge.hpp"
#include "formats/registry.hpp"
#include "require.hpp"
#include "store/csr_container.hpp"
#include "store/packed_container.hpp"

namespace {

using weft::Index;

/// Up to rounding, also of numbers so small that they lose digits.
template <weft::Value V>
bool close(V a, V b, double scale) {
  const double difference = std::abs(static_cast<double>(a) - static_cast<double>(b));
  return std::isnan(scale) || std::isinf(scale) || difference <= 1e-4 * scale + (sizeof(V) == 4 ? 1e-36 : 1e-300);
}

/// Compares the product of the stored stream with that of the matrix.
template <weft::Value V>
void multiply(weft::Operator<V>& stored, const weft::Csr<V>& matrix) {
  std::vector<V> x(static_cast<std::size_t>(matrix.cols)), y(static_cast<std::size_t>(matrix.rows), V(7));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = V(1) / static_cast<V>(i % 7 + 1);
  stored.apply({V(1), x.data(), x.size(), V(0), y.data(), y.size(), 1}, {});
  for (Index row = 0; row < matrix.rows; ++row) {
    double sum = 0, scale = 0;
    for (weft::Offset k = matrix.offsets[row]; k < matrix.offsets[row + 1]; ++k) {
      const double term = static_cast<double>(matrix.values[k]) * static_cast<double>(x[matrix.columns[k]]);
      sum += term;
      scale += std::abs(term);
    }
    if (scale > 1e30) continue;  // sums may overflow on the way
    require(close(y[row], static_cast<V>(sum), scale));
  }
}

/// A legitimate file may claim 2^31-1 rows or columns, whose vectors and offsets are nothing to fuzz with.
bool is_small(const weft::io::Container& container) {
  const auto [rows, cols] = weft::io::shape_of(container);
  return rows <= 1 << 20 && cols <= 1 << 20;
}

template <weft::Value V>
void load(const weft::Array<std::byte>& bytes) {
  // 64-byte aligned, as a mapped file is, and an allocation of its own, so that a read past the end is seen.
  const auto memory = std::make_shared<weft::Array<std::byte>>(bytes.clone());
  try {
    const weft::io::Container container({memory, {memory->data(), memory->size()}}, "fuzz");
    const weft::Format* const format = weft::io::packed_format(container);
    if (!format || !is_small(container)) return;
    const weft::io::Packed<V> packed = weft::io::unpack<V>(container, *format);
    require(check(packed.matrix).empty());
    // Arrays of their own: in the file, one array's end is the next one's beginning.
    weft::StoredArrays arrays;
    for (const auto& [name, elements] : packed.arrays.all())
      std::visit([&](const auto& array) { arrays.add(name, array.clone()); }, elements);
    weft::BuildOptions options;
    if (!packed.recipe.empty()) options.parameters = weft::parse_format(packed.recipe).parameters;
    const auto stored = format->storing.get<V>().load(arrays, packed.matrix, options).op;
    multiply(*stored, packed.matrix);
    stored->update_values(packed.matrix.values);
    multiply(*stored, packed.matrix);
  } catch (const weft::Error& error) {
    require(error.code() == weft::ErrorCode::parse || error.code() == weft::ErrorCode::unsupported);
    require(std::strchr(error.what(), '\n') == nullptr);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  weft::set_threads(1);
  weft::Array<std::byte> bytes = weft::Array<std::byte>::copy_of(std::as_bytes(std::span(data, size)));
  forge(bytes);
  load<double>(bytes);
  load<float>(bytes);
  return 0;
}
