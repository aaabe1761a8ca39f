#pragma once
#include <fmt/format.h>
#include <weft/error.hpp>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::bench {

/// A value of a file of results with the way to it, for sentences. Untrusted input: what is read is of the expected
/// kind and within limits, or Error(parse) says where it is not.
class Place {
 public:
  // Objects are kept in a map: with many keys the ordered kind would take forever to find one.
  using Json = nlohmann::json;

  // More than anybody measures: beyond, a small file could request much memory or a page nobody can open.
  static constexpr std::size_t max_text = 4096;
  static constexpr double max_seconds = 1e9;
  static constexpr double max_amount = 1e18;

  /// `kind` completes "a field is missing: expected ...".
  Place(const Json& value, const std::string& file, std::string path, const char* kind = "a result of weft bench")
      : value_(value), file_(file), path_(std::move(path)), kind_(kind) {}

  [[noreturn]] void expected(const std::string& what) const {
    throw Error(ErrorCode::parse, fmt::format("{}: {}: expected {}", file_, path_.empty() ? "the file" : path_, what));
  }

  bool null() const { return value_.is_null(); }

  /// A field; one that is not there is an error, or null where it may be missing.
  Place operator[](const char* name) const { return field(name, false); }
  Place maybe(const char* name) const { return field(name, true); }

  double number(double low, double high, const char* what) const {
    if (!value_.is_number()) expected(what);
    const double value = value_.get<double>();
    if (!(value >= low && value <= high)) expected(what);
    return value;
  }
  double seconds() const { return number(0, max_seconds, "a number of seconds"); }
  double amount() const { return number(0, max_amount, "a number that is not negative"); }
  double positive() const {
    return number(std::numeric_limits<double>::min(), max_seconds, "a positive number of seconds");
  }

  std::int64_t whole(std::int64_t high = std::int64_t{1} << 60) const {
    const bool fits = value_.is_number_integer() &&
                      (!value_.is_number_unsigned() || value_.get<std::uint64_t>() <= static_cast<std::uint64_t>(high));
    if (!fits) expected(fmt::format("a whole number from 0 to {}", high));
    const std::int64_t value = value_.get<std::int64_t>();
    if (value < 0 || value > high) expected(fmt::format("a whole number from 0 to {}", high));
    return value;
  }
  std::uint64_t seed() const {
    if (!value_.is_number_unsigned()) expected("a whole number that is not negative");
    return value_.get<std::uint64_t>();
  }
  /// Of errors beyond measure, which are written as null: JSON has no infinity.
  double error() const {
    return null() ? std::numeric_limits<double>::infinity() : number(0, 1e308, "a number or null");
  }
  std::optional<double> optional_amount() const { return null() ? std::nullopt : std::optional(amount()); }
  int small() const { return static_cast<int>(whole(1'000'000'000)); }

  bool truth() const {
    if (!value_.is_boolean()) expected("true or false");
    return value_.get<bool>();
  }

  std::string text(std::size_t limit = max_text) const {
    if (!value_.is_string()) expected("a text");
    const auto& text = value_.get_ref<const std::string&>();
    if (text.size() > limit) expected(fmt::format("a text of at most {} bytes", limit));
    return text;
  }

  /// Its fields, by name.
  std::vector<std::pair<std::string, Place>> fields(std::size_t limit) const {
    if (!value_.is_object()) expected("an object");
    if (value_.size() > limit) expected(fmt::format("at most {} fields", limit));
    std::vector<std::pair<std::string, Place>> places;
    for (const auto& [name, value] : value_.items()) {
      if (name.size() > max_text) expected(fmt::format("names of at most {} bytes", max_text));
      places.emplace_back(name, Place(value, file_, path_.empty() ? name : fmt::format("{}.{}", path_, name), kind_));
    }
    return places;
  }

  /// Its elements, in their order.
  std::vector<Place> list(std::size_t limit) const {
    if (!value_.is_array()) expected("a list");
    if (value_.size() > limit) expected(fmt::format("at most {} elements", limit));
    std::vector<Place> places;
    for (std::size_t i = 0; i < value_.size(); ++i)
      places.emplace_back(value_[i], file_, fmt::format("{}[{}]", path_, i), kind_);
    return places;
  }

 private:
  Place field(const char* name, bool optional) const {
    static const Json nothing;
    if (!value_.is_object()) expected("an object");
    const std::string path = path_.empty() ? name : fmt::format("{}.{}", path_, name);
    const auto found = value_.find(name);
    if (found == value_.end() && !optional)
      throw Error(ErrorCode::parse, fmt::format("{}: {} is missing: expected {}", file_, path, kind_));
    return {found == value_.end() ? nothing : *found, file_, path, kind_};
  }

  const Json& value_;
  const std::string& file_;
  std::string path_;
  const char* kind_;
};

}  // namespace weft::bench
