#pragma once
#include <span>
#include <string>
#include <vector>

#include "bench/harness/result.hpp"
#include "chart_data.hpp"
#include "roofs.hpp"
#include "svg.hpp"

/// The charts of `weft report`, narrow enough to be read on a phone.
namespace weft::bench {

/// A chart, its heading, and what it shows in numbers. Without a body there was nothing to draw.
struct Figure {
  std::string heading;
  svg::Panel panel;
  std::string sentence;

  bool empty() const { return panel.body.empty(); }
};

using Cases = std::vector<const Case*>;

Figure profile_figure(const Cases& cases, const std::vector<Entrant>& entrants);

/// Bars for the cases, as long as `most` allows (the GFLOP/s of the longest bar of all such figures).
Figure speed_figure(std::span<const Case* const> cases, const std::vector<Entrant>& entrants, double most);

/// Speed over what a product moves per nonzero, under the measured bandwidths. See docs/benchmarking.md.
Figure roofline_figure(const Cases& cases, const std::vector<Entrant>& entrants, const std::vector<Roof>& roofs);
/// Bytes and instructions per nonzero of what was counted; nothing without counts.
Figure instructions_figure(const Cases& cases, const std::vector<Entrant>& entrants, const std::vector<Roof>& roofs,
                           const std::string& counted_by);

/// `bandwidth` in bytes a second; 0 when unknown.
Figure traffic_figure(const Cases& cases, const std::vector<Entrant>& entrants, double bandwidth);

/// The chosen entrants that were measured on this case, and besides them whoever is the fastest for some number of
/// products.
std::vector<Entrant> entrants_on(const Case& one, const std::vector<Entrant>& entrants);

Figure cost_figure(const Case& one, const std::vector<Entrant>& entrants);
/// Where `auto` planned for several numbers of products: what it, csr and each format take in all, over the least.
Figure envelope_figure(const Case& one);
Figure setup_figure(const Case& one, const std::vector<Entrant>& entrants);
Figure cold_figure(const Case& one, const std::vector<Entrant>& entrants);

/// The time of a product over the number of nonzeros, a line for each format: straight where time is linear. A complete
/// document.
std::string time_chart_svg(const Report& report);

}  // namespace weft::bench
