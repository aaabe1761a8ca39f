#pragma once
#include <weft/types.hpp>

#include <cstdint>

#include "simt/on_device.hpp"

// The operations of weft/vector.hpp on a device, see vector.cu. All are queued on the stream, except for dot.
namespace weft {
/// The most parts that dot adds up one after the other, and so the size of its scratch less one.
constexpr std::int64_t max_dot_parts = 1024;
}  // namespace weft

WEFT_DECLARE_ON_DEVICES(
    vectors, template <Value V> void fill(Device device, std::int64_t count, V value, V* x, Stream stream);
    template <Value V> void axpy(Device device, std::int64_t count, V alpha, const V* x, V* y, Stream stream);
    template <Value V> void xpby(Device device, std::int64_t count, const V* x, V beta, V* y, Stream stream);
    template <Value V> void scale(Device device, std::int64_t count, V alpha, V* x, Stream stream);
    /* Needs max_dot_parts + 1 elements of scratch on the device; waits. */
    template <Value V>
    double dot(Device device, std::int64_t count, const V* x, const V* y, double* scratch, Stream stream);)
