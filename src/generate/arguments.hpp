#pragma once
#include <weft/generate.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace weft::generation {

/// The arguments of "gen:NAME:ARGS": values by position, then key=value pairs. Every complaint is an Error that names
/// the argument and shows how the generator is called.
class Arguments {
 public:
  /// `text` is what follows the name's colon.
  Arguments(const Generator& generator, std::string_view text);

  /// The next value by position: a number of rows, columns or nodes. Error(invalid_argument) when it is missing, no
  /// whole number or below `least`; Error(unsupported) past 2^31-1.
  std::int64_t size(std::string_view name, std::int64_t least = 1);

  /// The next value by position when it is another whole number: Error(invalid_argument) outside least..most.
  std::int64_t number(std::string_view name, std::int64_t least, std::int64_t most);

  /// True when another value by position is there.
  bool has_next() const { return next_ < positional_.size(); }

  /// A size given as key=value.
  std::int64_t named_size(std::string_view key, std::int64_t otherwise, std::int64_t least = 1);

  /// Another whole number given as key=value: Error(invalid_argument) outside least..most.
  std::int64_t named(std::string_view key, std::int64_t otherwise, std::int64_t least, std::int64_t most);

  std::uint64_t seed() { return static_cast<std::uint64_t>(named("seed", 1, 0, INT64_MAX)); }

  /// The product of `factors` (each a valid size) when it is one too, else Error(unsupported).
  std::int64_t product(std::initializer_list<std::int64_t> factors) const;

  /// Refuses arguments nobody asked for. Generators call it before they start to work.
  void finish() const;

  [[noreturn]] void fail(ErrorCode code, const std::string& sentence) const;

 private:
  struct Named {
    std::string key;
    std::string value;
    bool used = false;
  };
  std::int64_t whole_number(std::string_view name, std::string_view text, std::int64_t least, std::int64_t most,
                            bool is_size) const;
  const std::string& take_next(std::string_view name);
  const Named* take(std::string_view key);

  const Generator& generator_;
  std::vector<std::string> positional_;
  std::vector<Named> named_;
  std::vector<std::string> known_keys_;
  std::size_t next_ = 0;
};

/// The candidate that `word` is most likely a misspelling of, or an empty string when none is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "; did you mean 'band'?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace weft::generation
