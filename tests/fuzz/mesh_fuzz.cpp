#include <weft/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "generate/fem.hpp"
#include "generate/mesh.hpp"

/// Whatever the bytes are, the mesh reader answers with a mesh or with an Error; a mesh it accepts can be assembled
/// into a canonical matrix.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace weft::generation;
  try {
    const Mesh mesh = parse_gmsh({reinterpret_cast<const char*>(bytes), size}, "fuzz.msh");
    const auto linear = assemble<double>(mesh, Equation::elasticity, Order::p1);
    const auto quadratic = assemble<float>(mesh, Equation::poisson, Order::p2);
    if (!weft::check(linear).empty() || !weft::check(quadratic).empty()) std::abort();
  } catch (const weft::Error&) {
  }
  return 0;
}
