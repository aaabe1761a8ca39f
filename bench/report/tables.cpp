#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "numbers.hpp"
#include "table.hpp"

namespace weft::bench {
namespace {

constexpr std::size_t page_width = 100;

std::string small(double value) { return fmt::format("{:.2f}", value); }

std::string times(const Case& one, bool with_peers) {
  bool cold = false;
  for (const Measurement& m : one.measurements) cold = cold || m.timing.cold;
  std::vector<std::string> titles = {"format", "set-up", "time", "spread"};
  if (cold) titles.push_back("cold");
  for (const char* title : {"GFLOP/s", "GB/s", "of bw", "error"}) titles.emplace_back(title);
  if (with_peers) titles.push_back("vs peer");
  Table table(std::move(titles));
  for (const Measurement& m : one.measurements) {
    if (!m.measured()) {
      table.add_remark(m.name, m.failure);
      continue;
    }
    std::vector<std::string> cells = {m.name, seconds_text(m.setup.total()), seconds_text(m.timing.median),
                                      percent_text(m.timing.spread())};
    if (cold) cells.push_back(m.timing.cold ? seconds_text(m.timing.cold->median) : "-");
    cells.push_back(small(m.gflops));
    cells.push_back(small(m.gigabytes));
    cells.push_back(m.bandwidth_share > 0 ? percent_text(m.bandwidth_share) : "-");
    cells.push_back(fmt::format("{:.1e}{}", m.backward_error, m.correct ? "" : " WRONG"));
    if (with_peers) cells.push_back(m.peer_ratio ? fmt::format("{:.2f}x", *m.peer_ratio) : "-");
    table.add(std::move(cells));
  }
  return table.text();
}

/// "2.5 products", of whole ones from ten on.
std::string products_text(double products) {
  const std::string number =
      products < 9.95 ? fmt::format("{:.1f}", products) : count_text(std::llround(std::min(products, 1e15)));
  return number + " products";
}

/// What a name came to and the parameters that were chosen.
std::string stored_as(const Measurement& m) {
  std::string text = m.chosen == m.name ? "" : m.chosen;
  if (!m.details.empty()) text += (text.empty() ? "" : "; ") + m.details;
  return text.empty() ? "-" : text;
}

/// Broken between words into lines of at most `width`, where words allow.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines;
}

std::string storage(const Case& one) {
  const std::vector<std::string> titles = {"format", "B/nnz", "padding", "set-up", "break-even", "stored as"};
  std::vector<std::vector<std::string>> rows;
  for (const Measurement& m : one.measurements)
    if (m.measured())
      rows.push_back({m.name, small(m.bytes_per_nonzero), m.peer ? "-" : padding_text(m.padding, one.nonzeros),
                      m.setup_products ? products_text(*m.setup_products) : "-",
                      m.break_even ? count_text(static_cast<std::int64_t>(*m.break_even)) : "-", stored_as(m)});
  if (rows.empty()) return {};

  const std::size_t last = titles.size() - 1;
  std::size_t used = 2 * last;
  for (std::size_t column = 0; column < last; ++column) {
    std::size_t width = titles[column].size();
    for (const auto& row : rows) width = std::max(width, row[column].size());
    used += width;
  }
  Table table(titles, {last});
  for (std::vector<std::string>& row : rows) {
    for (const std::string& line :
         wrapped(row[last], std::max<std::size_t>(page_width - std::min(used, page_width), 30))) {
      row[last] = line;
      table.add(row);
      row.assign(titles.size(), "");
    }
  }
  return "\n" + table.text();
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

/// Who is the fastest, who is as fast, and whose results differ from product to product.
std::string verdict(const Case& one) {
  const Measurement* first = nullptr;
  std::vector<std::string> tied, changing;
  for (const Measurement& m : one.measurements) {
    if (m.measured() && !m.repeatable) changing.push_back(m.name);
    if (m.rank == 1 && (!first || m.timing.median < first->timing.median)) first = &m;
  }
  for (const Measurement& m : one.measurements)
    if (m.rank == 1 && &m != first) tied.push_back(m.name);
  if (!first) return {};
  std::string text =
      "\n" + paragraph("Fastest: " + first->name +
                       (tied.empty() ? "." : fmt::format("; within {} of it: ", tie_text) + joined(tied) + "."));
  if (!changing.empty()) text += paragraph("Not the same bits every time: " + joined(changing) + ".");
  return text;
}

}  // namespace

std::string paragraph(const std::string& text) {
  std::string lines;
  for (const std::string& line : wrapped(text, page_width)) lines += line + "\n";
  return lines;
}

std::string tables_of(const Case& one, bool with_peers) {
  std::string order;
  if (one.ordering != Ordering::none) {
    double seconds = 0;  // of the first format: each finds it anew
    for (const Measurement& m : one.measurements)
      if (seconds == 0) seconds = m.setup.order;
    order = fmt::format(", stored in the order {}, found in {}", to_string(one.ordering), seconds_text(seconds));
  }
  return fmt::format("\n{}: {} x {}, {}, {}{}\n", one.source, count_text(one.rows), count_text(one.cols),
                     with_noun(one.nonzeros, "nonzero"), to_string(one.type),
                     order + vectors_text(one.vectors, one.layout)) +
         times(one, with_peers) + storage(one) + verdict(one);
}

}  // namespace weft::bench
