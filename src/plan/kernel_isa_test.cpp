#include "plan/kernel_isa.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>

#include <cstring>
#include <random>

#include "core/isa.hpp"

namespace weft {
namespace {

TEST(KernelIsa, TextAndBack) {
  const std::vector<KernelIsa> all{{"sell", ValueType::f32, Isa::avx512},
                                   {"csr", ValueType::f64, Isa::avx2},
                                   {"sell", ValueType::f64, Isa::avx512_gather}};
  EXPECT_EQ(parse_kernel_isas(to_text(all)), all);
}

TEST(KernelIsa, LinesThatMakeNoSenseAreLeftOut) {
  EXPECT_TRUE(parse_kernel_isas("").empty());
  EXPECT_TRUE(parse_kernel_isas("# comment\nsell\nsell f64\nsell f16 avx2\nsell f64 mmx\n\n").empty());
  const std::vector<KernelIsa> one{{"sell", ValueType::f64, Isa::avx2}};
  EXPECT_EQ(parse_kernel_isas("sell f64 sse\nsell f64 avx2 and more\n\xff\xfe"), one);
}

TEST(KernelIsa, OneThatIsForcedIsTaken) {
  ASSERT_TRUE(isa_is_forced());  // as it is in these tests, see own_cache.cpp
  const Isa before = isa();
  for (const Isa wanted : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512_gather}) {
    if (!isa_available(wanted)) continue;
    set_isa(wanted);
    for (const Format* format : registry())
      if (format->runs_on(Device::Kind::cpu)) {
        EXPECT_EQ(kernel_isa(*format, ValueType::f64), wanted);
      }
    const Csr<double> matrix = generate<double>("gen:poisson2d:10");
    EXPECT_EQ(plan(matrix, {.format = "sell"}).info().isa, wanted);
  }
  set_isa(before);
  EXPECT_TRUE(renew_kernel_isas().empty());  // nothing to choose
}

template <Value V>
std::vector<V> product_with(Isa wanted, const Csr<V>& matrix, const std::string& format, Layout layout, int count) {
  set_isa(wanted);
  std::mt19937 random(1);
  std::uniform_real_distribution<V> number(-1, 1);
  const auto vectors = static_cast<std::size_t>(count);
  std::vector<V> x(static_cast<std::size_t>(matrix.cols) * vectors), y(static_cast<std::size_t>(matrix.rows) * vectors);
  for (V& element : x) element = number(random);
  for (V& element : y) element = number(random);
  const bool rows = layout == Layout::row_major;
  plan(matrix, {.format = format})
      .apply(Op::none, V(1.5),
             Vectors<const V>{x, count, rows ? vectors : static_cast<std::size_t>(matrix.cols), layout}, V(-0.5),
             Vectors<V>{y, count, rows ? vectors : static_cast<std::size_t>(matrix.rows), layout});
  return y;
}

template <Value V>
void expect_the_same_bits() {
  for (const char* const source : {"gen:poisson3d:12", "gen:elasticity3d:6", "gen:rmat:10", "gen:uniform:2000:9"}) {
    const Csr<V> matrix = generate<V>(source);
    for (const Format* format : registry()) {
      if (!format->runs_on(Device::Kind::cpu) || !format->has_type(value_type<V>)) continue;
      for (const auto& [layout, count] :
           {std::pair(Layout::column_major, 1), std::pair(Layout::column_major, 3), std::pair(Layout::row_major, 2),
            std::pair(Layout::row_major, 5), std::pair(Layout::row_major, 8), std::pair(Layout::row_major, 9),
            std::pair(Layout::row_major, 12), std::pair(Layout::row_major, 16)}) {
        for (const Isa isa : {Isa::avx512, Isa::avx512_gather}) {
          if (isa == Isa::avx512_gather && !format->gathers) continue;
          std::vector<V> narrow, wide;
          try {
            narrow = product_with(Isa::avx2, matrix, format->info.name, layout, count);
            wide = product_with(isa, matrix, format->info.name, layout, count);
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::unsupported) << error.what();  // too much padding
            continue;
          }
          EXPECT_EQ(std::memcmp(narrow.data(), wide.data(), narrow.size() * sizeof(V)), 0)
              << format->info.name << ", " << source << ", " << to_string(value_type<V>) << ", " << count
              << (layout == Layout::row_major ? " row-major, " : ", ") << to_string(isa);
        }
      }
    }
  }
}

TEST(KernelIsa, Avx512HasTheBitsOfAvx2) {
  if (!isa_available(Isa::avx512)) GTEST_SKIP() << "this CPU or build has no AVX-512 kernels";
  const Isa before = isa();
  expect_the_same_bits<float>();
  expect_the_same_bits<double>();
  set_isa(before);
}

}  // namespace
}  // namespace weft
