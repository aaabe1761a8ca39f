// The one list of preconditioners, and making one by its name.
#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "core/value_types.hpp"
#include "solve/precondition/common.hpp"

namespace weft {
namespace precondition {
namespace {

/// A number for each parameter of a kind.
using Numbers = std::map<std::string, double, std::less<>>;

template <class V>
struct Maker {
  MadePreconditioner<V> (*make)(const Numbers&, const LinearOperator<V>&, const MatrixSource<V>&,
                                const Progress&) = nullptr;
};

struct Entry {
  PreconditionerKind kind;
  PerValue<Maker> makers;
};

SparseInverseOptions sparse_options(const Numbers& numbers, Device device, const Progress& progress) {
  SparseInverseOptions options;
  options.power = static_cast<int>(numbers.at("power"));
  options.drop = numbers.at("drop");
  options.block = static_cast<int>(numbers.at("block"));
  options.max_unknowns = static_cast<Index>(numbers.at("max-unknowns"));
  options.single = numbers.at("single") != 0;
  options.device = device;
  options.progress = progress;
  return options;
}

std::vector<PreconditionerParameter> sparse_parameters() {
  const SparseInverseOptions defaults;
  return {
      {"power", "the pattern is that of this power of A", double(defaults.power), 1, 8},
      {"drop", "entries weaker than this are left out of the pattern", defaults.drop, 0, 1, false},
      {"block", "unknowns of a node; 0: what the matrix shows", double(defaults.block), 0, 64},
      {"max-unknowns", "of one dense system; the weakest beyond are left out", double(defaults.max_unknowns), 1, 4096},
      {"single", "1: stored in f32, also for f64", double(defaults.single), 0, 1}};
}

#define WEFT_MAKERS(EXPRESSION)                                                                          \
  for_each_real_type([&]<class V>(std::type_identity<V>) {                                               \
    entry.makers.get<V>().make = []([[maybe_unused]] const Numbers& numbers, const LinearOperator<V>& P, \
                                    const MatrixSource<V>& A,                                            \
                                    [[maybe_unused]] const Progress& progress) { return EXPRESSION; };   \
  })

Entry jacobi_entry() {
  Entry entry{{"jacobi", "divides by the diagonal", false, true, {}}, {}};
  WEFT_MAKERS(jacobi(A, P.device()));
  return entry;
}

Entry block_jacobi_entry() {
  Entry entry{{"block-jacobi",
               "the inverses of blocks on the diagonal",
               false,
               true,
               {{"block", "rows of a block; 0: what the matrix shows", 0, 0, double(BlockJacobiOptions::max_block)}}},
              {}};
  WEFT_MAKERS(block_jacobi(A, {.block = static_cast<int>(numbers.at("block")), .device = P.device()}));
  return entry;
}

Entry chebyshev_entry() {
  const ChebyshevOptions defaults;
  Entry entry{
      {"chebyshev",
       "a polynomial in A, by products with A",
       true,
       true,
       {{"degree", "one application takes one product less", double(defaults.degree), 1,
         double(ChebyshevOptions::max_degree)},
        {"ratio", "of the largest to the smallest eigenvalue that is damped", defaults.ratio, 1.001, 1e9, false}}},
      {}};
  WEFT_MAKERS(chebyshev(P, A, {.degree = static_cast<int>(numbers.at("degree")), .ratio = numbers.at("ratio")}));
  return entry;
}

Entry isai_entry() {
  Entry entry{{"isai", "a sparse approximate inverse, by a square system per row", false, false, sparse_parameters()},
              {}};
  WEFT_MAKERS(isai(A, sparse_options(numbers, P.device(), progress)));
  return entry;
}

Entry fsai_entry() {
  Entry entry{{"fsai", "a factored sparse approximate inverse: two sparse triangles to multiply with", true, true,
               sparse_parameters()},
              {}};
  WEFT_MAKERS(fsai(A, sparse_options(numbers, P.device(), progress)));
  return entry;
}

Entry spai_entry() {
  Entry entry{{"spai", "a sparse approximate inverse, by least squares", false, false, sparse_parameters()}, {}};
  WEFT_MAKERS(spai(A, sparse_options(numbers, P.device(), progress)));
  return entry;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{jacobi_entry(), block_jacobi_entry(), chebyshev_entry(),
                                      fsai_entry(),   isai_entry(),         spai_entry()};
  return all;
}

std::string_view name_in(std::string_view recipe) { return recipe.substr(0, recipe.find(':')); }

const Entry& entry_of(std::string_view recipe) {
  std::string names;
  for (const Entry& entry : entries()) {
    if (entry.kind.name == name_in(recipe)) return entry;
    names += (names.empty() ? "" : ", ") + entry.kind.name;
  }
  throw Error(ErrorCode::invalid_argument, "preconditioner '" + std::string(name_in(recipe)) + "': there are " + names);
}

[[noreturn]] void refuse_parameter(const PreconditionerKind& kind, std::string_view given) {
  std::string names;
  for (const PreconditionerParameter& parameter : kind.parameters)
    names += (names.empty() ? "" : ", ") + parameter.name + "=NUMBER";
  refuse("preconditioner '" + kind.name + "'", "'" + std::string(given) + "' is not a parameter; there " +
                                                   (names.empty() ? std::string("are none") : "are " + names));
}

std::string text_of(double number) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, number).ptr;
  return {text, end};
}

void read_parameter(const PreconditionerKind& kind, std::string_view given, Numbers& numbers) {
  const std::size_t equals = given.find('=');
  if (equals == std::string_view::npos) refuse_parameter(kind, given);
  for (const PreconditionerParameter& parameter : kind.parameters) {
    if (parameter.name != given.substr(0, equals)) continue;
    const std::string_view digits = given.substr(equals + 1);
    double number = 0;
    const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_number = problem == std::errc() && end == digits.data() + digits.size();
    if (!is_number || !(number >= parameter.min && number <= parameter.max) ||
        (parameter.whole && number != std::floor(number)))
      refuse("preconditioner '" + kind.name + "'", parameter.name + "=" + std::string(digits) + " is not a " +
                                                       (parameter.whole ? "whole " : "") + "number from " +
                                                       text_of(parameter.min) + " to " + text_of(parameter.max));
    numbers[parameter.name] = number;
    return;
  }
  refuse_parameter(kind, given);
}

Numbers read_parameters(const PreconditionerKind& kind, std::string_view recipe) {
  Numbers numbers;
  for (const PreconditionerParameter& parameter : kind.parameters) numbers[parameter.name] = parameter.fallback;
  std::size_t at = recipe.find(':');
  while (at != std::string_view::npos) {
    const std::size_t next = recipe.find(':', at + 1);
    read_parameter(kind, recipe.substr(at + 1, next == std::string_view::npos ? next : next - at - 1), numbers);
    at = next;
  }
  return numbers;
}

}  // namespace
}  // namespace precondition

const std::vector<PreconditionerKind>& preconditioners() {
  static const std::vector<PreconditionerKind> kinds = [] {
    std::vector<PreconditionerKind> all;
    for (const precondition::Entry& entry : precondition::entries()) all.push_back(entry.kind);
    return all;
  }();
  return kinds;
}

const PreconditionerKind* find_preconditioner(std::string_view recipe) {
  for (const PreconditionerKind& kind : preconditioners())
    if (kind.name == precondition::name_in(recipe)) return &kind;
  return nullptr;
}

template <Value V>
MadePreconditioner<V> make_preconditioner(std::string_view recipe, const LinearOperator<V>& P,
                                          const MatrixSource<std::type_identity_t<V>>& A, const Progress& progress) {
  const precondition::Entry& entry = precondition::entry_of(recipe);
  const precondition::Numbers numbers = precondition::read_parameters(entry.kind, recipe);
  return entry.makers.get<V>().make(numbers, P, A, progress);
}

#define WEFT_INSTANTIATE(V)                                                                         \
  template MadePreconditioner<V> make_preconditioner<V>(std::string_view, const LinearOperator<V>&, \
                                                        const MatrixSource<V>&, const Progress&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)

}  // namespace weft
