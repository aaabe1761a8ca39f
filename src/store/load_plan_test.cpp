#include "store/load_plan.hpp"

#include <weft/generate.hpp>
#include <weft/io.hpp>

#include <cstring>

#include "io/io_testing.hpp"
#include "store/container_testing.hpp"
#include "store/csr_container.hpp"
#include "store/packed_container.hpp"

namespace weft::io::testing {
namespace {

template <class T>
void expect_same_bits(std::span<const T> a, std::span<const T> b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_TRUE(a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

/// A plan on any device as vectors on the host.
template <Value V>
std::vector<V> product_of(Plan<V>& plan, Op op, const std::vector<V>& x) {
  const PlanInfo& info = plan.info();
  std::vector<V> y(static_cast<std::size_t>(op == Op::none ? info.rows : info.cols), V(-7));
  if (plan.device().is_cpu()) {
    plan.apply(op, V(1), std::span<const V>(x), V(0), std::span<V>(y));
    return y;
  }
  DeviceBuffer<V> from(plan.device(), x), to(plan.device(), y);
  plan.apply(op, V(1), DeviceSpan<const V>(std::as_const(from)), V(0), DeviceSpan<V>(to));
  const Array<V> result = to.download();
  return {result.begin(), result.end()};
}

TEST(LoadPlan, EqualsThePlanOfTheMatrix) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  for (const char* source : {"gen:uniform:300:5", "gen:empty-rows:200", "gen:poisson2d:13"}) {
    const auto matrix = generate<double>(source);
    std::vector<double> x(static_cast<std::size_t>(matrix.cols)), z(static_cast<std::size_t>(matrix.rows));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / double(i + 1);
    for (std::size_t i = 0; i < z.size(); ++i) z[i] = 3.0 / double(i + 2);
    std::vector<double> others(static_cast<std::size_t>(matrix.nonzeros()));
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = double(i % 13) - 6;
    for (const std::string& name : names()) {
      const std::string format = format_of(name);
      for (const Device device : available_devices()) {
        write_weft_as(path, matrix, name, {}, nullptr, device);
        for (const std::string& asked : {std::string("auto"), format}) {
          SCOPED_TRACE(std::string(source) + " as " + name + " on " + device.name() + ", asked for " + asked);
          auto loaded = load_plan<double>(path, {.device = device, .format = asked, .transpose = true});
          auto planned = plan(matrix, {.device = device, .format = name, .transpose = true});
          EXPECT_TRUE(loaded.info().stored);
          EXPECT_FALSE(planned.info().stored);
          EXPECT_EQ(loaded.info().format, format);
          EXPECT_EQ(loaded.info().nonzeros, matrix.nonzeros());
          EXPECT_EQ(loaded.info().padding, planned.info().padding);
          if (device.is_cpu() || name == "bro-coo:steps=2" || format != "bro-coo") {  // same shape
            EXPECT_EQ(loaded.info().details, planned.info().details);
            expect_same_bits<double>(product_of(loaded, Op::none, x), product_of(planned, Op::none, x));
          }
          loaded.update_values(others);
          Csr<double> changed = matrix;
          changed.values = Array<double>::copy_of(others);
          for (const Op op : {Op::none, Op::transpose}) {
            const std::vector<double>& from = op == Op::none ? x : z;
            std::vector<double> expected(op == Op::none ? z.size() : x.size(), 0.0);
            reference_apply<double>(op, 1.0, changed, from, 0.0, expected);
            const std::vector<double> y = product_of(loaded, op, from);
            for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-10) << i;
          }
        }
      }
    }
  }
}

/// Writes the file's sections again, with another recipe; empty: with none, as earlier versions of Weft did.
void replace_recipe(const std::string& path, const std::string& recipe) {
  const Container container = Container::open(path);
  StoredArrays kept;
  for (const std::string& name : container.section_names()) {
    const auto keep = [&]<class T>(T) {
      if (container.type(name) == element_type<T>) kept.add(name, container.section<T>(name).clone());
    };
    if (name == recipe_section) continue;
    keep(std::uint8_t());
    keep(std::uint16_t());
    keep(std::uint32_t());
    keep(std::int32_t());
    keep(std::int64_t());
    keep(double());
  }
  if (!recipe.empty())
    kept.add(std::string(recipe_section), Array<std::uint8_t>(std::vector<std::uint8_t>(recipe.begin(), recipe.end())));
  ContainerWriter writer;
  for (const auto& [name, elements] : kept.all())
    std::visit([&]<class T>(const Array<T>& array) { writer.add(name, std::span<const T>(array)); }, elements);
  writer.write(path);
}

TEST(LoadPlan, HasTheRecipeThatTheFileWasMadeBy) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  for (const char* source : {"gen:empty-rows:200", "gen:elasticity3d:4"}) {
    const auto matrix = generate<double>(source);
    std::vector<double> x(static_cast<std::size_t>(matrix.cols));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / double(i + 1);
    for (const std::string& name : names())
      for (const Device device : available_devices()) {
        SCOPED_TRACE(std::string(source) + " as " + name + " on " + device.name());
        write_weft_as(path, matrix, name, {}, nullptr, device);
        const std::string recipe = stored_recipe(path);
        EXPECT_TRUE(recipe.starts_with(format_of(name))) << recipe;
        auto loaded = load_plan<double>(path, {.device = device});
        EXPECT_TRUE(loaded.info().stored);
        EXPECT_EQ(loaded.info().recipe, recipe);
        auto planned = plan(matrix, {.device = device, .format = recipe});
        EXPECT_EQ(planned.info().recipe, recipe);
        EXPECT_EQ(planned.info().bytes, loaded.info().bytes);
        expect_same_bits<double>(product_of(loaded, Op::none, x), product_of(planned, Op::none, x));
      }
  }
}

TEST(LoadPlan, EncodesAnewByTheRecipe) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const auto matrix = generate<double>("gen:poisson2d:20");
  write_weft_as(path, matrix, "ehyb:cache=60:guests=0", {}, nullptr, Device::cpu());
  const auto loaded = load_plan<float>(path);  // of which more fit a slice
  EXPECT_FALSE(loaded.info().stored);
  EXPECT_EQ(loaded.info().recipe, stored_recipe(path));
  EXPECT_NE(loaded.info().recipe.find(":cache=60:guests=0"), std::string::npos) << loaded.info().recipe;
}

TEST(LoadPlan, OldFilesDoNotSayHowTheyWereMade) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const auto matrix = generate<double>("gen:poisson2d:13");
  for (const std::string& name : formats_stored()) {
    write_weft_as(path, matrix, name, {}, nullptr, Device::cpu());
    replace_recipe(path, "");
    EXPECT_EQ(stored_recipe(path), "");
    const auto loaded = load_plan<double>(path, {.transpose = true});
    EXPECT_TRUE(loaded.info().stored);
    EXPECT_EQ(loaded.info().recipe, "");
  }
  write_weft(path, matrix);
  EXPECT_EQ(stored_recipe(path), "");
}

TEST(LoadPlan, RefusesARecipeThatIsNone) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const auto matrix = generate<double>("gen:poisson2d:13");
  for (const std::string& recipe :
       {std::string("bro-coo:steps=32"), std::string("bro-ell:h=33"), std::string("bro-ell:q=1"), std::string("auto"),
        std::string("rcm+bro-ell"), std::string("bro-ell/bro-ell"), std::string("bro-ell\n:h=32"),
        "bro-ell:h=" + std::string(2000, '0') + "32"}) {
    write_weft_as(path, matrix, "bro-ell");
    replace_recipe(path, recipe);
    for (const Error& error : {error_of([&] { load_plan<double>(path); }), error_of([&] { read_weft<double>(path); }),
                               error_of([&] { stored_recipe(path); })}) {
      EXPECT_EQ(error.code(), ErrorCode::parse) << recipe;
      EXPECT_TRUE(std::string(error.what()).starts_with(path + ": the .weft file's section 'recipe' ")) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }
  EXPECT_EQ(error_of([&] { write_weft_as(path, matrix, "rcm+bro-ell"); }).code(), ErrorCode::unsupported);
}

TEST(LoadPlan, AnotherFormatIsPlannedFromTheUnpackedMatrix) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const auto matrix = generate<double>("gen:poisson2d:13");
  write_weft_as(path, matrix, "bro-ell");
  const auto plan = load_plan<double>(path, {.format = "csr"});
  EXPECT_EQ(plan.info().format.substr(0, 3), "csr");
  EXPECT_FALSE(plan.info().stored);
  EXPECT_FALSE(load_plan<double>(path, {.format = "bro-ell:h=32"}).info().stored);
  write_weft(path, matrix);
  EXPECT_FALSE(load_plan<double>(path, {.format = "ell"}).info().stored);
}

/// ehyb keeps rows in parts: the caller's replace those of the file.
TEST(LoadPlan, TakesTheCallersPartition) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const auto matrix = generate<double>("gen:poisson2d:20");
  const auto parts = std::make_shared<Partition>(Partition{5, Array<Index>(static_cast<std::size_t>(matrix.rows))});
  for (Index row = 0; row < matrix.rows; ++row) parts->part_of[row] = row % 5;
  std::vector<double> x(static_cast<std::size_t>(matrix.cols));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / double(i + 1);
  for (const Device device : available_devices()) {
    write_weft_as(path, matrix, "ehyb", {}, nullptr, device);
    auto planned = plan(matrix, {.device = device, .format = "ehyb", .partition = parts});
    for (const char* format : {"auto", "ehyb"}) {
      SCOPED_TRACE(device.name() + ", " + format);
      auto loaded = load_plan<double>(path, {.device = device, .format = format, .partition = parts});
      EXPECT_EQ(loaded.info().details, planned.info().details);
      EXPECT_EQ(loaded.info().format, "ehyb");
      EXPECT_FALSE(loaded.info().stored);
      expect_same_bits<double>(product_of(loaded, Op::none, x), product_of(planned, Op::none, x));
    }
  }
  write_weft_as(path, matrix, "bro-ell");
  EXPECT_TRUE(load_plan<double>(path, {.partition = parts}).info().stored) << "it keeps no parts";
  parts->part_of[3] = 5;
  EXPECT_EQ(error_of([&] { load_plan<double>(path, {.partition = parts}); }).code(), ErrorCode::invalid_argument);
}

TEST(LoadPlan, ComesWithTheMatrixItWasMadeOf) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const auto matrix = generate<double>("gen:poisson2d:13");
  for (const char* stored : {"csr", "bro-ell", "ehyb"})
    for (const char* format : {"auto", "csr"}) {
      SCOPED_TRACE(std::string(stored) + ", " + format);
      write_weft_as(path, matrix, stored, {}, nullptr, Device::cpu());
      const LoadedPlan<double> loaded = load_plan_and_matrix<double>(path, {.format = format});
      expect_equal(loaded.matrix, matrix);
      EXPECT_EQ(loaded.plan.info().stored, format == std::string("auto") && stored != std::string("csr"));
    }
}

TEST(LoadPlan, ConvertsValues) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.weft");
  const auto matrix = make_csr<double>(2, 2, {0, 1, 2}, {0, 1}, {0.1, 0.3});
  for (const std::string& name : formats_stored()) {
    write_weft_as(path, matrix, name);
    auto plan = load_plan<float>(path);
    EXPECT_EQ(plan.info().stored, name != "ehyb");  // whose layout depends on the type
    EXPECT_EQ(product_of(plan, Op::none, {1.f, 1.f}), (std::vector<float>{0.1f, 0.3f}));
  }
}

}  // namespace
}  // namespace weft::io::testing
