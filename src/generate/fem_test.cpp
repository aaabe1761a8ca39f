#include "generate/fem.hpp"

#include <gtest/gtest.h>
#include <weft/generate.hpp>

#include <filesystem>
#include <numeric>
#include <set>

#include "generate/element.hpp"
#include "generate/testing.hpp"
#include "generate/topology.hpp"
#include "io/io_testing.hpp"

namespace weft::generation {
namespace {

using Dense = std::vector<std::vector<double>>;

const Mesh one = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2, 3}}};
const Mesh skewed = {{{0.1, 0.2, -0.3}, {1.4, 0.1, 0.2}, {0.3, 1.7, 0.1}, {-0.2, 0.4, 2.1}}, {{0, 1, 2, 3}}};

/// The place of every node, middles of edges included.
std::vector<Point> places(const Mesh& mesh, Order order) {
  std::vector<Point> result = mesh.points;
  if (order == Order::p1) return result;
  const Nodes nodes = corner_and_edge_nodes(mesh);
  result.resize(static_cast<std::size_t>(nodes.count));
  for (std::size_t element = 0; element < mesh.tetrahedra.size(); ++element)
    for (int edge = 0; edge < 6; ++edge) {
      const auto [a, b] = tetrahedron_edges[edge];
      for (int axis = 0; axis < 3; ++axis)
        result[nodes.of_elements[10 * element + 4 + edge]][axis] =
            (mesh.points[mesh.tetrahedra[element][a]][axis] + mesh.points[mesh.tetrahedra[element][b]][axis]) / 2;
    }
  return result;
}

/// The textbook way, independent of the generator's: gradients at the four points of the rule that is exact for
/// squares, strain matrices and the 6x6 material matrix.
Dense element_by_quadrature(const Mesh& mesh, Equation equation, Order order) {
  const Geometry shape = geometry(mesh, mesh.tetrahedra[0]);
  const int nodes = order == Order::p1 ? 4 : 10;
  const int unknowns = equation == Equation::poisson ? 1 : 3;
  const auto material = testing::material_matrix();
  Dense result(nodes * unknowns, std::vector<double>(nodes * unknowns, 0.0));
  const double low = (5 - std::sqrt(5.0)) / 20, high = (5 + 3 * std::sqrt(5.0)) / 20;
  for (int point = 0; point < 4; ++point) {
    std::array<double, 4> at = {low, low, low, low};
    at[point] = high;
    std::vector<Point> gradients(nodes);
    for (int axis = 0; axis < 3; ++axis) {
      for (int corner = 0; corner < 4; ++corner)
        gradients[corner][axis] = shape.gradients[corner][axis] * (order == Order::p1 ? 1 : 4 * at[corner] - 1);
      for (int edge = 0; edge < nodes - 4; ++edge) {
        const auto [a, b] = tetrahedron_edges[edge];
        gradients[4 + edge][axis] = 4 * (at[a] * shape.gradients[b][axis] + at[b] * shape.gradients[a][axis]);
      }
    }
    const double weight = shape.volume / 4;
    std::vector<std::array<double, 6>> strain(nodes * unknowns, std::array<double, 6>{});
    for (int node = 0; node < nodes; ++node) {
      const Point& g = gradients[node];
      if (unknowns == 1) {
        strain[node] = {g[0], g[1], g[2], 0, 0, 0};
      } else {
        strain[3 * node] = {g[0], 0, 0, 0, g[2], g[1]};
        strain[3 * node + 1] = {0, g[1], 0, g[2], 0, g[0]};
        strain[3 * node + 2] = {0, 0, g[2], g[1], g[0], 0};
      }
    }
    for (std::size_t p = 0; p < strain.size(); ++p)
      for (std::size_t q = 0; q < strain.size(); ++q)
        for (int i = 0; i < 6; ++i)
          for (int j = 0; j < 6; ++j)
            result[p][q] +=
                weight * strain[p][i] * (unknowns == 1 ? (i == j ? 1.0 : 0.0) : material[i][j]) * strain[q][j];
  }
  return result;
}

struct Kind {
  Equation equation;
  Order order;
};
class EveryKind : public ::testing::TestWithParam<Kind> {
 protected:
  int unknowns() const { return GetParam().equation == Equation::poisson ? 1 : 3; }
  Csr<double> matrix(const Mesh& mesh, bool springs = true) const {
    return assemble<double>(mesh, GetParam().equation, GetParam().order, {}, springs);
  }
};
INSTANTIATE_TEST_SUITE_P(Fem, EveryKind,
                         ::testing::Values(Kind{Equation::poisson, Order::p1}, Kind{Equation::poisson, Order::p2},
                                           Kind{Equation::elasticity, Order::p1},
                                           Kind{Equation::elasticity, Order::p2}),
                         [](const auto& named) {
                           return std::string(named.param.equation == Equation::poisson ? "poisson" : "elasticity") +
                                  (named.param.order == Order::p1 ? "_p1" : "_p2");
                         });

TEST_P(EveryKind, OneElementMatchesQuadrature) {
  for (const Mesh& mesh : {one, skewed}) {
    const Dense actual = testing::dense_of(matrix(mesh, false));
    const Dense expected = element_by_quadrature(mesh, GetParam().equation, GetParam().order);
    ASSERT_EQ(actual.size(), expected.size());
    for (std::size_t p = 0; p < actual.size(); ++p)
      for (std::size_t q = 0; q < actual.size(); ++q)
        EXPECT_NEAR(actual[p][q], expected[p][q], 1e-13) << p << ", " << q;
  }
}

TEST_P(EveryKind, AnInvertedElementGivesTheSameMatrix) {
  Mesh inverted = skewed;
  inverted.tetrahedra[0] = {0, 1, 3, 2};
  const Dense expected = testing::dense_of(matrix(skewed, false));
  const Dense actual = testing::dense_of(matrix(inverted, false));
  // Only corners keep their numbers: compare these.
  for (int p = 0; p < 4 * unknowns(); ++p)
    for (int q = 0; q < 4 * unknowns(); ++q) EXPECT_NEAR(actual[p][q], expected[p][q], 1e-13);
  EXPECT_TRUE(testing::is_positive_definite(matrix(inverted)));
}

TEST_P(EveryKind, IsCanonicalSymmetricAndPositiveDefinite) {
  for (const int cells : {1, 2, 3}) {
    const Csr<double> a = matrix(testing::box_mesh(cells));
    EXPECT_EQ(check(a), "");
    EXPECT_TRUE(testing::is_symmetric(a));
    EXPECT_EQ(a.symmetry, Symmetry::symmetric);
    EXPECT_FALSE(testing::is_positive_definite(matrix(testing::box_mesh(cells), false)));
    if (a.rows < 700) {
      EXPECT_TRUE(testing::is_positive_definite(a)) << cells;
    }
  }
}

TEST_P(EveryKind, PatternIsTheNodesThatShareAnElement) {
  const Mesh mesh = testing::box_mesh(2);
  const Csr<double> a = matrix(mesh);
  const Nodes nodes = GetParam().order == Order::p1 ? corner_nodes(mesh) : corner_and_edge_nodes(mesh);
  std::set<std::pair<Index, Index>> pairs;
  for (std::size_t element = 0; element < mesh.tetrahedra.size(); ++element)
    for (int p = 0; p < nodes.per_element; ++p)
      for (int q = 0; q < nodes.per_element; ++q)
        pairs.insert(
            {nodes.of_elements[nodes.per_element * element + p], nodes.of_elements[nodes.per_element * element + q]});
  EXPECT_EQ(a.rows, nodes.count * unknowns());
  EXPECT_EQ(a.nonzeros(), static_cast<Offset>(pairs.size()) * unknowns() * unknowns());
}

TEST_P(EveryKind, PatchTestLinearFieldsNeedNoForceInside) {
  const Mesh mesh = testing::box_mesh(3);
  const std::vector<Point> place = places(mesh, GetParam().order);
  const Csr<double> a = matrix(mesh, false);
  const Random random(11);
  std::vector<double> x(a.rows);
  for (std::size_t node = 0; node < place.size(); ++node)
    for (int i = 0; i < unknowns(); ++i) {
      double& value = x[node * unknowns() + i] = random.uniform(100 + i);
      for (int axis = 0; axis < 3; ++axis) value += random.uniform(10 * i + axis) * place[node][axis];
    }
  const std::vector<double> force = testing::product(a, x);
  double at_surface = 0;
  int inside = 0;
  for (std::size_t node = 0; node < place.size(); ++node) {
    const bool is_inside =
        std::all_of(place[node].begin(), place[node].end(), [](double c) { return c > 1e-9 && c < 1 - 1e-9; });
    inside += is_inside;
    for (int i = 0; i < unknowns(); ++i) {
      if (is_inside)
        EXPECT_NEAR(force[node * unknowns() + i], 0, 1e-12) << "node " << node;
      else
        at_surface = std::max(at_surface, std::abs(force[node * unknowns() + i]));
    }
  }
  EXPECT_GE(inside, 8);
  EXPECT_GT(at_surface, 1e-3);
}

TEST_P(EveryKind, RigidMotionsNeedNoForceWithoutSprings) {
  const Mesh mesh = testing::box_mesh(2);
  const std::vector<Point> place = places(mesh, GetParam().order);
  const Csr<double> free = matrix(mesh, false);
  for (int i = 0; i < unknowns(); ++i) {
    std::vector<double> moved(free.rows, 0.0), turned(free.rows, 0.0);
    for (std::size_t node = 0; node < place.size(); ++node) {
      moved[node * unknowns() + i] = 1;
      if (unknowns() == 1) continue;
      turned[3 * node + (i + 1) % 3] = -place[node][(i + 2) % 3];
      turned[3 * node + (i + 2) % 3] = place[node][(i + 1) % 3];
    }
    for (const double force : testing::product(free, moved)) EXPECT_NEAR(force, 0, 1e-13);
    for (const double force : testing::product(free, turned)) EXPECT_NEAR(force, 0, 1e-13);
  }
}

TEST_P(EveryKind, SpringsHoldTheLowestTwentiethOfTheLongestExtentWithStiffnessOneOverIt) {
  // A pillar of 1 x 1 x 4 with a layer of nodes at `share` of its height: moved by 1 it takes the springs' area / 4.
  const auto energy = [&](double share, int direction) {
    Mesh pillar = testing::box_mesh(2, 0);
    for (Point& point : pillar.points) point[2] = 4 * (point[2] == 0.5 ? share : point[2]);
    const Csr<double> held = matrix(pillar);
    std::vector<double> x(held.rows, 0.0);
    for (Index row = direction; row < held.rows; row += unknowns()) x[row] = 1;
    const std::vector<double> force = testing::product(held, x);
    return std::inner_product(x.begin(), x.end(), force.begin(), 0.0);
  };
  for (int i = 0; i < unknowns(); ++i) {
    EXPECT_NEAR(energy(0.06, i), 1 / 4.0, 1e-12) << "the bottom only";
    EXPECT_NEAR(energy(0.04, i), (1 + 4 * 0.16) / 4, 1e-12) << "and the sides up to the layer";
  }
}

TEST_P(EveryKind, IsTheSameForAnyNumberOfThreadsAndRoundedForFloat) {
  const Mesh mesh = testing::box_mesh(6);
  const testing::Threads serial(1);
  const Csr<double> expected = matrix(mesh);
  for (const int count : {2, 7}) {
    set_threads(count);
    EXPECT_TRUE(testing::same_bits(expected, matrix(mesh)));
  }
  EXPECT_TRUE(
      testing::same_bits(convert<float>(expected), assemble<float>(mesh, GetParam().equation, GetParam().order)));
}

TEST_P(EveryKind, EachPartOfAMeshIsHeld) {
  // Two cubes apart, and a tetrahedron that hangs by one edge only, as a door by its hinge.
  Mesh mesh = testing::box_mesh(1);
  const Mesh other = testing::box_mesh(1);
  for (const Point& point : other.points) mesh.points.push_back({point[0] + 5, point[1], point[2] + 3});
  for (Tetrahedron corners : other.tetrahedra) {
    for (Index& corner : corners) corner += 8;
    mesh.tetrahedra.push_back(corners);
  }
  mesh.points.push_back({-1, -1, 0.2});
  mesh.points.push_back({-1, -0.5, 0.9});
  mesh.tetrahedra.push_back({0, 4, 16, 17});
  EXPECT_TRUE(testing::is_positive_definite(matrix(mesh)));
}

TEST_P(EveryKind, AnElementThatIsThereTwiceIsStillHeld) {
  Mesh mesh = skewed;
  mesh.tetrahedra.push_back(mesh.tetrahedra[0]);
  EXPECT_TRUE(testing::is_positive_definite(matrix(mesh)));
}

TEST(Fem, ReferenceTetrahedronHasTheKnownLaplacian) {
  const Dense a = testing::dense_of(assemble<double>(one, Equation::poisson, Order::p1, {}, false));
  const Dense expected = {{3, -1, -1, -1}, {-1, 1, 0, 0}, {-1, 0, 1, 0}, {-1, 0, 0, 1}};
  for (int p = 0; p < 4; ++p)
    for (int q = 0; q < 4; ++q) EXPECT_NEAR(a[p][q], expected[p][q] / 6, 1e-16);
}

TEST(Fem, EdgesAreNumberedInTheOrderElementsNameThem) {
  const Mesh two = {{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}, {{3, 1, 2, 0}, {4, 3, 2, 1}}};
  const Nodes nodes = corner_and_edge_nodes(two);
  EXPECT_EQ(nodes.count, 5 + 9);
  const std::vector<Index> numbers(nodes.of_elements.begin(), nodes.of_elements.end());
  EXPECT_EQ(numbers, (std::vector<Index>{3, 1, 2, 0, 5, 6, 7, 8, 9, 10, 4, 3, 2, 1, 11, 12, 13, 6, 5, 8}));
}

TEST(Fem, FaceMassesIntegrateTheConstantToTheArea) {
  double linear = 0, quadratic = 0;
  for (int p = 0; p < 6; ++p)
    for (int q = 0; q < 6; ++q) {
      if (p < 3 && q < 3) linear += face_mass<3>(p, q);
      quadratic += face_mass<6>(p, q);
    }
  EXPECT_NEAR(linear, 1, 1e-15);
  EXPECT_NEAR(quadratic, 1, 1e-15);
}

TEST(Fem, MatricesOfFilesHaveTheSameBytesOnEveryMachine) {
  const std::string cube = testing::mesh_file("cube-2.2.msh");
  EXPECT_EQ(testing::checksum(generate<double>("fem:" + cube + ":poisson:p1")), 0xcb490f8790a77278u);
  EXPECT_EQ(testing::checksum(generate<double>("fem:" + cube + ":poisson:p2")), 0x3a6a0ceee16fc7f7u);
  EXPECT_EQ(testing::checksum(generate<double>("fem:" + cube + ":elasticity:p1")), 0x21605a06e3cfc6d5u);
  EXPECT_EQ(testing::checksum(generate<double>("fem:" + cube + ":elasticity:p2")), 0xdd8b3dcf4ee69f6fu);
}

TEST(Fem, APathMayHoldColons) {
  const io::testing::TemporaryFolder folder;
  const std::string copy = folder.file("cube:of:eight.msh");
  std::filesystem::copy_file(testing::mesh_file("cube-2.2.msh"), copy);
  EXPECT_EQ(generate<double>("fem:" + copy + ":poisson:p1").rows, 9);
}

TEST(Fem, SharedMeshesAreReadPacked) {
  const std::string bracket = WEFT_SHARED_DATA "/meshes/bracket.msh.xz";
  if (!std::filesystem::exists(bracket)) GTEST_SKIP() << "no shared meshes here";
  const Csr<float> matrix = generate<float>("fem:" + bracket + ":poisson:p1");
  EXPECT_EQ(check(matrix), "");
  EXPECT_EQ(matrix.rows, 98508);
  EXPECT_EQ(matrix.nonzeros(), 1380690);
  EXPECT_TRUE(testing::is_symmetric(matrix));
}

TEST(Fem, CoordinatesAreThoseOfTheNodes) {
  for (const Order order : {Order::p1, Order::p2}) {
    const std::string source =
        testing::mesh_file("cube-4.1.msh") + (order == Order::p1 ? ":poisson:p1" : ":poisson:p2");
    const Coordinates found = read_coordinates("fem:" + source);
    const std::vector<Point> expected = places(read_gmsh(testing::mesh_file("cube-4.1.msh")), order);
    ASSERT_EQ(found.dimensions, 3);
    ASSERT_EQ(found.points.size(), 3 * expected.size());
    for (std::size_t i = 0; i < found.points.size(); ++i) EXPECT_EQ(found.points[i], expected[i / 3][i % 3]) << i;
  }
}

}  // namespace
}  // namespace weft::generation
