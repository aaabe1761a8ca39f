#include <gtest/gtest.h>
#include <weft/generate.hpp>
#include <weft/plan.hpp>
#include <weft/preconditioners.hpp>

#include <vector>

#include "counting_new.hpp"
#include "formats/registry.hpp"
#include "structures.hpp"

namespace weft::test {
namespace {

TEST(Plan, ApplyAllocatesNothingOnTheCpu) {
  const auto matrix = random_rows<double>(3000, std::vector<Index>(2000, 40));
  std::vector<double> x(6000, 1.0), y(6000);
  for (const Format* format : registry()) {
    if (!format->runs_on(Device::Kind::cpu)) continue;
    const auto all_ways = [&](Plan<double>& p) {
      p.apply(std::span<const double>(x.data(), 3000), std::span(y.data(), 2000));
      p.apply(Op::transpose, 2.0, std::span<const double>(x.data(), 2000), 1.0, std::span(y.data(), 3000));
      p.apply(Op::none, 1.0, Vectors<const double>{std::span<const double>(x.data(), 6000), 2, 3000}, 0.0,
              Vectors<double>{std::span(y.data(), 4000), 2, 2000});
      p.apply(Op::none, 1.0, Vectors<const double>{std::span<const double>(x.data(), 6000), 2, 2, Layout::row_major},
              0.0, Vectors<double>{std::span(y.data(), 4000), 2, 2, Layout::row_major});
      p.apply_in_order(std::span<const double>(x.data(), 3000), std::span(y.data(), 2000));
    };
    // OpenMP allocates for its threads once; the plan that is watched has not been applied before.
    for (const Ordering order : {Ordering::none, Ordering::bar}) {
      const PlanOptions options{.format = format->info.name, .order = order, .transpose = true};
      auto another = plan(matrix, options), fresh = plan(matrix, options);
      another.ordering();
      fresh.ordering();
      all_ways(another);
      const long before = allocations();
      all_ways(fresh);
      EXPECT_EQ(allocations() - before, 0) << format->info.name << " in the order " << to_string(order);
    }
  }
}

TEST(Plan, NewValuesOfEhybAllocateNothingOnTheCpu) {
  auto matrix = random_rows<double>(2000, std::vector<Index>(2000, 40));
  // With small caches many entries are extra ones.
  for (const char* const format : {"ehyb", "ehyb:cache=200:parts=20"}) {
    auto p = plan(matrix, {.format = format});
    p.update_values(matrix.values);  // OpenMP allocates for its threads once
    const long before = allocations();
    p.update_values(matrix.values);
    EXPECT_EQ(allocations() - before, 0) << format;
  }
}

TEST(Preconditioners, ApplyAllocatesNothingOnTheCpu) {
  const auto matrix = generate<double>("gen:elasticity3d:5");
  const Plan<double> P = plan(matrix, {.format = "csr"});
  const std::vector<double> x(static_cast<std::size_t>(matrix.rows), 1.0);
  std::vector<double> y(x.size());
  const VectorView<const double> from{std::span<const double>(x)};
  const VectorView<double> to{std::span<double>(y)};
  for (const PreconditionerKind& kind : preconditioners())
    for (const char* const how : {"", ":single=1"}) {
      if (*how != 0 && kind.name.find("ai") == std::string::npos) continue;
      const auto M = make_preconditioner(kind.name + how, P, matrix);
      M->apply(1.0, from, 0.0, to);  // threads start once
      const long before = allocations();
      M->apply(2.0, from, 1.0, to);
      EXPECT_EQ(allocations() - before, 0) << kind.name << how;
    }
}

}  // namespace
}  // namespace weft::test
