#include <gtest/gtest.h>

#include <algorithm>

#include "generate/mesh.hpp"
#include "generate/testing.hpp"
#include "io/io_testing.hpp"

namespace weft::generation {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t place = text.find(from);
  EXPECT_NE(place, std::string::npos) << from;
  return text.replace(place, from.size(), to);
}

const std::string small_2 =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"                      // lines 1 to 3
    "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"  // lines 4 to 10
    "$Elements\n1\n7 4 2 1 1 1 2 3 4\n$EndElements\n";            // lines 11 to 14

const std::string small_4 =
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"                                         // lines 1 to 3
    "$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n"  // lines 4 to 15
    "$Elements\n1 1 7 7\n3 1 4 1\n7 1 2 3 4\n$EndElements\n";                        // lines 16 to 20

TEST(GmshReader, ReadsBothVersionsAlike) {
  const Mesh old = read_gmsh(testing::mesh_file("cube-2.2.msh"));
  const Mesh recent = read_gmsh(testing::mesh_file("cube-4.1.msh"));
  ASSERT_EQ(old.points.size(), 9u) << "the node that no tetrahedron uses is dropped";
  ASSERT_EQ(old.tetrahedra.size(), 12u);
  EXPECT_EQ(old.points, recent.points);
  EXPECT_EQ(old.tetrahedra, recent.tetrahedra);
  EXPECT_EQ(old.points[7], (Point{1, 1, 1}));
  EXPECT_EQ(old.tetrahedra[0], (Tetrahedron{0, 2, 3, 8}));
  double volume = 0;
  for (const Tetrahedron& corners : old.tetrahedra) volume += geometry(old, corners).volume;
  EXPECT_NEAR(volume, 1, 1e-15);
}

TEST(GmshReader, TakesTheCornersOfTenNodeTetrahedra) {
  const Mesh mesh = read_gmsh(testing::mesh_file("ten-nodes.msh"));
  EXPECT_EQ(mesh.points.size(), 4u);
  EXPECT_EQ(mesh.tetrahedra, (std::vector<Tetrahedron>{{0, 1, 2, 3}}));
}

TEST(GmshReader, KeepsTheOrderOfNodesWhenItDropsSome) {
  const std::string text =
      replaced(replaced(small_2, "4\n1 0 0 0\n", "5\n9 0 0 0\n5 3 3 3\n"), "1 1 1 2 3 4", "1 1 9 2 3 4");
  const Mesh mesh = parse_gmsh(text, "x");
  ASSERT_EQ(mesh.points.size(), 4u);
  EXPECT_EQ(mesh.points[1], (Point{1, 0, 0}));
  EXPECT_EQ(mesh.tetrahedra[0], (Tetrahedron{0, 1, 2, 3}));
}

TEST(GmshReader, PassesOverBlankLinesAndUnknownSections) {
  std::string text =
      "$Comments\n$Nodes or not\n$EndComments\n\n" + replaced(small_2, "1 0 0 0\n", "\n  \n1 0 0 0  \n\n");
  text += "$NodeData\n1 2 3\n$EndNodeData";
  EXPECT_EQ(parse_gmsh(text, "x").points.size(), 4u);
}

TEST(GmshReader, TakesTagsUpToTheLargest64BitNumber) {
  const std::string text = replaced(replaced(small_2, "\n4 0 0 1", "\n18446744073709551615 0 0 1"), "1 2 3 4\n",
                                    "1 2 3 18446744073709551615\n");
  EXPECT_EQ(parse_gmsh(text, "x").points.size(), 4u);
}

struct BadMesh {
  const char* name;
  std::string text;
  std::string place;
  std::vector<std::string> words;
  ErrorCode code = ErrorCode::parse;
};
void PrintTo(const BadMesh& bad, std::ostream* stream) { *stream << bad.name; }
class BadMeshes : public ::testing::TestWithParam<BadMesh> {};

TEST_P(BadMeshes, IsRefusedWithItsLine) {
  std::vector<std::string> words = GetParam().words;
  words.push_back("bad.msh:" + GetParam().place + ": ");
  testing::expect_error(GetParam().code, words, [] { parse_gmsh(GetParam().text, "bad.msh"); });
}

std::string changed_2(const std::string& from, const std::string& to) { return replaced(small_2, from, to); }
std::string changed_4(const std::string& from, const std::string& to) { return replaced(small_4, from, to); }
std::string cut_2(const std::string& at) { return small_2.substr(0, small_2.find(at)); }
std::string cut_4(const std::string& at) { return small_4.substr(0, small_4.find(at)); }

INSTANTIATE_TEST_SUITE_P(
    Gmsh, BadMeshes,
    ::testing::Values(
        BadMesh{"empty", "", "1", {"no $MeshFormat"}}, BadMesh{"text", "hello world\n", "1", {"a section", "'hello'"}},
        BadMesh{"only_comments", "$Comments\n$EndComments\n", "2", {"no $MeshFormat"}},
        BadMesh{"end_without_begin", "$EndNodes\n", "1", {"a section"}},
        BadMesh{"binary", changed_2("2.2 0 8", "2.2 1 8"), "2", {"binary", "Mesh.Binary"}, ErrorCode::unsupported},
        BadMesh{"version", changed_2("2.2", "3.0"), "2", {"'3.0'", "2.2 or 4.1"}, ErrorCode::unsupported},
        BadMesh{"version_4", changed_4("4.1", "4"), "2", {"'4'"}, ErrorCode::unsupported},
        BadMesh{"format_twice", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + small_2, "4", {"second", "$MeshFormat"}},
        BadMesh{"nodes_first", small_2.substr(small_2.find("$Nodes")), "1", {"before $MeshFormat"}},
        BadMesh{"elements_first",
                changed_2("$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n", ""),
                "4",
                {"before $Nodes"}},
        BadMesh{"nodes_twice", small_2 + "$Nodes\n0\n$EndNodes\n", "15", {"second section $Nodes"}},
        BadMesh{"elements_twice", small_2 + "$Elements\n0\n$EndElements\n", "15", {"second section $Elements"}},
        BadMesh{"huge_count",
                changed_2("$Nodes\n4\n", "$Nodes\n1000000000000000000\n"),
                "5",
                {"number of nodes is 1000000000000000000", "ends before"}},
        BadMesh{"count_past_64_bits", changed_2("$Nodes\n4\n", "$Nodes\n99999999999999999999999\n"), "5", {"range"}},
        BadMesh{"negative_count", changed_2("$Nodes\n4\n", "$Nodes\n-4\n"), "5", {"whole number", "'-4'"}},
        BadMesh{"huge_elements", changed_2("$Elements\n1\n", "$Elements\n1000000000000\n"), "12", {"ends before"}},
        BadMesh{"no_number", changed_2("2 1 0 0", "2 1 zero 0"), "7", {"a coordinate should be a number", "'zero'"}},
        BadMesh{"nan", changed_2("2 1 0 0", "2 1 nan 0"), "7", {"not finite"}},
        BadMesh{"infinity", changed_2("2 1 0 0", "2 1 inf 0"), "7", {"not finite"}},
        BadMesh{"too_large", changed_2("2 1 0 0", "2 1 1e999 0"), "7", {"range"}},
        BadMesh{"short_line", changed_2("2 1 0 0", "2 1 0"), "7", {"line ends where a coordinate"}},
        BadMesh{"long_line", changed_2("2 1 0 0", "2 1 0 0 5"), "7", {"should end before '5'"}},
        BadMesh{"node_zero", changed_2("2 1 0 0", "0 1 0 0"), "7", {"node 0"}},
        BadMesh{"node_twice", changed_2("3 0 1 0", "2 0 1 0"), "8", {"node 2 is there a second time"}},
        BadMesh{"sparse_node_twice",
                replaced(changed_2("1 0 0 0", "900000 0 0 0"), "4 0 0 1", "900000 0 0 1"),
                "9",
                {"node 900000 is there a second time"}},
        BadMesh{"too_few_nodes", changed_2("$Nodes\n4\n", "$Nodes\n5\n"), "10", {"a node's number", "'$EndNodes'"}},
        BadMesh{"too_many_nodes", changed_2("$Nodes\n4\n", "$Nodes\n3\n"), "9", {"here $EndNodes should be"}},
        BadMesh{"cut_in_nodes", cut_2("4 0 0 1"), "8", {"the file ends where a node"}},
        BadMesh{"cut_before_end", cut_2("$EndElements"), "13", {"the file ends where $EndElements"}},
        BadMesh{"cut_in_unknown_section", small_2 + "$NodeData\n1 2 3\n", "16", {"ends inside section '$NodeData'"}},
        BadMesh{"unknown_node", changed_2("1 2 3 4\n$", "1 2 3 5\n$"), "13", {"element 7 has node 5", "not in $Nodes"}},
        BadMesh{"too_few_corners", changed_2("1 1 1 2 3 4", "1 1 1 2 3"), "13", {"line ends where a node of a tetra"}},
        BadMesh{"many_labels", changed_2("7 4 2 1", "7 4 900000000000 1"), "13", {"line ends where an element's tag"}},
        BadMesh{"flat", changed_2("4 0 0 1", "4 1 1 0"), "13", {"tetrahedron 7 has no volume"}},
        BadMesh{"collapsed", changed_2("1 2 3 4\n$", "1 2 3 3\n$"), "13", {"tetrahedron 7 has no volume"}},
        BadMesh{"overflowing", changed_2("4 0 0 1", "4 0 0 1e308"), "13", {"tetrahedron 7 has no volume"}},
        BadMesh{"no_tetrahedra", changed_2("7 4 2 1 1 1 2 3 4", "7 2 2 1 1 1 2 3"), "14", {"no tetrahedra"}},
        BadMesh{"blocks_hold_more", changed_4("1 4 1 4", "1 3 1 3"), "6", {"more nodes than the 3"}},
        BadMesh{"blocks_hold_less", changed_4("1 4 1 4", "1 5 1 5"), "14", {"says 5 nodes", "hold 4"}},
        BadMesh{"block_cut", cut_4("0 0 1\n"), "13", {"the file ends where a node's coordinates"}},
        BadMesh{"element_blocks_hold_more", changed_4("1 1 7 7\n", "2 1 7 7\n"), "20", {"dimension", "'$EndElements'"}},
        BadMesh{"element_block_too_long", changed_4("3 1 4 1\n7", "3 1 4 2\n7"), "18", {"more elements than the 1"}},
        BadMesh{"elements_missing", changed_4("1 1 7 7\n", "1 2 7 8\n"), "19", {"says 2 elements", "hold 1"}},
        BadMesh{"missing_parameters", changed_4("3 1 0 4", "2 1 1 4"), "11", {"parametric"}},
        BadMesh{"unknown_node_4", changed_4("7 1 2 3 4\n$", "7 1 2 3 9\n$"), "19", {"node 9"}}),
    [](const auto& named) { return std::string(named.param.name); });

TEST(GmshReader, ASentenceShowsNoControlCharacters) {
  testing::expect_error(ErrorCode::parse, {"'?[31mred'"}, [] { parse_gmsh("\x1b[31mred\n", "x"); });
}

TEST(GmshReader, EveryCutOfAFileIsRefusedOrReadButNeverCrashes) {
  for (const char* name : {"cube-2.2.msh", "cube-4.1.msh"}) {
    const std::string text = io::testing::read_bytes(testing::mesh_file(name));
    std::size_t refused = 0;
    for (std::size_t length = 0; length < text.size(); ++length) {
      try {
        parse_gmsh(std::string_view(text).substr(0, length), "cut");
      } catch (const Error&) {
        ++refused;
      }
    }
    EXPECT_GE(refused, text.size() - 2);
  }
}

TEST(GmshReader, AMissingFileIsAnIoError) {
  testing::expect_error(ErrorCode::io, {"/nowhere/x.msh"}, [] { read_gmsh("/nowhere/x.msh"); });
}

}  // namespace
}  // namespace weft::generation
