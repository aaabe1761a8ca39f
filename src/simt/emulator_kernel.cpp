#include "simt/emulator_kernel.hpp"

#include <bit>
#include <string>

#include "simt/emulator_engine.hpp"
#include "simt/launch_limits.hpp"

namespace weft::simt::emulator {

std::uint64_t warp_operation(WarpOperation operation, std::uint32_t mask, std::uint64_t value, unsigned source_lane) {
  return Engine::running()->warp_operation(operation, mask, value, source_lane);
}

void block_barrier(std::source_location site) { Engine::running()->block_barrier(site); }

unsigned shuffle_source(WarpOperation operation, int argument, int width) {
  Engine& engine = *Engine::running();
  if (width < 1 || width > 32 || !std::has_single_bit(static_cast<unsigned>(width)))
    engine.fail([&] { return "shuffles with width " + std::to_string(width) + ", not a power of two up to 32"; });
  const int lane = static_cast<int>(engine.current_thread() % 32);
  const int segment = lane & ~(width - 1);
  switch (operation) {
    case WarpOperation::shuffle:
      return static_cast<unsigned>(segment + (argument & (width - 1)));
    case WarpOperation::shuffle_up:
      return static_cast<unsigned>(lane - argument < segment ? lane : lane - argument);
    case WarpOperation::shuffle_down:
      return static_cast<unsigned>(lane + argument >= segment + width ? lane : lane + argument);
    default:
      break;
  }
  // CUDA lets an xor reach into earlier segments, not into later ones.
  const int source = lane ^ argument;
  return static_cast<unsigned>(source >= segment + width ? lane : source & 31);
}

void require_alignment(const void* address, std::size_t bytes) {
  if (reinterpret_cast<std::uintptr_t>(address) % bytes == 0) return;
  Engine::running()->fail([&] {
    return "makes a vector access at an address that is not a multiple of " + std::to_string(bytes) + " bytes (" +
           describe_address(address) + ")";
  });
}

SharedView declare_static_shared(const void* key, const char* name, std::size_t element_bytes, std::int64_t count) {
  Engine& engine = *Engine::running();
  SharedRegion& region = engine.shared().static_region(key, element_bytes, static_cast<std::size_t>(count));
  if (engine.shared().static_bytes() > most_static_shared_bytes)
    engine.fail([&] { return std::string("declares more than 48 KiB of static shared memory, with '") + name + "'"; });
  return {&region, name, 0, count};
}

SharedView declare_dynamic_shared(const char* name, std::size_t element_bytes, std::size_t alignment,
                                  std::int64_t count, std::int64_t byte_offset) {
  Engine& engine = *Engine::running();
  const std::size_t available = engine.shared().dynamic_bytes();
  const std::size_t offset = static_cast<std::size_t>(byte_offset);
  if (count < 0 || byte_offset < 0 || offset > available ||
      static_cast<std::size_t>(count) > (available - offset) / element_bytes)
    engine.fail([&] {
      return std::string("declares the dynamic shared array '") + name + "' of " + std::to_string(count) +
             " elements of " + std::to_string(element_bytes) + " bytes at byte " + std::to_string(byte_offset) +
             ", but the launch gave " + std::to_string(available) + " bytes";
    });
  if (offset % alignment != 0)
    engine.fail([&] {
      return std::string("declares the dynamic shared array '") + name + "' at byte " + std::to_string(byte_offset) +
             ", which is not aligned for its elements";
    });
  return {&engine.shared().dynamic_region(element_bytes, offset), name, offset, count};
}

std::byte* access_shared(const SharedView& view, std::size_t element_bytes, std::int64_t index, SharedAccess kind) {
  Engine& engine = *Engine::running();
  const auto element = [&] { return std::string("'") + view.name + "'[" + std::to_string(index) + "]"; };
  if (index < 0 || index >= view.count)
    engine.fail([&] {
      return "accesses " + element() + ", outside of a shared array of " + std::to_string(view.count) + " elements";
    });
  const std::size_t offset = view.byte_offset + static_cast<std::size_t>(index) * element_bytes;
  if (const auto conflict =
          engine.shared().access(*view.region, offset, element_bytes, kind, engine.current_thread())) {
    engine.fail([&] {
      if (conflict->kind == Conflict::Kind::never_written)
        return "reads the shared element " + element() + ", which was never written in this block";
      const auto verb = [](SharedAccess access) -> std::string {
        return access == SharedAccess::read ? "read" : access == SharedAccess::write ? "wrote" : "updated atomically";
      };
      const std::string own = kind == SharedAccess::read    ? "reads"
                              : kind == SharedAccess::write ? "writes"
                                                            : "updates atomically";
      return own + " the shared element " + element() + ", which thread " + std::to_string(conflict->other_thread) +
             " " + verb(conflict->other_access) + " without a barrier in between (missing barrier)";
    });
  }
  return view.region->bytes() + offset;
}

}  // namespace weft::simt::emulator
