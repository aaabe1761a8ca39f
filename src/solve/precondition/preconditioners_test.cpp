// What all preconditioners of the list have in common.
#include <limits>

#include "core/value_types.hpp"
#include "solve/precondition/testing.hpp"

namespace weft {
namespace {

using namespace weft::testing;

/// All kinds, with parameters that do something.
std::vector<std::string> recipes() {
  std::vector<std::string> all;
  for (const PreconditionerKind& kind : preconditioners()) {
    all.push_back(kind.name);
    for (const PreconditionerParameter& parameter : kind.parameters)
      if (parameter.name == "power")
        all.insert(all.end(), {kind.name + ":power=1:drop=0", kind.name + ":power=1:drop=0:single=1"});
  }
  return all;
}

/// Whether its pattern depends on the matrix's numbers.
bool thins(const std::string& recipe) { return recipe.find("ai") + 2 == recipe.size(); }

/// How exactly it multiplies, of numbers about 1.
double rounding_of(const std::string& recipe) { return recipe.find("single") == std::string::npos ? 1e-12 : 1e-5; }

template <class V>
struct Made {
  std::unique_ptr<Plan<V>> P;
  MadePreconditioner<V> M;
};
template <class V>
Made<V> made(const std::string& recipe, const Csr<V>& matrix, Device device = Device::cpu()) {
  Made<V> result{std::make_unique<Plan<V>>(plan(matrix, {.device = device, .format = "csr"})), nullptr};
  result.M = make_preconditioner(recipe, *result.P, matrix);
  return result;
}

TEST(Preconditioners, SolveTheSameEquations) {
  const auto matrix = generate<double>("gen:elasticity3d:4");
  for (const std::string& recipe : recipes()) {
    const auto one = made(recipe, matrix);
    const auto report = solve_with<double>(&cg<double>, matrix, one.M);
    EXPECT_TRUE(report.converged() || !find_preconditioner(recipe)->keeps_symmetry) << recipe << ": " << report;
    EXPECT_TRUE(solve_with<double>(&bicgstab<double>, matrix, one.M).converged()) << recipe;
    EXPECT_EQ(one.M->info().name, find_preconditioner(recipe)->name);
    EXPECT_FALSE(one.M->info().details.empty());
    EXPECT_GT(one.M->info().nonzeros, 0);
    EXPECT_GT(one.M->info().bytes, 0u);
    EXPECT_GT(one.M->info().setup_seconds, 0);
    EXPECT_EQ(one.M->info().update_seconds, 0);
  }
  const auto rounded = generate<float>("gen:poisson2d:12");
  for (const std::string& recipe : recipes())
    EXPECT_TRUE(solve_with<float>(&bicgstab<float>, rounded, made(recipe, rounded).M).converged()) << recipe;
}

TEST(Preconditioners, AreSymmetricWhereTheListSaysSo) {
  const auto matrix = scaled(generate<double>("gen:elasticity3d:3"));
  for (const std::string& recipe : recipes()) {
    if (!find_preconditioner(recipe)->keeps_symmetry) continue;
    const DenseRows M = dense_of<double>(*made(recipe, matrix).M);
    EXPECT_LE(asymmetry(M), rounding_of(recipe)) << recipe;
    EXPECT_TRUE(is_positive_definite(M)) << recipe;
  }
}

TEST(Preconditioners, ComputeAlphaMxPlusBetaY) {
  const auto matrix = generate<double>("gen:poisson2d:9");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Device device : available_devices())
    for (const std::string& recipe : recipes()) {
      const auto one = made(recipe, matrix, device);
      const std::vector<double> expected = product_of<double>(*one.M);
      const std::vector<double> numbers = random_numbers<double>(expected.size(), 3);
      const Vector<double> x(device, std::span<const double>(numbers));
      Vector<double> y(device, expected.size());
      const auto result = [&](double alpha, VectorView<const double> from, double beta, double start) {
        fill<double>(y, start);
        one.M->apply(alpha, from, beta, y);
        return y.download();
      };
      const Array<double> sum = result(-2.5, x, 3, 7);
      const Array<double> fresh = result(2, x, 0, nan);
      Vector<double> unread(device, expected.size());
      fill<double>(unread, nan);
      const Array<double> kept = result(0, unread, 2, 7);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_NEAR(sum[i], -2.5 * expected[i] + 21, rounding_of(recipe)) << recipe << " on " << device.name();
        EXPECT_NEAR(fresh[i], 2 * expected[i], rounding_of(recipe)) << recipe << " on " << device.name();
        EXPECT_EQ(kept[i], 14) << recipe << " on " << device.name();
      }
    }
}

TEST(Preconditioners, GiveTheSameOnAllDevices) {
  const auto matrix = generate<double>("gen:elasticity3d:2");
  for (const std::string& recipe : recipes()) {
    const std::vector<double> expected = product_of<double>(*made(recipe, matrix).M);
    for (const Device device : available_devices()) {
      const auto one = made(recipe, matrix, device);
      EXPECT_EQ(one.M->device(), device);
      const std::vector<double> found = product_of<double>(*one.M);
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 10 * rounding_of(recipe) * (1 + std::abs(expected[i])))
            << recipe << " on " << device.name();
    }
  }
}

template <class V>
void expect_updates_like_new_ones(const Csr<V>& first, const Csr<V>& second, const std::string& recipe, Device device) {
  Csr<V> changing = first;  // the operator's values change with those of the matrix
  Plan<V> P = plan(changing, {.device = device, .format = "csr"});
  const auto M = make_preconditioner(recipe, P, first);
  P.update_values(std::span<const V>(second.values));
  M->update_values(second);
  EXPECT_EQ(product_of<V>(*M), product_of<V>(*made(recipe, second, device).M)) << recipe << " on " << device.name();
  EXPECT_GT(M->info().update_seconds, 0);
  P.update_values(std::span<const V>(first.values));
  M->update_values(first);
  EXPECT_EQ(product_of<V>(*M), product_of<V>(*made(recipe, first, device).M)) << recipe << " on " << device.name();
}

TEST(Preconditioners, TakeNewValuesAsIfNew) {
  for (const char* const source : {"gen:poisson2d:11", "gen:elasticity3d:2"}) {
    const auto first = generate<double>(source);
    const auto second = scaled(first);
    for (const Device device : available_devices())
      for (const std::string& recipe : recipes())
        if (!thins(recipe)) expect_updates_like_new_ones(first, second, recipe, device);
    const auto single = generate<float>(source);
    for (const std::string& recipe : recipes())
      if (!thins(recipe)) expect_updates_like_new_ones(single, scaled(single), recipe, Device::cpu());
  }
}

TEST(Preconditioners, TakeNewValuesInFormatsThatShareArrays) {
  const auto first = generate<double>("gen:elasticity3d:2");
  const auto second = scaled(first);
  using Make = MadePreconditioner<double> (*)(const MatrixSource<double>&, const SparseInverseOptions&);
  for (const Make make : std::initializer_list<Make>{&fsai<double>, &isai<double>})
    for (const Device device : available_devices()) {
      const SparseInverseOptions options{.power = 1, .drop = 0, .device = device, .format = "csr"};
      const auto M = make(first, options);
      for (const auto* matrix : {&second, &first, &second}) {
        M->update_values(*matrix);
        EXPECT_EQ(product_of<double>(*M), product_of<double>(*make(*matrix, options))) << device.name();
      }
    }
}

TEST(Preconditioners, HaveTheSameBitsForAnyNumberOfThreads) {
  for (const char* const source : {"gen:poisson3d:14", "gen:elasticity3d:6"}) {
    const auto matrix = generate<double>(source);
    for (const std::string& recipe : recipes()) {
      std::vector<std::vector<double>> products;
      for (const int threads : {1, 4, 3}) {
        const Threads scope(threads);
        products.push_back(product_of<double>(*made(recipe, matrix).M));
      }
      for (const auto& product : products) EXPECT_EQ(product, products[0]) << recipe;
    }
  }
}

TEST(Preconditioners, TakeTheSmallestMatrices) {
  for (const Device device : available_devices())
    for (const std::string& recipe : recipes()) {
      const Csr<double> none{0, 0, Array<Offset>(1, 0), {}, {}};
      const auto nothing = made(recipe, none, device);
      EXPECT_EQ(nothing.M->rows(), 0);
      EXPECT_TRUE(product_of<double>(*nothing.M).empty()) << recipe;
      nothing.M->update_values(none);
      const auto one = made(recipe, diagonal_matrix<double>({4}), device);
      const double found = dense_of<double>(*one.M)[0][0];
      EXPECT_GT(found, 0.1) << recipe;
      EXPECT_TRUE(recipe == "chebyshev" || std::abs(found - 0.25) < 1e-15) << recipe;
    }
}

TEST(Preconditioners, TakeMatricesThatAreOnADevice) {
  const auto matrix = generate<double>("gen:elasticity3d:2");
  for (const Device device : available_devices()) {
    if (device.is_cpu()) continue;
    const DeviceBuffer<Offset> offsets(device, std::span<const Offset>(matrix.offsets));
    const DeviceBuffer<Index> columns(device, std::span<const Index>(matrix.columns));
    const DeviceBuffer<double> values(device, std::span<const double>(matrix.values));
    const DeviceCsr<double> there{matrix.rows, matrix.cols, offsets, columns, values};
    const auto M = fsai(MatrixSource<double>(there));
    EXPECT_EQ(M->device(), device);
    EXPECT_EQ(product_of<double>(*M), product_of<double>(*fsai(matrix, {.device = device})));
    EXPECT_EQ(isai(MatrixSource<double>(there))->device(), device);
    EXPECT_EQ(block_jacobi(MatrixSource<double>(there))->device(), device);
  }
}

TEST(Preconditioners, RefuseWhatDoesNotFit) {
  const auto wide = to_csr(coo_of<double>(2, 3, {{0, 0, 1.0}}));
  const Plan<double> P = plan(wide);
  const auto square = generate<double>("gen:poisson2d:4");
  for (const std::string& recipe : recipes()) {
    expect_error(ErrorCode::invalid_argument, {"2 rows and 3 columns"}, [&] { make_preconditioner(recipe, P, wide); });
    const auto one = made(recipe, square);
    expect_error(ErrorCode::invalid_argument, {"16 x 16"},
                 [&] { one.M->update_values(generate<double>("gen:poisson2d:3")); });
  }
  expect_error(ErrorCode::invalid_argument, {"power is 0"}, [&] { fsai(square, {.power = 0}); });
  expect_error(ErrorCode::invalid_argument, {"drop is 2"}, [&] { isai(square, {.drop = 2}); });
  expect_error(ErrorCode::invalid_argument, {"drop"}, [&] { isai(square, {.drop = std::nan("")}); });
  expect_error(ErrorCode::invalid_argument, {"max_unknowns is 0"}, [&] { spai(square, {.max_unknowns = 0}); });
  expect_error(ErrorCode::invalid_argument, {"blocks of 3 rows"}, [&] { fsai(square, {.block = 3}); });
}

TEST(Preconditioners, AreFoundByName) {
  const auto matrix = generate<double>("gen:poisson2d:8");
  const Plan<double> P = plan(matrix);
  const auto refused = [&](const std::string& recipe, const std::vector<std::string>& words) {
    expect_error(ErrorCode::invalid_argument, words, [&] { make_preconditioner(recipe, P, matrix); });
  };
  refused("ilu", {"'ilu'", "jacobi", "block-jacobi", "chebyshev", "fsai", "isai", "spai"});
  refused("", {"''", "jacobi"});
  refused("jacobi:power=2", {"'power=2'", "are none"});
  refused("fsai:wide=2", {"'wide=2'", "power=NUMBER"});
  refused("fsai:power", {"'power'"});
  refused("fsai:power=9", {"power=9", "from 1 to 8"});
  refused("fsai:power=1.5", {"whole number"});
  refused("fsai:drop=nan", {"drop=nan"});
  refused("fsai:drop=0.1x", {"drop=0.1x"});
  EXPECT_EQ(find_preconditioner("ilu"), nullptr);
  EXPECT_EQ(find_preconditioner("fsai:power=2")->name, "fsai");
  EXPECT_EQ(product_of<double>(*make_preconditioner("fsai:power=2:drop=0.1", P, matrix)),
            product_of<double>(*fsai(matrix, {.power = 2, .drop = 0.1})));
}

TEST(Preconditioners, CanBeCancelled) {
  const auto matrix = generate<double>("gen:poisson3d:20");
  using Make = MadePreconditioner<double> (*)(const MatrixSource<double>&, const SparseInverseOptions&);
  for (const Make make : std::initializer_list<Make>{&fsai<double>, &isai<double>, &spai<double>}) {
    double last = 0;
    int calls = 0;
    make(matrix, {.progress = [&](double fraction) {
           EXPECT_GE(fraction, last);
           last = fraction;
           return ++calls > 0;
         }});
    EXPECT_EQ(last, 1);
    EXPECT_GT(calls, 5);
    expect_error(ErrorCode::cancelled, {}, [&] { make(matrix, {.progress = [](double done) { return done < 0.5; }}); });
  }
}

}  // namespace
}  // namespace weft
