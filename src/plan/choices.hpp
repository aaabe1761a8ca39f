#pragma once
#include <weft/device.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What `auto` chose before, so that the same matrix gets the same format again whatever the clock says then.
namespace weft {

/// A choice, and the measurements that it was made by.
struct PastChoice {
  struct Timed {
    std::string format;
    double seconds = 0;  ///< per product
    bool operator==(const Timed&) const = default;
  };
  std::string format;        ///< the name of the chosen candidate
  std::vector<Timed> timed;  ///< the candidates that were timed
  bool operator==(const PastChoice&) const = default;
};

/// A word that stands for everything that is added, in this order.
class ChoiceKey {
 public:
  void add(std::string_view text);
  void add(double number);  ///< twelve digits of it
  std::string word() const;

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325u;
};

/// The choice that was kept under this key, by this program or an earlier one. `key` is a word that stands for all that
/// the choice depends on but time.
std::optional<PastChoice> past_choice(Device device, const std::string& key);

/// Keeps a choice in the user's cache folder, beside the device's table. Where that cannot be written, in this program.
/// The oldest choices are dropped when there are many.
void keep_choice(Device device, const std::string& key, const PastChoice& choice);

/// Forgets all choices for this device.
void forget_choices(Device device);

/// Where they are kept; empty: in this program only.
std::string choices_file(Device device);

/// A file's content: a line per choice, the newest last.
struct KeptChoice {
  std::string key;
  PastChoice choice;
  bool operator==(const KeptChoice&) const = default;
};
std::string to_text(const std::vector<KeptChoice>& choices);
/// Untrusted: lines that are not choices are left out.
std::vector<KeptChoice> parse_choices(const std::string& text);

}  // namespace weft
