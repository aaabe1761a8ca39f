#include <weft/generate.hpp>

#include <string_view>

#include "core/text_cursor.hpp"
#include "generate/fem.hpp"
#include "generate/recipes.hpp"

namespace weft {

namespace {

using generation::Arguments;

template <Value V>
struct Recipe {
  Generator description;
  Csr<V> (*make)(Arguments&, const Progress&);
  Symmetry symmetry = Symmetry::general;  // by construction: to the last bit, whatever the arguments
};

/// The one list of generators: help texts, a test of the documentation and `generate` are driven by it.
template <Value V>
const std::vector<Recipe<V>>& recipes() {
  namespace g = generation;
  static const std::vector<Recipe<V>> list = {
      {{"poisson2d", "N[:NY]", "Laplacian on an N x NY grid, 5 points: 4 and -1", "gen:poisson2d:100"},
       &g::poisson2d<V>,
       Symmetry::symmetric},
      {{"poisson3d", "N[:NY:NZ]", "Laplacian on an N x NY x NZ grid, 7 points: 6 and -1", "gen:poisson3d:30"},
       &g::poisson3d<V>,
       Symmetry::symmetric},
      {{"stencil27", "N[:NY:NZ]", "27 points on an N x NY x NZ grid: 26 and -1", "gen:stencil27:20"},
       &g::stencil27<V>,
       Symmetry::symmetric},
      {{"elasticity3d", "N[:NY:NZ][:variation=50][:seed=1]",
        "elastic solid of bricks on N x NY x NZ nodes, 3 unknowns a node, on springs; modulus 1 +- variation %",
        "gen:elasticity3d:12"},
       &g::elasticity3d<V>,
       Symmetry::symmetric},
      {{"epidemic2d", "LINES:WIDTH",
        "rates of a Markov chain on lines of WIDTH and WIDTH - 1 states: 2050:257 is mc2depi", "gen:epidemic2d:40:9"},
       &g::epidemic2d<V>},
      {{"lattice4d", "N[:NT][:seed=1]",
        "quarks on a periodic N x N x N x NT lattice, 39 entries a row: 8 is the pattern of qcd5_4", "gen:lattice4d:3"},
       &g::lattice4d<V>},
      {{"rmat", "SCALE[:edges=16][:seed=1]", "power-law graph of 2^SCALE nodes and edges x 2^SCALE sampled edges",
        "gen:rmat:12:edges=8"},
       &g::rmat<V>},
      {{"uniform", "ROWS:PER_ROW[:cols=ROWS][:seed=1]", "PER_ROW entries a row, anywhere", "gen:uniform:10000:10"},
       &g::uniform<V>},
      {{"band", "N:HALF[:seed=1]", "full band of 2 HALF + 1 entries a row, symmetric, dominant diagonal",
        "gen:band:1000:8"},
       &g::band<V>,
       Symmetry::symmetric},
      {{"circuit", "N[:hubs=5][:seed=1]",
        "about 5 entries a row, and a few rows and columns with up to N/2 (at most a million)", "gen:circuit:10000"},
       &g::circuit<V>},
      {{"lp", "ROWS:COLS[:shortest=32][:seed=1]", "linear program: heavy-tailed row lengths up to COLS/20",
        "gen:lp:100:10000"},
       &g::lp<V>},
      {{"tall", "[:ROWS][:cols=ROWS/100][:long=5][:seed=1]",
        "rows of 1 to 3 entries (10^7 unless told), a few rows of 10^4, few columns", "gen:tall:100000:cols=1000"},
       &g::tall<V>},
      {{"arrow", "N[:seed=1]", "full first row, full first column, diagonal", "gen:arrow:1000"},
       &g::arrow<V>,
       Symmetry::symmetric},
      {{"dense", "ROWS[:COLS][:seed=1]", "every entry stored", "gen:dense:100"}, &g::dense<V>},
      {{"empty-rows", "N[:seed=1]", "two rows of three empty, in runs, the first and the last among them",
        "gen:empty-rows:1000"},
       &g::empty_rows<V>},
      {{"diagonal", "N[:seed=1]", "one entry a row, between 1 and 2", "gen:diagonal:1000"},
       &g::diagonal<V>,
       Symmetry::symmetric},
  };
  return list;
}

const Generator& fem_description() {
  static const Generator description = {
      "fem", generation::fem_arguments,
      "finite elements on the tetrahedra of a Gmsh 2.2 or 4.1 file, plain or packed, linear or quadratic",
      "fem:part.msh:elasticity:p2"};
  return description;
}

[[noreturn]] void refuse_unknown(std::string_view name) {
  std::vector<std::string> names;
  std::string list;
  for (const Recipe<double>& recipe : recipes<double>()) {
    names.push_back(recipe.description.name);
    list += (list.empty() ? "" : ", ") + recipe.description.name;
  }
  const std::string question = generation::did_you_mean(name, names);
  throw Error(ErrorCode::invalid_argument, "there is no generator " + io::quoted(name) +
                                               (question.empty() ? ";" : question) + " there are " + list +
                                               " (as gen:NAME:ARGS), and fem:MESH");
}

}  // namespace

const std::vector<Generator>& generators() {
  static const std::vector<Generator> list = [] {
    std::vector<Generator> result;
    for (const Recipe<double>& recipe : recipes<double>()) result.push_back(recipe.description);
    result.push_back(fem_description());
    return result;
  }();
  return list;
}

bool is_generator(const std::string& source) { return source.starts_with("gen:") || source.starts_with("fem:"); }

template <Value V>
Csr<V> generate(const std::string& source, const Progress& progress) {
  if (!is_generator(source))
    throw Error(ErrorCode::invalid_argument,
                io::quoted(source) + " names no generator: it must begin with gen: or fem:");
  const std::string_view text = std::string_view(source).substr(4);
  if (source.starts_with("fem:")) return generation::fem<V>(text, progress);
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view name = text.substr(0, colon);
  for (const Recipe<V>& recipe : recipes<V>()) {
    if (recipe.description.name != name) continue;
    Arguments arguments(recipe.description, text.substr(std::min(colon + 1, text.size())));
    Csr<V> matrix = recipe.make(arguments, progress);
    matrix.symmetry = recipe.symmetry;
    return matrix;
  }
  refuse_unknown(name);
}

#define WEFT_INSTANTIATE(V) template Csr<V> generate<V>(const std::string&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
