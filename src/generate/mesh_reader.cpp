#include <weft/error.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "core/file_bytes.hpp"
#include "generate/line_reader.hpp"
#include "generate/mesh.hpp"

namespace weft::generation {

namespace {

using Tag = std::uint64_t;

/// Finds the position of a tag. Tags of a mesh are mostly 1..n, then a table does; else a sorted list.
class TagIndex {
 public:
  /// `lines` are the lines the tags stand in, for the complaint about a repeated tag.
  TagIndex(const std::vector<Tag>& tags, const std::vector<std::uint64_t>& lines, const LineReader& reader) {
    if (tags.empty()) return;
    const auto [least, most] = std::minmax_element(tags.begin(), tags.end());
    first_ = *least;
    const auto repeated = [&](std::size_t position) {
      reader.fail_at(lines[position], "node " + std::to_string(tags[position]) + " is there a second time");
    };
    if (*most - first_ < 4 * tags.size()) {
      table_.assign(static_cast<std::size_t>(*most - first_) + 1, absent);
      for (std::size_t i = 0; i < tags.size(); ++i) {
        if (table_[tags[i] - first_] != absent) repeated(i);
        table_[tags[i] - first_] = static_cast<Index>(i);
      }
      return;
    }
    for (std::size_t i = 0; i < tags.size(); ++i) sorted_.emplace_back(tags[i], static_cast<Index>(i));
    std::sort(sorted_.begin(), sorted_.end());
    for (std::size_t i = 1; i < sorted_.size(); ++i)
      if (sorted_[i].first == sorted_[i - 1].first) repeated(sorted_[i].second);
  }

  static constexpr Index absent = -1;

  Index find(Tag tag) const {
    if (!table_.empty()) return tag >= first_ && tag - first_ < table_.size() ? table_[tag - first_] : absent;
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), std::pair(tag, Index{0}));
    return found != sorted_.end() && found->first == tag ? found->second : absent;
  }

 private:
  Tag first_ = 0;
  std::vector<Index> table_;
  std::vector<std::pair<Tag, Index>> sorted_;
};

/// Reads a file section by section: each is "$Name", its lines, "$EndName".
class GmshReader {
 public:
  GmshReader(std::string_view text, const std::string& name) : reader_(text, name) {}

  Mesh read() {
    while (reader_.next_line()) {
      const std::string section(reader_.word("a section's name"));
      if (!section.starts_with('$') || section.starts_with("$End"))
        reader_.fail("here a section such as $Nodes should begin, but there is " + io::quoted(section));
      reader_.end_of_line();
      if (section == "$MeshFormat")
        read_format();
      else if (section == "$Nodes")
        version_ == Version::v2 ? read_nodes_2() : read_nodes_4();
      else if (section == "$Elements")
        version_ == Version::v2 ? read_elements_2() : read_elements_4();
      else if (!reader_.skip_past("$End" + section.substr(1)))
        reader_.fail("the file ends inside section " + io::quoted(section));
      else
        continue;
      reader_.expect_line("$End" + section.substr(1));
    }
    if (version_ == Version::none) reader_.fail("this is no Gmsh file: it has no $MeshFormat section");
    if (mesh_.tetrahedra.empty()) reader_.fail("the mesh has no tetrahedra (elements of type 4 or 11)");
    drop_unused_points();
    return std::move(mesh_);
  }

 private:
  enum class Version { none, v2, v4 };

  void read_format() {
    if (version_ != Version::none) reader_.fail("a second section $MeshFormat");
    reader_.require_line("the version of the format");
    const std::string_view version = reader_.word("the version of the format");
    if (version == "2.2")
      version_ = Version::v2;
    else if (version == "4.1")
      version_ = Version::v4;
    else
      reader_.fail_unsupported("Gmsh format " + io::quoted(version) +
                               " is not read; save the mesh as version 2.2 or 4.1 (Mesh.MshFileVersion)");
    if (reader_.number<std::uint64_t>("the file type") != 0)
      reader_.fail_unsupported("binary Gmsh files are not read; save the mesh as text (Mesh.Binary = 0)");
    reader_.number<std::uint64_t>("the size of a number");
    reader_.end_of_line();
  }

  /// A count from the file, refused when the rest of the file cannot hold so many records.
  std::uint64_t count(const char* what, std::uint64_t shortest_record) {
    const auto number = reader_.number<std::uint64_t>(what);
    if (number > reader_.remaining() / shortest_record + 1)
      reader_.fail(std::string(what) + " is " + std::to_string(number) + ", but the file ends before so many");
    return number;
  }

  void begin_nodes() {
    if (version_ == Version::none) reader_.fail("$Nodes comes before $MeshFormat");
    if (have_nodes_) reader_.fail("a second section $Nodes");
    have_nodes_ = true;
    reader_.require_line("the number of nodes");
  }

  void reserve_nodes(std::uint64_t nodes) {
    if (nodes > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
      reader_.fail_unsupported("the mesh has more than 2^31-1 nodes");
    tags_.reserve(nodes);
    lines_.reserve(nodes);
    mesh_.points.reserve(nodes);
  }

  void read_tag() {
    tags_.push_back(reader_.number<Tag>("a node's number"));
    lines_.push_back(reader_.line());
    if (tags_.back() == 0) reader_.fail("nodes are numbered from 1, but here is node 0");
  }

  void read_point() {
    Point point;
    for (double& coordinate : point) {
      coordinate = reader_.number<double>("a coordinate");
      if (!std::isfinite(coordinate)) reader_.fail("a coordinate is not finite");
    }
    mesh_.points.push_back(point);
  }

  void read_nodes_2() {
    begin_nodes();
    const std::uint64_t nodes = count("the number of nodes", 8);
    reader_.end_of_line();
    reserve_nodes(nodes);
    for (std::uint64_t node = 0; node < nodes; ++node) {
      reader_.require_line("a node");
      read_tag();
      read_point();
      reader_.end_of_line();
    }
    index_ = TagIndex(tags_, lines_, reader_);
  }

  void read_nodes_4() {
    begin_nodes();
    const std::uint64_t blocks = count("the number of blocks", 8);
    const std::uint64_t nodes = count("the number of nodes", 8);
    reader_.skip_line();
    reserve_nodes(nodes);
    for (std::uint64_t block = 0; block < blocks; ++block) {
      reader_.require_line("a block of nodes");
      const auto dimension = reader_.number<std::int64_t>("the dimension of an entity");
      reader_.number<std::int64_t>("the number of an entity");
      const bool parametric = reader_.number<std::uint64_t>("parametric") != 0;
      const std::uint64_t here = count("the number of nodes in the block", 8);
      reader_.end_of_line();
      if (here > nodes - tags_.size())
        reader_.fail("the blocks hold more nodes than the " + std::to_string(nodes) + " of the section");
      for (std::uint64_t node = 0; node < here; ++node) {
        reader_.require_line("a node's number");
        read_tag();
        reader_.end_of_line();
      }
      for (std::uint64_t node = 0; node < here; ++node) {
        reader_.require_line("a node's coordinates");
        read_point();
        // Places on the curve or surface the node was made on may follow.
        for (std::int64_t i = 0; parametric && i < std::min<std::int64_t>(dimension, 3); ++i)
          reader_.number<double>("a parametric coordinate");
        reader_.end_of_line();
      }
    }
    if (tags_.size() != nodes)
      reader_.fail("the section says " + std::to_string(nodes) + " nodes, but its blocks hold " +
                   std::to_string(tags_.size()));
    index_ = TagIndex(tags_, lines_, reader_);
  }

  void begin_elements() {
    if (!have_nodes_) reader_.fail("$Elements comes before $Nodes");
    if (have_elements_) reader_.fail("a second section $Elements");
    have_elements_ = true;
    reader_.require_line("the number of elements");
  }

  static bool is_tetrahedron(std::uint64_t type) { return type == 4 || type == 11; }

  /// Reads the nodes of element `tag`; a ten-node tetrahedron's corners come first.
  void read_tetrahedron(Tag tag, std::uint64_t type) {
    Tetrahedron corners{};
    const int nodes = type == 4 ? 4 : 10;
    for (int i = 0; i < nodes; ++i) {
      const Tag node = reader_.number<Tag>("a node of a tetrahedron");
      const Index position = index_.find(node);
      if (position == TagIndex::absent)
        reader_.fail("element " + std::to_string(tag) + " has node " + std::to_string(node) +
                     ", which is not in $Nodes");
      if (i < 4) corners[i] = position;
    }
    reader_.end_of_line();
    check_volume(tag, corners);
    if (mesh_.tetrahedra.size() >= static_cast<std::size_t>(std::numeric_limits<Index>::max()))
      reader_.fail_unsupported("the mesh has more than 2^31-1 tetrahedra");
    mesh_.tetrahedra.push_back(corners);
  }

  void check_volume(Tag tag, const Tetrahedron& corners) const {
    std::array<Point, 4> points;
    for (int i = 0; i < 4; ++i) points[i] = mesh_.points[corners[i]];
    double extent = 0;
    for (int i = 1; i < 4; ++i)
      for (int axis = 0; axis < 3; ++axis) extent = std::max(extent, std::abs(points[i][axis] - points[0][axis]));
    const double six_volumes = std::abs(determinant(points[0], points[1], points[2], points[3]));
    // A flat element's rounding errors are some 1e-16 of its extent cubed.
    if (!std::isfinite(six_volumes) || !std::isnormal(extent * extent * extent) ||
        six_volumes <= 1e-14 * extent * extent * extent)
      reader_.fail("tetrahedron " + std::to_string(tag) + " has no volume");
  }

  void read_elements_2() {
    begin_elements();
    const std::uint64_t elements = count("the number of elements", 6);
    reader_.end_of_line();
    for (std::uint64_t element = 0; element < elements; ++element) {
      reader_.require_line("an element");
      const Tag tag = reader_.number<Tag>("an element's number");
      const auto type = reader_.number<std::uint64_t>("an element's type");
      if (!is_tetrahedron(type)) {
        reader_.skip_line();
        continue;
      }
      const auto labels = reader_.number<std::uint64_t>("an element's number of tags");
      for (std::uint64_t label = 0; label < labels; ++label) reader_.number<std::int64_t>("an element's tag");
      read_tetrahedron(tag, type);
    }
  }

  void read_elements_4() {
    begin_elements();
    const std::uint64_t blocks = count("the number of blocks", 8);
    const std::uint64_t elements = count("the number of elements", 4);
    reader_.skip_line();
    std::uint64_t seen = 0;
    for (std::uint64_t block = 0; block < blocks; ++block) {
      reader_.require_line("a block of elements");
      reader_.number<std::int64_t>("the dimension of an entity");
      reader_.number<std::int64_t>("the number of an entity");
      const auto type = reader_.number<std::uint64_t>("the type of the elements");
      const std::uint64_t here = count("the number of elements in the block", 4);
      reader_.end_of_line();
      if (here > elements - seen)
        reader_.fail("the blocks hold more elements than the " + std::to_string(elements) + " of the section");
      seen += here;
      for (std::uint64_t element = 0; element < here; ++element) {
        reader_.require_line("an element");
        const Tag tag = reader_.number<Tag>("an element's number");
        if (is_tetrahedron(type))
          read_tetrahedron(tag, type);
        else
          reader_.skip_line();
      }
    }
    if (seen != elements)
      reader_.fail("the section says " + std::to_string(elements) + " elements, but its blocks hold " +
                   std::to_string(seen));
  }

  void drop_unused_points() {
    constexpr Index unused = -1;
    std::vector<Index> place(mesh_.points.size(), unused);
    for (const Tetrahedron& corners : mesh_.tetrahedra)
      for (const Index corner : corners) place[corner] = 0;
    Index kept = 0;
    for (std::size_t point = 0; point < place.size(); ++point) {
      if (place[point] == unused) continue;
      mesh_.points[kept] = mesh_.points[point];
      place[point] = kept++;
    }
    mesh_.points.resize(static_cast<std::size_t>(kept));
    for (Tetrahedron& corners : mesh_.tetrahedra)
      for (Index& corner : corners) corner = place[corner];
  }

  LineReader reader_;
  Version version_ = Version::none;
  bool have_nodes_ = false;
  bool have_elements_ = false;
  std::vector<Tag> tags_;
  std::vector<std::uint64_t> lines_;
  TagIndex index_{{}, {}, reader_};
  Mesh mesh_;
};

}  // namespace

Mesh parse_gmsh(std::string_view text, const std::string& name) { return GmshReader(text, name).read(); }

Mesh read_gmsh(const std::string& path) {
  const io::FileBytes file = io::read_file(path);
  return parse_gmsh(file.text(), path);
}

}  // namespace weft::generation
