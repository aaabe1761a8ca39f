#include "generate/arguments.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <numeric>

#include "core/text_cursor.hpp"

namespace weft::generation {

namespace {

constexpr std::int64_t largest_size = std::numeric_limits<Index>::max();

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const bool begins = word.size() >= 3 && candidate.starts_with(word);
    const std::size_t distance = begins ? 1 : edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string candidate = nearest(word, candidates);
  return candidate.empty() ? "" : "; did you mean '" + candidate + "'?";
}

Arguments::Arguments(const Generator& generator, std::string_view text) : generator_(generator) {
  while (!text.empty()) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view word = text.substr(0, colon);
    // A colon at the very end leaves an empty last word, which is refused like any other empty one.
    const bool trailing_colon = colon + 1 == text.size();
    text.remove_prefix(std::min(colon + 1, text.size()));
    const std::size_t equals = word.find('=');
    if (word.empty() || trailing_colon) fail(ErrorCode::invalid_argument, "an argument is empty");
    if (equals != std::string_view::npos)
      named_.push_back({std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))});
    else if (!named_.empty())
      fail(ErrorCode::invalid_argument, io::quoted(word) + " comes after " + io::quoted(named_.back().key + "=") +
                                            ", where only key=value may stand");
    else
      positional_.emplace_back(word);
  }
}

void Arguments::fail(ErrorCode code, const std::string& sentence) const {
  const std::string name = "gen:" + generator_.name;
  const char* colon = generator_.arguments.starts_with('[') ? "" : ":";  // in the bracket where all may be left out
  throw Error(code, name + ": " + sentence + " (usage: " + name + colon + generator_.arguments + ")");
}

std::int64_t Arguments::whole_number(std::string_view name, std::string_view text, std::int64_t least,
                                     std::int64_t most, bool is_size) const {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string called = std::string(name) + " = " + io::quoted(text);
  const bool overflows = problem == std::errc::result_out_of_range;
  if ((problem != std::errc() && !overflows) || end != text.data() + text.size())
    fail(ErrorCode::invalid_argument, called + " is not a whole number");
  const bool negative = text.starts_with('-');
  if (is_size && !negative && (overflows || value > most))
    fail(ErrorCode::unsupported, called + " is past 2^31-1, the most rows or columns a matrix can have");
  if (overflows || value < least || value > most) {
    const std::string range = most == std::numeric_limits<std::int64_t>::max() || is_size
                                  ? std::to_string(least) + " or more"
                                  : std::to_string(least) + " to " + std::to_string(most);
    fail(ErrorCode::invalid_argument, called + " is out of range: it must be " + range);
  }
  return value;
}

const std::string& Arguments::take_next(std::string_view name) {
  if (!has_next()) fail(ErrorCode::invalid_argument, std::string(name) + " is missing");
  return positional_[next_++];
}

std::int64_t Arguments::size(std::string_view name, std::int64_t least) {
  return whole_number(name, take_next(name), least, largest_size, true);
}

std::int64_t Arguments::number(std::string_view name, std::int64_t least, std::int64_t most) {
  return whole_number(name, take_next(name), least, most, false);
}

const Arguments::Named* Arguments::take(std::string_view key) {
  known_keys_.emplace_back(key);
  const Named* found = nullptr;
  for (Named& candidate : named_) {
    if (candidate.key != key) continue;
    if (found) fail(ErrorCode::invalid_argument, "'" + candidate.key + "=' is given twice");
    candidate.used = true;
    found = &candidate;
  }
  return found;
}

std::int64_t Arguments::named_size(std::string_view key, std::int64_t otherwise, std::int64_t least) {
  const Named* found = take(key);
  return found ? whole_number(key, found->value, least, largest_size, true) : otherwise;
}

std::int64_t Arguments::named(std::string_view key, std::int64_t otherwise, std::int64_t least, std::int64_t most) {
  const Named* found = take(key);
  return found ? whole_number(key, found->value, least, most, false) : otherwise;
}

std::int64_t Arguments::product(std::initializer_list<std::int64_t> factors) const {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    // Both are below 2^31, so this product cannot overflow.
    result *= factor;
    if (result > largest_size)
      fail(ErrorCode::unsupported, "the matrix would have more than 2^31-1 rows, the most there can be");
  }
  return result;
}

void Arguments::finish() const {
  if (has_next()) fail(ErrorCode::invalid_argument, io::quoted(positional_[next_]) + " is one argument too many");
  for (const Named& candidate : named_)
    if (!candidate.used)
      fail(ErrorCode::invalid_argument,
           "there is no argument " + io::quoted(candidate.key + "=") + did_you_mean(candidate.key, known_keys_));
}

}  // namespace weft::generation
