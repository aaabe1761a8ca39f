#include <weft/weft.hpp>

#include <iostream>
#include <string_view>

namespace {

// "cpu, gpu": the devices users choose. The emulator runs whatever the GPU runs.
std::string devices(const std::vector<weft::Device::Kind>& kinds) {
  std::string text;
  for (const weft::Device::Kind kind : kinds) {
    if (kind == weft::Device::Kind::emulator) continue;
    text += (text.empty() ? "" : ", ") + std::string(kind == weft::Device::Kind::cpu ? "CPU" : "GPU");
  }
  return text;
}

std::string types(const std::vector<weft::ValueType>& list) {
  std::string text;
  for (const weft::ValueType type : list) text += (text.empty() ? "" : ", ") + std::string(weft::to_string(type));
  return text;
}

}  // namespace

// Prints the formats of this build as a Markdown table; the README shows it.
int main() {
  std::cout << "| format | what it is | devices | types | same bits every time |\n"
               "|---|---|---|---|---|\n";
  for (const weft::FormatInfo& format : weft::formats()) {
    std::cout << "| `" << format.name << "` | " << format.summary << " | " << devices(format.devices) << " | "
              << types(format.types) << " | " << (format.deterministic ? "yes" : "no") << " |\n";
    for (const weft::VariantInfo& variant : format.variants)
      std::cout << "| `" << format.name << ':' << variant.name << "` | " << variant.summary << " | "
                << devices(variant.devices) << " | | |\n";
    for (const weft::ParameterInfo& parameter : format.parameters)
      std::cout << "| `" << format.name << ':' << parameter.name << "=N` | " << parameter.summary << " | | | |\n";
  }
}
