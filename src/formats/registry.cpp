#include "formats/registry.hpp"

#include <weft/error.hpp>

#include <algorithm>
#include <charconv>

#include "formats/bce/bce.hpp"
#include "formats/bro_coo/bro_coo.hpp"
#include "formats/bro_ell/bro_ell.hpp"
#include "formats/bro_hyb/bro_hyb.hpp"
#include "formats/bro_sell/bro_sell.hpp"
#include "formats/coo/coo.hpp"
#include "formats/csr/csr.hpp"
#include "formats/ehyb/ehyb.hpp"
#include "formats/ell/ell.hpp"
#include "formats/hyb/hyb.hpp"
#include "formats/sell/sell.hpp"

namespace weft {

// The one list of formats: one line each. Tests, bench, command line, documentation and the planner are driven by it.
const std::vector<const Format*>& registry() {
  // clang-format off
  static const std::vector<const Format*> all{
      &csr::format(),
      &coo::format(),
      &ell::format(),
      &sell::format(),
      &hyb::format(),
      &bce::format(),
      &bro_ell::format(),
      &bro_coo::format(),
      &bro_hyb::format(),
      &bro_sell::format(),
      &ehyb::format(),
  };
  // clang-format on
  return all;
}

const std::vector<FormatInfo>& formats() {
  static const std::vector<FormatInfo> infos = [] {
    std::vector<FormatInfo> result;
    for (const Format* format : registry()) {
      FormatInfo& info = result.emplace_back(format->info);
      for_each_value_type([&]<class V>(std::type_identity<V>) {
        if (format->build.get<V>()) info.types.push_back(value_type<V>);
      });
    }
    return result;
  }();
  return infos;
}

bool Format::runs_on(Device::Kind kind) const { return std::ranges::find(info.devices, kind) != info.devices.end(); }

bool Format::has_type(ValueType type) const {
  return with_value_type(type, [&]<class V>(std::type_identity<V>) { return build.get<V>() != nullptr; });
}

std::string full_name(const FormatInfo& format, const std::string& variant) {
  return variant.empty() ? format.name : format.name + ":" + variant;
}

namespace {

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string formats_for(Device device, ValueType type) {
  std::vector<std::string> names;
  for (const Format* format : registry())
    if (format->runs_on(device.kind()) && format->has_type(type)) names.push_back(format->info.name);
  return join(names);
}

std::vector<std::string> variants_on(const FormatInfo& format, Device device) {
  std::vector<std::string> names;
  for (const VariantInfo& variant : format.variants)
    if (std::ranges::find(variant.devices, device.kind()) != variant.devices.end()) names.push_back(variant.name);
  return names;
}

const FormatInfo& find_info(const std::string& name) {
  std::vector<std::string> names{"auto"};
  for (const FormatInfo& format : formats()) {
    if (format.name == name) return format;
    names.push_back(format.name);
  }
  throw Error(ErrorCode::invalid_argument, "there is no format '" + name + "'; there are: " + join(names));
}

std::string range_of(const ParameterInfo& parameter) {
  return std::string(parameter.power_of_two ? "a power of two" : "a whole number") + " from " +
         std::to_string(parameter.least) + " to " + std::to_string(parameter.most);
}

void add_parameter(FormatName& name, const std::string& key, std::string_view text) {
  const FormatInfo& format = *name.format;
  std::vector<std::string> known;
  for (const ParameterInfo& parameter : format.parameters) {
    known.push_back(parameter.name);
    if (parameter.name != key) continue;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool number = error == std::errc{} && end == text.data() + text.size();
    if (!number || value < parameter.least || value > parameter.most ||
        (parameter.power_of_two && (value & (value - 1)) != 0))
      throw Error(ErrorCode::invalid_argument, "format '" + format.name + "': " + key + " must be " +
                                                   range_of(parameter) + ", not '" + std::string(text) + "'");
    if (!name.parameters.emplace(key, value).second)
      throw Error(ErrorCode::invalid_argument, "format '" + format.name + "': " + key + " is given twice");
    return;
  }
  throw Error(ErrorCode::invalid_argument, "format '" + format.name + "' has no parameter '" + key +
                                               "'; it has: " + (known.empty() ? "none" : join(known)));
}

void set_variant(FormatName& name, const std::string& variant) {
  std::vector<std::string> known;
  for (const VariantInfo& info : name.format->variants) known.push_back(info.name);
  if (std::ranges::find(known, variant) == known.end())
    throw Error(ErrorCode::invalid_argument, "format '" + name.format->name + "' has no variant '" + variant +
                                                 "'; it has: " + (known.empty() ? "no variants" : join(known)));
  name.variant = variant;
}

}  // namespace

FormatName parse_format(std::string_view name) {
  FormatName result;
  std::size_t begin = 0;
  for (int piece = 0; begin <= name.size(); ++piece) {
    const std::size_t end = std::min(name.find(':', begin), name.size());
    const std::string text(name.substr(begin, end - begin));
    const std::size_t equals = text.find('=');
    if (piece == 0)
      result.format = &find_info(text);
    else if (equals != std::string::npos)
      add_parameter(result, text.substr(0, equals), std::string_view(text).substr(equals + 1));
    else if (piece == 1)
      set_variant(result, text);
    else
      throw Error(ErrorCode::invalid_argument,
                  "format '" + std::string(name) + "': '" + text + "' is not PARAMETER=NUMBER");
    begin = end + 1;
  }
  return result;
}

Recipe parse_recipe(std::string_view text) {
  Recipe recipe;
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    recipe.order = parse_ordering(text.substr(0, plus));
    text.remove_prefix(plus + 1);
  }
  const std::size_t slash = text.find('/');
  recipe.format = text.substr(0, slash);
  if (recipe.format == "auto" && slash == std::string_view::npos) return recipe;
  const FormatName format = parse_format(recipe.format);
  if (slash == std::string_view::npos) return recipe;
  recipe.transposed = text.substr(slash + 1);
  if (parse_format(recipe.transposed).format != format.format)
    throw Error(ErrorCode::invalid_argument, "format '" + recipe.format +
                                                 "': the transposed matrix is stored in the same format, not as '" +
                                                 recipe.transposed + "'");
  return recipe;
}

std::string recipe_of(const FormatChoice& requested, const std::string& variant,
                      const std::map<std::string, std::int64_t>& numbers) {
  const FormatInfo& format = requested.format->info;
  std::string recipe = full_name(format, variant);
  for (const ParameterInfo& parameter : format.parameters) {
    const auto& known = parameter.limit ? requested.parameters : numbers;
    if (const auto found = known.find(parameter.name); found != known.end())
      recipe += ":" + parameter.name + "=" + std::to_string(found->second);
  }
  return recipe;
}

FormatChoice find_format(const std::string& name, Device device, ValueType type) {
  const FormatName parsed = parse_format(name);
  const auto found =
      std::ranges::find_if(registry(), [&](const Format* format) { return format->info.name == parsed.format->name; });
  const Format& format = **found;
  if (!format.runs_on(device.kind()) || !format.has_type(type))
    throw Error(ErrorCode::unsupported, "format '" + format.info.name + "' does not do " +
                                            std::string(to_string(type)) + " on " + device.name() +
                                            "; these do: " + formats_for(device, type));
  const std::vector<std::string> here = variants_on(format.info, device);
  if (!parsed.variant.empty() && std::ranges::find(here, parsed.variant) == here.end())
    throw Error(ErrorCode::unsupported, "format '" + full_name(format.info, parsed.variant) + "' does not run on " +
                                            device.name() + "; there " + format.info.name +
                                            " has: " + (here.empty() ? "no variants" : join(here)));
  return {&format, parsed.variant, parsed.parameters};
}

}  // namespace weft
