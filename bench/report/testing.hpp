#pragma once
#include <string>
#include <string_view>
#include <vector>

// Shared by the tests of pictures.
namespace weft::bench {

inline bool starts_with_reference(std::string_view text) {
  for (std::string_view known : {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"})
    if (text.starts_with(known)) return true;
  return false;
}

/// Empty when `document` is one well-formed element: tags nest, attributes are quoted, references are known.
inline std::string xml_fault(const std::string& document) {
  std::vector<std::string> open;
  std::size_t roots = 0;
  for (std::size_t at = 0; at < document.size(); ++at) {
    if (document[at] == '&' && !starts_with_reference(std::string_view(document).substr(at))) return "a bare ampersand";
    if (document[at] != '<') continue;
    std::size_t end = at + 1;
    for (bool quoted = false; end < document.size() && (quoted || document[end] != '>'); ++end) {
      if (document[end] == '<') return "a bare < after " + document.substr(at, 40);
      if (document[end] == '"') quoted = !quoted;
      if (document[end] == '=' && !quoted && document[end + 1] != '"') return "an attribute without quotes";
    }
    if (end == document.size()) return "a tag without an end: " + document.substr(at, 40);
    const std::string tag = document.substr(at + 1, end - at - 1);
    const bool closes = tag[0] == '/';
    const std::string name = tag.substr(closes, tag.find_first_of(" \n", closes) - closes);
    if (closes) {
      if (open.empty() || open.back() != name) return "unexpected </" + name + ">";
      open.pop_back();
    } else if (tag.back() != '/') {
      roots += open.empty();
      open.push_back(name);
    }
    at = end;
  }
  if (!open.empty()) return "<" + open.back() + "> is not closed";
  return roots == 1 ? "" : std::to_string(roots) + " roots";
}

inline bool has(const std::string& picture, const std::string& text) { return picture.find(text) != std::string::npos; }

inline std::size_t count(const std::string& picture, const std::string& text) {
  std::size_t found = 0;
  for (std::size_t at = picture.find(text); at != std::string::npos; at = picture.find(text, at + 1)) ++found;
  return found;
}

}  // namespace weft::bench
