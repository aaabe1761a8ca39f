#include "generate/fem.hpp"

#include <limits>
#include <string>

#include "core/text_cursor.hpp"
#include "generate/arguments.hpp"
#include "generate/build.hpp"
#include "generate/element.hpp"
#include "generate/topology.hpp"

namespace weft::generation {

namespace {

/// The springs a node takes part in.
struct SpringNode {
  Index node;
  std::size_t face;
  int local;  ///< the node's number among the face's nodes
};

/// Assembles row by row: a node gathers from its elements, in their order, so that nothing depends on the number of
/// threads, and both nodes of a pair add the same numbers in the same order, so that the matrix is symmetric to the
/// last bit.
template <Value V, int Unknowns, int PerElement>
class Assembly {
 public:
  Assembly(const Mesh& mesh, const Nodes& nodes, bool springs)
      : mesh_(mesh),
        nodes_(nodes),
        adjacency_(elements_of_nodes(nodes, static_cast<std::int64_t>(mesh.tetrahedra.size()))) {
    if (springs) place_springs();
  }

  Csr<V> run(const Progress& progress) const {
    if (nodes_.count > std::numeric_limits<Index>::max() / Unknowns)
      throw Error(ErrorCode::unsupported, "the matrix of this mesh would have more than 2^31-1 rows");
    const auto count = [&](std::int64_t node) {
      return Offset{Unknowns} * static_cast<Offset>(neighbours(node).size());
    };
    const auto fill = [&](std::int64_t node, Index* columns, V* values) { fill_node(node, columns, values); };
    // Meshes have about 15 neighbours a point, and 28 a node of the quadratic ones.
    const double per_node = (PerElement == 4 ? 15.0 : 28.0) * Unknowns * Unknowns;
    Csr<V> matrix =
        build_rows<V>({nodes_.count, nodes_.count * Unknowns, static_cast<double>(nodes_.count) * per_node, Unknowns},
                      progress, count, fill);
    matrix.symmetry = Symmetry::symmetric;
    return matrix;
  }

 private:
  static constexpr int face_nodes = PerElement == 4 ? 3 : 6;

  void place_springs() {
    springs_ = spring_faces(mesh_);
    for (std::size_t face = 0; face < springs_.size(); ++face) {
      const auto nodes = nodes_of_face(springs_[face]);
      for (int local = 0; local < face_nodes; ++local) spring_nodes_.push_back({nodes[local], face, local});
    }
    std::sort(spring_nodes_.begin(), spring_nodes_.end(), [](const SpringNode& a, const SpringNode& b) {
      return std::pair(a.node, a.face) < std::pair(b.node, b.face);
    });
  }

  const Index* nodes_of_element(Index element) const {
    return nodes_.of_elements.data() + std::int64_t{element} * PerElement;
  }

  std::array<Index, face_nodes> nodes_of_face(const SpringFace& face) const {
    const auto local = nodes_on_face<PerElement>(face.without);
    std::array<Index, face_nodes> result;
    for (int i = 0; i < face_nodes; ++i) result[i] = nodes_of_element(face.element)[local[i]];
    return result;
  }

  std::span<const Index> elements_of(std::int64_t node) const {
    return {adjacency_.elements.data() + adjacency_.offsets[node],
            static_cast<std::size_t>(adjacency_.offsets[node + 1] - adjacency_.offsets[node])};
  }

  /// The nodes of all elements around `node`, ascending. The list is overwritten by the next call in this thread.
  const std::vector<Index>& neighbours(std::int64_t node) const {
    static thread_local std::vector<Index> list;
    list.clear();
    for (const Index element : elements_of(node))
      list.insert(list.end(), nodes_of_element(element), nodes_of_element(element) + PerElement);
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  void fill_node(std::int64_t node, Index* columns, V* values) const {
    const std::vector<Index>& list = neighbours(node);
    const auto place = [&](Index other) { return std::lower_bound(list.begin(), list.end(), other) - list.begin(); };
    constexpr int block_size = Unknowns * Unknowns;
    static thread_local std::vector<double> blocks;
    blocks.assign(list.size() * block_size, 0.0);

    for (const Index element : elements_of(node)) {
      const Index* own = nodes_of_element(element);
      const int row = static_cast<int>(std::find(own, own + PerElement, node) - own);
      const Geometry shape = geometry(mesh_, mesh_.tetrahedra[element]);
      for (int column = 0; column < PerElement; ++column) {
        const auto block = stiffness<Unknowns, PerElement>(shape, row, column);
        double* sum = blocks.data() + place(own[column]) * block_size;
        for (int i = 0; i < block_size; ++i) sum[i] += block[i];
      }
    }
    const auto less = [](const SpringNode& spring, std::int64_t wanted) { return spring.node < wanted; };
    for (auto spring = std::lower_bound(spring_nodes_.begin(), spring_nodes_.end(), node, less);
         spring != spring_nodes_.end() && spring->node == node; ++spring) {
      const SpringFace& face = springs_[spring->face];
      const auto own = nodes_of_face(face);
      for (int column = 0; column < face_nodes; ++column) {
        double* sum = blocks.data() + place(own[column]) * block_size;
        const double mass = face.weight * face_mass<face_nodes>(spring->local, column);
        for (int i = 0; i < block_size; i += Unknowns + 1) sum[i] += mass;
      }
    }

    const auto width = static_cast<std::int64_t>(list.size()) * Unknowns;
    for (std::size_t position = 0; position < list.size(); ++position)
      for (int i = 0; i < Unknowns; ++i)
        for (int j = 0; j < Unknowns; ++j) {
          const std::int64_t entry = i * width + static_cast<std::int64_t>(position) * Unknowns + j;
          columns[entry] = list[position] * Unknowns + j;
          values[entry] = static_cast<V>(blocks[position * block_size + i * Unknowns + j]);
        }
  }

  const Mesh& mesh_;
  const Nodes& nodes_;
  Adjacency adjacency_;
  std::vector<SpringFace> springs_;
  std::vector<SpringNode> spring_nodes_;
};

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::invalid_argument, "fem: " + sentence + " (usage: fem:" + fem_arguments + ")");
}

/// Cuts the last word off `text`.
std::string_view last_word(std::string_view& text, const char* missing) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) refuse(std::string(missing) + " is missing");
  const std::string_view word = text.substr(colon + 1);
  text = text.substr(0, colon);
  return word;
}

}  // namespace

template <Value V>
Csr<V> assemble(const Mesh& mesh, Equation equation, Order order, const Progress& progress, bool springs) {
  const Nodes nodes = order == Order::p1 ? corner_nodes(mesh) : corner_and_edge_nodes(mesh);
  if (equation == Equation::poisson)
    return order == Order::p1 ? Assembly<V, 1, 4>(mesh, nodes, springs).run(progress)
                              : Assembly<V, 1, 10>(mesh, nodes, springs).run(progress);
  return order == Order::p1 ? Assembly<V, 3, 4>(mesh, nodes, springs).run(progress)
                            : Assembly<V, 3, 10>(mesh, nodes, springs).run(progress);
}

Coordinates coordinates_of(const Mesh& mesh, Order order) {
  const Nodes nodes = order == Order::p1 ? corner_nodes(mesh) : corner_and_edge_nodes(mesh);
  Coordinates result{3, Array<double>(static_cast<std::size_t>(3 * nodes.count))};
  const auto put = [&](Index node, const Point& point) {
    std::ranges::copy(point, result.points.data() + 3 * Offset(node));
  };
  for (std::size_t i = 0; i < mesh.points.size(); ++i) put(static_cast<Index>(i), mesh.points[i]);
  if (order == Order::p1) return result;
  for (std::size_t element = 0; element < mesh.tetrahedra.size(); ++element)
    for (std::size_t edge = 0; edge < tetrahedron_edges.size(); ++edge) {
      const auto [from, to] = tetrahedron_edges[edge];
      const Point& a = mesh.points[mesh.tetrahedra[element][from]];
      const Point& b = mesh.points[mesh.tetrahedra[element][to]];
      put(nodes.of_elements[element * 10 + 4 + edge], {(a[0] + b[0]) / 2, (a[1] + b[1]) / 2, (a[2] + b[2]) / 2});
    }
  return result;
}

FemProblem read_problem(std::string_view text) {
  const std::string_view order = last_word(text, "the equation and the order");
  const std::string_view equation = last_word(text, "the equation or the order");
  if (order != "p1" && order != "p2")
    refuse("the order " + io::quoted(order) + " is neither p1 nor p2" + did_you_mean(order, {"p1", "p2"}));
  if (equation != "poisson" && equation != "elasticity")
    refuse("the equation " + io::quoted(equation) + " is neither poisson nor elasticity" +
           did_you_mean(equation, {"poisson", "elasticity"}));
  if (text.empty()) refuse("the mesh is missing");
  return {read_gmsh(std::string(text)), equation == "poisson" ? Equation::poisson : Equation::elasticity,
          order == "p1" ? Order::p1 : Order::p2};
}

template <Value V>
Csr<V> fem(std::string_view text, const Progress& progress) {
  const FemProblem problem = read_problem(text);
  return assemble<V>(problem.mesh, problem.equation, problem.order, progress);
}

Coordinates fem_coordinates(std::string_view text) {
  const FemProblem problem = read_problem(text);
  return coordinates_of(problem.mesh, problem.order);
}

#define WEFT_INSTANTIATE(V)                                  \
  template Csr<V> fem<V>(std::string_view, const Progress&); \
  template Csr<V> assemble<V>(const Mesh&, Equation, Order, const Progress&, bool);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft::generation
