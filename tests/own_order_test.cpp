// Products in a plan's own order: for every format on every device, what `apply` gives but for the order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <cstring>

#include "each_structure.hpp"
#include "formats/registry.hpp"
#include "plan/build.hpp"
#include "refusals.hpp"
#include "row_major.hpp"

namespace weft::test {
namespace {

/// y = alpha A x + beta y, in the caller's order or in the plan's.
template <Value V>
Array<V> multiply(Plan<V>& plan, bool in_order, V alpha, const Array<V>& x, V beta, const Array<V>& y, int count,
                  Layout layout = Layout::column_major) {
  const auto run = [&](auto from, auto to) {
    if (in_order)
      plan.apply_in_order(alpha, from, beta, to);
    else
      plan.apply(Op::none, alpha, from, beta, to);
  };
  const bool rows = layout == Layout::row_major;
  const auto columns = static_cast<std::size_t>(count);
  const std::size_t x_stride = rows ? columns : x.size() / columns, y_stride = rows ? columns : y.size() / columns;
  const Array<V> from = rows ? to_row_major(x, count) : x;
  Array<V> result = rows ? to_row_major(y, count) : y.clone();
  if (plan.device().is_cpu()) {
    run(Vectors<const V>{from, count, x_stride, layout}, Vectors<V>{result, count, y_stride, layout});
  } else {
    const DeviceBuffer<V> x_there(plan.device(), from);
    DeviceBuffer<V> y_there(plan.device(), result);
    run(DeviceVectors<const V>{x_there, count, x_stride, layout}, DeviceVectors<V>{y_there, count, y_stride, layout});
    result = y_there.download();
  }
  return rows ? from_row_major(result, count) : std::move(result);
}

template <Value V>
Array<V> ordered_by(const Array<V>& vectors, const Array<Index>& order, int count) {
  Array<V> result(vectors.size());
  const std::size_t size = vectors.size() / count;
  for (int j = 0; j < count; ++j)
    gather(std::span<const V>(vectors).subspan(j * size, size), order, std::span<V>(result).subspan(j * size, size));
  return result;
}

template <Value V>
::testing::AssertionResult same_bits(const Array<V>& a, const Array<V>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(V)) != 0)
      return ::testing::AssertionFailure() << "element " << i << ": " << a[i] << " and " << b[i];
  return ::testing::AssertionSuccess();
}

template <Value V>
void expect_same(Plan<V>& plan, const Order& order, V alpha, V beta, int count, Layout layout = Layout::column_major) {
  const PlanInfo& info = plan.info();
  const V poison = std::numeric_limits<V>::quiet_NaN();
  const auto in = static_cast<std::size_t>(info.cols) * count, out = static_cast<std::size_t>(info.rows) * count;
  const Array<V> x = alpha == V(0) ? Array<V>(in, poison) : random_vector<V>(in, 5);
  const Array<V> y = beta == V(0) ? Array<V>(out, poison) : random_vector<V>(out, 6);
  const Array<V> expected = ordered_by(multiply(plan, false, alpha, x, beta, y, count, layout), order.rows, count);
  const Array<V> result = multiply(plan, true, alpha, ordered_by(x, order.columns, count), beta,
                                   ordered_by(y, order.rows, count), count, layout);
  EXPECT_TRUE(same_bits(result, expected)) << count << " vectors";
}

class OwnOrder : public ::testing::TestWithParam<Device> {
 protected:
  /// Calls body(plan, matrix) for structures that the format takes.
  template <Value V, class F>
  void for_plans(PlanOptions options, F&& body) {
    options.device = GetParam();
    SCOPED_TRACE(options.format);
    for_each_structure<V>(false, [&](const Csr<V>& matrix) {
      if (GetParam().kind() == Device::Kind::emulator && matrix.nonzeros() > 3000) return;
      try {
        Plan<V> p = plan(matrix, options);
        body(p, matrix);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::unsupported) throw;
      }
    });
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OwnOrder);

TEST_P(OwnOrder, GivesTheSameBits) {
  const auto check = [](auto& p, const auto& matrix) {
    using V = std::remove_cvref_t<decltype(matrix.values[0])>;
    const Order order = p.ordering();
    EXPECT_EQ(order.rows.size(), static_cast<std::size_t>(matrix.rows));
    if (matrix.rows == matrix.cols)
      EXPECT_TRUE(std::ranges::equal(order.rows, order.columns));
    else
      EXPECT_TRUE(order.columns.empty());
    expect_same<V>(p, order, V(1), V(0), 1);
    expect_same<V>(p, order, V(-1.5), V(0.75), 3);
    expect_same<V>(p, order, V(0), V(2), 1);
  };
  // Many small parts, so that entries leave them; with and without the neighbours' x.
  for (const char* format : {"ehyb", "ehyb:cache=40", "ehyb:parts=7:guests=0", "ehyb:block=2:cache=30"}) {
    for_plans<double>({.format = format}, check);
    for_plans<float>({.format = format}, check);
  }
}

// Whether a format has one is for its plan to say: without one it does what `apply` does.
TEST_P(OwnOrder, EveryFormatGivesTheSameBitsInItsOwnOrNone) {
  for (const Format* format : registry()) {
    if (!format->runs_on(GetParam().kind())) continue;
    for_plans<double>({.format = format->info.name, .allow_nondeterministic = true},
                      [](Plan<double>& p, const Csr<double>&) {
                        const Order order = p.ordering();
                        expect_same<double>(p, order, 1, 0, 1);
                        expect_same<double>(p, order, 2, -1, 2);
                      });
  }
}

TEST_P(OwnOrder, RowMajorVectorsHaveTheSameBits) {
  for (const char* format : {"ehyb:cache=40", "ehyb:block=2:cache=30", "sell", "csr"})
    for_plans<double>({.format = format}, [](Plan<double>& p, const Csr<double>&) {
      const Order order = p.ordering();
      for (const int count : {1, 3, 8, 11}) expect_same<double>(p, order, 1.5, count % 2, count, Layout::row_major);
    });
}

TEST_P(OwnOrder, FollowsThePlansOrder) {
  for (const char* format : {"csr", "ehyb:cache=40"})
    for (const Ordering ordering : {Ordering::length, Ordering::rcm})
      for_plans<double>({.format = format, .order = ordering}, [&](Plan<double>& p, const Csr<double>& matrix) {
        const Order order = p.ordering();
        EXPECT_EQ(order.rows.size(), static_cast<std::size_t>(matrix.rows));
        expect_same<double>(p, order, 1, 0, 1);
        expect_same<double>(p, order, 1, 0, 3);
      });
}

TEST_P(OwnOrder, SurvivesNewValues) {
  for_plans<double>({.format = "ehyb:cache=40"}, [](Plan<double>& p, const Csr<double>& matrix) {
    const Order order = p.ordering();
    p.update_values(random_vector<double>(matrix.values.size(), 9));
    expect_same<double>(p, order, 1, 0, 1);
  });
}

TEST_P(OwnOrder, MustBeAskedForFirst) {
  auto p = plan(random_rows<double>(4, {2, 2, 2, 2}), {.device = GetParam(), .format = "ehyb"});
  const Array<double> x(4, 1.0);
  try {
    multiply<double>(p, true, 1, x, 0, x, 1);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("ordering()"));
  }
}

INSTANTIATE_TEST_SUITE_P(All, OwnOrder, ::testing::ValuesIn(available_devices()),
                         [](const auto& one) { return one.param.name(); });

TEST(OrderedVectors, GoThereAndBack) {
  const std::vector<double> x{1, 2, 3};
  std::vector<double> there(3), back(3);
  const std::vector<Index> order{2, 0, 1};
  gather(x, order, there);
  EXPECT_THAT(there, ::testing::ElementsAre(3, 1, 2));
  scatter(there, order, back);
  EXPECT_EQ(back, x);
  gather(x, {}, there);
  EXPECT_EQ(there, x);
  EXPECT_THROW(gather(x, std::vector<Index>{0, 1}, there), Error);
}

// A square matrix is partitioned once, also where its rows alone were put in another order.
TEST(OwnParts, AreTakenForTheTransposedMatrix) {
  const Csr<double> matrix = read_matrix<double>("gen:poisson2d:30");
  for (const Ordering ordering : {Ordering::none, Ordering::length, Ordering::rcm}) {
    const PlanOptions options{.format = "ehyb:parts=9", .order = ordering, .transpose = true};
    auto both = plan(matrix, options);
    const Array<double> x = random_vector<double>(900, 3);
    Array<double> y(900), expected(900);
    both.apply(Op::transpose, 1, x, 0, y);
    plan(transpose(matrix), {.format = "csr"}).apply(x, expected);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12);
    const auto partitions = [&](bool transposed) {
      int begun = 0;
      PlanOptions watched = options;
      watched.transpose = transposed;
      watched.progress = [&](double fraction) {
        begun += fraction == 0;
        return true;
      };
      plan(matrix, watched);
      return begun;
    };
    EXPECT_GE(partitions(false), 1);
    EXPECT_EQ(partitions(true), partitions(false) + 1);  // the second matrix is built, too, but not partitioned
    EXPECT_GT(both.info().setup.partition, 0);
    EXPECT_LE(both.info().setup.partition, both.info().setup.total());
  }
}

TEST(OwnParts, FindTheirWayToTheCallersRows) {
  const auto parts = std::make_shared<const Partition>(Partition{3, {0, 2, 1, 0}});
  EXPECT_EQ(in_callers_numbering(parts, {}), parts);
  EXPECT_EQ(in_callers_numbering(nullptr, {3, 2, 0, 1}), nullptr);
  const auto moved = in_callers_numbering(parts, {3, 2, 0, 1});
  EXPECT_THAT(std::vector<Index>(moved->part_of.begin(), moved->part_of.end()), ::testing::ElementsAre(1, 0, 2, 0));
}

}  // namespace
}  // namespace weft::test
