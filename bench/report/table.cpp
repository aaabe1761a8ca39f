#include "table.hpp"

#include <algorithm>

namespace weft::bench {

Table::Table(std::vector<std::string> titles, std::vector<std::size_t> left)
    : titles_(std::move(titles)), left_(std::move(left)) {}

void Table::add(std::vector<std::string> cells) { rows_.push_back({std::move(cells), {}}); }

void Table::add_remark(std::string name, std::string remark) {
  rows_.push_back({{std::move(name)}, std::move(remark)});
}

bool Table::flush_left(std::size_t column) const {
  return column == 0 || std::find(left_.begin(), left_.end(), column) != left_.end();
}

std::string Table::text(int indent) const {
  std::vector<std::size_t> widths;
  for (const std::string& title : titles_) widths.push_back(title.size());
  for (const Row& row : rows_)
    for (std::size_t i = 0; i < row.cells.size(); ++i) widths[i] = std::max(widths[i], row.cells[i].size());

  const auto line = [&](const std::vector<std::string>& cells, const std::string& remark) {
    std::string result(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) result += "  ";
      const std::string gap(widths[i] - cells[i].size(), ' ');
      result += flush_left(i) ? cells[i] + gap : gap + cells[i];
    }
    if (!remark.empty()) result += "  " + remark;
    result.erase(result.find_last_not_of(' ') + 1);
    return result + '\n';
  };

  std::string result = line(titles_, {});
  std::size_t total = 2 * (widths.size() - 1);
  for (std::size_t width : widths) total += width;
  result += std::string(static_cast<std::size_t>(indent), ' ') + std::string(total, '-') + '\n';
  for (const Row& row : rows_) result += line(row.cells, row.remark);
  return result;
}

}  // namespace weft::bench
