#include "plan/choices.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <mutex>
#include <sstream>

#include "plan/cache_file.hpp"

namespace weft {
namespace {

constexpr std::size_t max_choices = 4096;
constexpr std::size_t max_file_bytes = 4 << 20;

std::vector<KeptChoice> read_choices(const std::string& path) {
  return parse_choices(read_cache_file(path, max_file_bytes).value_or(""));
}

void put(std::vector<KeptChoice>& choices, const KeptChoice& one) {
  std::erase_if(choices, [&](const KeptChoice& other) { return other.key == one.key; });
  choices.push_back(one);
  if (choices.size() > max_choices)
    choices.erase(choices.begin(), choices.end() - static_cast<std::ptrdiff_t>(max_choices));
}

/// The choices of this process, by their file; each file is read when it is first needed.
class Memory {
 public:
  std::optional<PastChoice> get(Device device, const std::string& key) {
    const std::lock_guard lock(mutex_);
    const std::vector<KeptChoice>& choices = of(device);
    const auto found = std::ranges::find(choices, key, &KeptChoice::key);
    if (found == choices.end()) return std::nullopt;
    return found->choice;
  }

  void put_and_write(Device device, const KeptChoice& one) {
    const std::lock_guard lock(mutex_);
    std::vector<KeptChoice>& choices = of(device);
    const std::string path = choices_file(device);
    if (path.empty()) return put(choices, one);
    // Other programs may have written since. Two at the same moment may lose one's choice, which is then made again.
    std::vector<KeptChoice> all = read_choices(path);
    put(choices, one);
    put(all, one);
    write_cache_file(path, to_text(all), "what auto chose");
  }

  void clear(Device device) {
    const std::lock_guard lock(mutex_);
    of(device).clear();
    if (const std::string path = choices_file(device); !path.empty()) std::remove(path.c_str());
  }

 private:
  std::vector<KeptChoice>& of(Device device) {
    const std::string path = choices_file(device);
    const auto [place, is_new] = choices_.try_emplace(path.empty() ? device.name() : path);
    if (is_new && !path.empty()) place->second = read_choices(path);
    return place->second;
  }

  std::mutex mutex_;
  std::map<std::string, std::vector<KeptChoice>> choices_;
};

Memory& memory() {
  static Memory all;
  return all;
}

}  // namespace

// FNV-1a; 0xff, which no text holds, ends each part.
void ChoiceKey::add(std::string_view text) {
  constexpr std::uint64_t prime = 0x100000001b3u;
  for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * prime;
  hash_ = (hash_ ^ 0xff) * prime;
}

void ChoiceKey::add(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", number);
  add(std::string_view(text));
}

std::string ChoiceKey::word() const {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash_));
  return text;
}

std::optional<PastChoice> past_choice(Device device, const std::string& key) { return memory().get(device, key); }
void keep_choice(Device device, const std::string& key, const PastChoice& choice) {
  memory().put_and_write(device, {key, choice});
}
void forget_choices(Device device) { memory().clear(device); }

std::string choices_file(Device device) { return cache_file(device, ".choices"); }

std::string to_text(const std::vector<KeptChoice>& choices) {
  std::string text =
      "# What Weft's auto chose on this device: key, format, measured seconds; forgotten by: weft tune\n";
  for (const KeptChoice& one : choices) {
    text += one.key + " " + one.choice.format;
    for (const PastChoice::Timed& timed : one.choice.timed) {
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, "%.9g", timed.seconds);
      text += " " + timed.format + " " + seconds;
    }
    text += "\n";
  }
  return text;
}

std::vector<KeptChoice> parse_choices(const std::string& text) {
  std::vector<KeptChoice> choices;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    KeptChoice one;
    if (!(words >> one.key >> one.choice.format)) continue;
    bool sensible = true;
    PastChoice::Timed timed;
    while (sensible && words >> timed.format) {
      sensible = static_cast<bool>(words >> timed.seconds) && timed.seconds > 0 && std::isfinite(timed.seconds);
      one.choice.timed.push_back(timed);
    }
    if (sensible) choices.push_back(std::move(one));
  }
  return choices;
}

}  // namespace weft
