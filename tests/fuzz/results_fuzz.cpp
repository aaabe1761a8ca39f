#include <weft/error.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "bench/report/page.hpp"
#include "bench/report/reader.hpp"
#include "require.hpp"

/// Whatever the bytes are, the reader of results answers with a report or with an Error; a report it accepts gives a
/// page, in which nothing of the file is markup.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  try {
    const std::string_view text(reinterpret_cast<const char*>(bytes), size);
    const std::string page = weft::bench::report_page({{"fuzz.json", weft::bench::parse_report(text, "fuzz.json")}});
    require(page.ends_with("</html>\n"));
    const std::size_t script = page.find("<script");
    require(script != std::string::npos && page.find("<script", script + 1) == std::string::npos);
  } catch (const weft::Error& error) {
    require(std::string_view(error.what()).starts_with("fuzz.json: "));
  }
  return 0;
}
