// Plans on reordered matrices: for some formats, every order on every device and the awkward structures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/weft.hpp>

#include <sstream>

#include "each_structure.hpp"
#include "reference.hpp"
#include "refusals.hpp"
#include "row_major.hpp"

namespace weft::test {
namespace {

struct Case {
  Device device;
  Ordering ordering;
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.device.name() << ", " << to_string(one.ordering); }

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const Device device : available_devices())
    for (const Ordering one : orderings())
      if (one != Ordering::none) cases.push_back({device, one});
  return cases;
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  return info.param.device.name() + "_" + std::string(to_string(info.param.ordering));
}

template <Value V>
Array<V> multiply(Plan<V>& plan, Op op, V alpha, const Array<V>& x, V beta, const Array<V>& y, int count,
                  Layout layout) {
  const bool rows = layout == Layout::row_major;
  const auto columns = static_cast<std::size_t>(count);
  const std::size_t x_stride = rows ? columns : x.size() / columns, y_stride = rows ? columns : y.size() / columns;
  const Array<V> from = rows ? to_row_major(x, count) : x;
  Array<V> result = rows ? to_row_major(y, count) : y.clone();
  if (plan.device().is_cpu()) {
    plan.apply(op, alpha, Vectors<const V>{from, count, x_stride, layout}, beta,
               Vectors<V>{result, count, y_stride, layout});
  } else {
    const DeviceBuffer<V> x_there(plan.device(), from);
    DeviceBuffer<V> y_there(plan.device(), result);
    plan.apply(op, alpha, DeviceVectors<const V>{x_there, count, x_stride, layout}, beta,
               DeviceVectors<V>{y_there, count, y_stride, layout});
    result = y_there.download();
  }
  return rows ? from_row_major(result, count) : std::move(result);
}

/// One product against the reference, with what must not be read poisoned.
template <Value V>
void check(Plan<V>& plan, const Csr<V>& matrix, Op op, V alpha, V beta, int count, const std::string& what,
           Layout layout = Layout::column_major) {
  const auto in = static_cast<std::size_t>(op == Op::none ? matrix.cols : matrix.rows);
  const auto out = static_cast<std::size_t>(op == Op::none ? matrix.rows : matrix.cols);
  const V poison = std::numeric_limits<V>::quiet_NaN();
  const Array<V> x = alpha == V(0) ? Array<V>(in * count, poison) : random_vector<V>(in * count, 31);
  const Array<V> y = beta == V(0) ? Array<V>(out * count, poison) : random_vector<V>(out * count, 32);
  const Array<V> result = multiply(plan, op, alpha, x, beta, y, count, layout);
  const auto part = [](const Array<V>& all, int j, std::size_t size) {
    return std::span<const V>(all.data() + j * size, size);
  };
  for (int j = 0; j < count; ++j)
    EXPECT_TRUE(equals_reference<V>(matrix, op, alpha, part(x, j, in), beta, part(y, j, out), part(result, j, out)))
        << what << ", vector " << j << " of " << count;
}

class Reordered : public ::testing::TestWithParam<Case> {
 protected:
  bool emulated() const { return GetParam().device.kind() == Device::Kind::emulator; }

  PlanOptions options(const std::string& format) const {
    return {.device = GetParam().device, .format = format, .order = GetParam().ordering, .transpose = true};
  }

  /// Calls body(plan, matrix, what) for the formats and structures that this order takes.
  template <Value V, class F>
  void for_plans(F&& body) {
    for (const char* format : {"csr", "sell", "coo"})
      for_each_structure<V>(false, [&](const Csr<V>& matrix) {
        const bool square_only = GetParam().ordering == Ordering::rcm || GetParam().ordering == Ordering::amd;
        if (emulated() && matrix.nonzeros() > 3000) return;
        try {
          auto plan = plan_unless_refused(matrix, options(format));
          if (plan) body(*plan, matrix, format);
        } catch (const Error& error) {
          if (!square_only || error.code() != ErrorCode::unsupported) throw;
        }
      });
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Reordered);

TEST_P(Reordered, ProductsAreInTheCallersOrder) {
  int plans = 0;
  const auto body = [&]<Value V>(Plan<V>& plan, const Csr<V>& matrix, const std::string& what) {
    ++plans;
    for (const Op op : {Op::none, Op::transpose}) {
      const std::string full = what + (op == Op::none ? "" : " transposed");
      check<V>(plan, matrix, op, V(1), V(0), 1, full);
      check<V>(plan, matrix, op, V(-2), V(0.5), 1, full);
      check<V>(plan, matrix, op, V(0), V(2), 1, full + ", alpha 0");
      check<V>(plan, matrix, op, V(0), V(0), 1, full + ", both 0");
    }
  };
  for_plans<double>(body);
  if (!emulated()) for_plans<float>(body);
  EXPECT_GT(plans, GetParam().ordering == Ordering::amd ? -1 : 10);  // a build may be without amd
}

TEST_P(Reordered, SeveralVectorsPassThroughTheWorkspace) {
  for_plans<double>([&](Plan<double>& plan, const Csr<double>& matrix, const std::string& what) {
    for (const int count : {2, 5, 9}) {
      check(plan, matrix, Op::none, 1.5, -1.0, count, what);
      check(plan, matrix, Op::transpose, 1.5, 0.0, count, what + " transposed");
    }
  });
}

TEST_P(Reordered, RowMajorVectorsPassThroughTheWorkspace) {
  for_plans<double>([&](Plan<double>& plan, const Csr<double>& matrix, const std::string& what) {
    for (const int count : {1, 2, 5, 9, 17}) {
      check(plan, matrix, Op::none, 1.5, -1.0, count, what, Layout::row_major);
      check(plan, matrix, Op::transpose, 1.5, 0.0, count, what + " transposed", Layout::row_major);
    }
  });
}

TEST_P(Reordered, NewValuesFindTheirPlaces) {
  for_plans<double>([&](Plan<double>& plan, const Csr<double>& matrix, const std::string& what) {
    Csr<double> other = matrix;
    other.values = random_vector<double>(matrix.values.size(), 33);
    plan.update_values(other.values);
    check(plan, other, Op::none, 1.0, 0.0, 1, what);
    check(plan, other, Op::transpose, 1.0, 0.0, 1, what + " transposed");
  });
}

TEST_P(Reordered, NanAndInfinityReachOnlyTheirRows) {
  Csr<double> matrix = random_rows<double>(90, std::vector<Index>(90, 6), 21);
  matrix.values[6 * 10] = std::numeric_limits<double>::quiet_NaN();
  matrix.values[6 * 33 + 2] = std::numeric_limits<double>::infinity();
  try {
    auto plan = weft::plan(matrix, options("sell"));
    check(plan, matrix, Op::none, 1.0, 0.0, 1, "NaN and infinity");
    check(plan, matrix, Op::transpose, 2.0, 1.0, 1, "NaN and infinity transposed");
  } catch (const Error& error) {
    EXPECT_EQ(GetParam().ordering, Ordering::amd) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(Orders, Reordered, ::testing::ValuesIn(all_cases()), case_name);

TEST(ReorderedPlan, SaysItsOrderAndWhatItTook) {
  const auto matrix = read_matrix<double>("gen:poisson2d:30");
  const PlanInfo info = plan(matrix, {.format = "csr", .order = Ordering::rcm}).info();
  EXPECT_EQ(info.ordering, Ordering::rcm);
  EXPECT_GT(info.setup.order, 0);
  EXPECT_GE(info.planning_seconds, info.setup.order + info.setup.encode);
  std::ostringstream text;
  text << info;
  EXPECT_THAT(text.str(), ::testing::HasSubstr("in the order rcm, found in "));
  const PlanInfo plain = plan(matrix, {.format = "csr"}).info();
  EXPECT_EQ(plain.setup.order, 0);
  EXPECT_EQ(info.bytes, plain.bytes + 2 * 900 * sizeof(Index));
}

TEST(ReorderedPlan, AutoTriesFormatsOnTheReorderedMatrix) {
  std::vector<Index> lengths(20000);
  for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i % 100 == 0 ? 60 : 5;
  const auto matrix = random_rows<double>(20000, lengths, 3);
  auto p = plan(matrix, {.order = Ordering::length, .products = 100000, .remember = false});
  EXPECT_EQ(p.info().candidates.size(), formats().size());
  EXPECT_GT(p.info().product_seconds, 0);
  check(p, matrix, Op::none, 1.0, 0.0, 1, p.info().format);
}

TEST(ReorderedPlan, RefusesAnOrderTheMatrixCannotHave) {
  const auto matrix = random_rows<double>(5, {1, 2, 3});
  EXPECT_THROW(plan(matrix, {.order = Ordering::rcm}), Error);
  auto p = plan(matrix, {.format = "csr", .order = Ordering::bar});
  check(p, matrix, Op::none, 1.0, 0.0, 1, "3 x 5");
}

TEST(ReorderedPlan, CanBeCancelled) {
  const auto matrix = read_matrix<double>("gen:poisson2d:30");
  try {
    plan(matrix, {.format = "csr", .order = Ordering::bar, .progress = [](double) { return false; }});
    FAIL() << "nobody asked";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace weft::test
