#pragma once
#include <string>
#include <string_view>

#include "bench/harness/result.hpp"

namespace weft::bench {

class Place;

/// Reads what `weft bench --json` wrote, of this schema or of schema 1, which had the whole set-up in one number and
/// knew no ranks, first products, cold caches and portraits: these stay empty. Throws Error(io) when the file cannot be
/// read, and Error(parse) with a sentence that names the place when it is not such a result.
Report read_report(const std::string& path);

/// The same from text in memory; `name` stands in sentences where the file's name would.
Report parse_report(std::string_view text, const std::string& name);

/// What files of other measurements have as well.
ValueType read_type(const Place& place);
Device read_device(const Place& place);
Machine read_machine(const Place& place, int schema);

}  // namespace weft::bench
