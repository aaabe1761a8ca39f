#pragma once
#include <string>
#include <vector>

namespace weft::bench {

/// Columns that line up. The first column is text, flush left; the others are flush right unless `left` names them.
class Table {
 public:
  explicit Table(std::vector<std::string> titles, std::vector<std::size_t> left = {});

  void add(std::vector<std::string> cells);

  /// A row that has a sentence instead of numbers.
  void add_remark(std::string name, std::string remark);

  std::string text(int indent = 0) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string remark;
  };
  bool flush_left(std::size_t column) const;
  std::vector<std::string> titles_;
  std::vector<std::size_t> left_;
  std::vector<Row> rows_;
};

}  // namespace weft::bench
