#include "io/coordinates_file.hpp"

#include <charconv>
#include <cmath>
#include <vector>

#include "core/text_cursor.hpp"
#include "io/matrix_market_header.hpp"

namespace weft::io {
namespace {

constexpr int max_dimensions = 3;

/// Reads the numbers of a line; -1 if there are not 1 to 3 finite ones.
int parse_point(std::string_view line, double (&point)[max_dimensions]) {
  for (int count = 0;; ++count) {
    const std::string_view word = take_word(line);
    if (word.empty()) return count == 0 ? -1 : count;
    if (count == max_dimensions) return -1;
    // from_chars takes no leading plus.
    const char* const begin = word.data() + (word.size() > 1 && word[0] == '+' && word[1] != '-' ? 1 : 0);
    const char* const end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(begin, end, point[count]);
    if (error != std::errc{} || stopped != end || !std::isfinite(point[count])) return -1;
  }
}

}  // namespace

Coordinates parse_coordinates(std::string_view text, const std::string& name) {
  std::vector<double> numbers;
  int dimensions = 0;
  LineCursor cursor(text);
  while (cursor.next_content()) {
    const std::string_view line = trim(cursor.line());
    if (line.front() == '#') continue;
    const auto refuse = [&](const std::string& sentence) {
      refuse_line(ErrorCode::parse, name, cursor.number(), sentence);
    };
    double point[max_dimensions];
    const int found = parse_point(line, point);
    if (found < 0) refuse("expected a point of 1 to 3 finite numbers, found " + quoted(line));
    if (dimensions == 0) dimensions = found;
    if (found != dimensions)
      refuse("this point has " + std::to_string(found) + (found == 1 ? " coordinate" : " coordinates") +
             ", but those before have " + std::to_string(dimensions));
    numbers.insert(numbers.end(), point, point + found);
  }
  if (dimensions == 0) refuse_line(ErrorCode::parse, name, cursor.number() + 1, "the file ends without a point");
  return {dimensions, Array<double>(std::move(numbers))};
}

}  // namespace weft::io
