#pragma once
#include <string>
#include <vector>

#include "bench/harness/result.hpp"
#include "charts.hpp"
#include "roofs.hpp"

namespace weft::bench {

/// A file of results and what it holds besides its cases.
struct ReportFile {
  std::string path;
  Report report;
};

/// All cases of the files in one report, with the machine and the bandwidth of the first; matrices that several files
/// have are told apart by the file's name. Throws Error(invalid_argument) when the files are of different machines or
/// devices: their times cannot be compared.
Report join(const std::vector<ReportFile>& files);

/// One HTML page that needs nothing else: no network, no script to be read. Everything from the files is escaped.
std::string report_page(const std::vector<ReportFile>& files);

/// What each kernel with counted instructions reads and executes per nonzero, and how much of its time either takes at
/// least: as HTML, empty without counts.
std::string instructions_table(const Cases& cases, const std::vector<Roof>& roofs);

/// The table of every measurement, as HTML.
std::string everything_table(const Report& report);

}  // namespace weft::bench
