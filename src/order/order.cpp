#include <weft/error.hpp>
#include <weft/order.hpp>

#include <numeric>
#include <string>

#include "order/bar.hpp"
#include "order/methods.hpp"

namespace weft {
namespace {

struct Name {
  Ordering ordering;
  std::string_view text;
};
constexpr Name names[] = {{Ordering::none, "none"},
                          {Ordering::length, "length"},
                          {Ordering::rcm, "rcm"},
                          {Ordering::amd, "amd"},
                          {Ordering::bar, "bar"}};

void require_square(const ordering::Pattern& pattern, Ordering ordering) {
  if (pattern.rows == pattern.cols) return;
  throw Error(ErrorCode::unsupported, "ordering '" + std::string(to_string(ordering)) +
                                          "' numbers rows and columns alike, so the matrix must be square, not " +
                                          std::to_string(pattern.rows) + " x " + std::to_string(pattern.cols) +
                                          "; these take any: none, length, bar");
}

}  // namespace

std::string_view to_string(Ordering ordering) {
  for (const Name& name : names)
    if (name.ordering == ordering) return name.text;
  return "unknown";
}

const std::vector<Ordering>& orderings() {
  static const std::vector<Ordering> all = [] {
    std::vector<Ordering> list;
    for (const Name& name : names) list.push_back(name.ordering);
    return list;
  }();
  return all;
}

Ordering parse_ordering(std::string_view text) {
  std::string known;
  for (const Name& name : names) {
    if (name.text == text) return name.ordering;
    known += (known.empty() ? "" : ", ") + std::string(name.text);
  }
  throw Error(ErrorCode::invalid_argument, "there is no ordering '" + std::string(text) + "'; there are: " + known);
}

template <Value V>
Order order(const Csr<V>& matrix, Ordering ordering, const OrderOptions& options) {
  const ordering::Pattern pattern(matrix);
  Order result;
  switch (ordering) {
    case Ordering::none:
      break;
    case Ordering::length:
      result.rows = ordering::by_length(pattern);
      break;
    case Ordering::rcm:
      require_square(pattern, ordering);
      result.rows = result.columns = ordering::reverse_cuthill_mckee(pattern, options.progress);
      break;
    case Ordering::amd:
      require_square(pattern, ordering);
      result.rows = result.columns = ordering::approximate_minimum_degree(pattern, options.progress);
      break;
    case Ordering::bar:
      result.rows =
          ordering::bro_aware(pattern, options.bar, ordering::line_elements<V>(options.bar), options.progress);
      break;
  }
  return result;
}

#define WEFT_INSTANTIATE(V) template Order order<V>(const Csr<V>&, Ordering, const OrderOptions&);
WEFT_FOR_EACH_VALUE(WEFT_INSTANTIATE)

}  // namespace weft
