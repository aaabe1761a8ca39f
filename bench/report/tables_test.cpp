#include "tables.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace weft::bench {
namespace {

Measurement measured(const std::string& name, const std::string& details, std::int64_t padding) {
  Measurement m;
  m.name = m.chosen = name;
  m.details = details;
  m.padding = padding;
  m.timing.median = 1e-3;
  m.bytes_per_nonzero = 12.5;
  m.setup_products = 7.5;
  return m;
}

Case a_case(const std::vector<Measurement>& measurements) {
  Case one;
  one.source = "matrix";
  one.rows = one.cols = 10;
  one.nonzeros = 100;
  one.measurements = measurements;
  return one;
}

/// The lines of the second table below its titles.
std::vector<std::string> storage_lines(const Case& one) {
  std::istringstream text(tables_of(one, false));
  std::vector<std::string> lines;
  int rules = 0;
  for (std::string line; std::getline(text, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    if (rules == 2 && line.empty()) break;
    if (rules == 2) lines.push_back(line);
    rules += line.starts_with("----");
  }
  return lines;
}

TEST(BenchTables, TellPaddingSetUpAndParameters) {
  Measurement chosen = measured("sell", "C = 32, sigma = 256", 12);
  chosen.chosen = "sell:p";
  chosen.break_even = 1234;
  Measurement slow = measured("ell", "", 4200);
  slow.setup_products = 12345.6;
  Measurement peer = measured("eigen", "", 0);
  peer.peer = true;
  peer.setup_products.reset();
  EXPECT_EQ(
      storage_lines(a_case({measured("csr", "", 0), chosen, slow, peer})),
      (std::vector<std::string>{"csr     12.50      0 %     7.5 products           -  -",
                                "sell    12.50   12.0 %     7.5 products       1,234  sell:p; C = 32, sigma = 256",
                                "ell     12.50      42x  12,346 products           -  -",
                                "eigen   12.50        -                -           -  -"}));
}

TEST(BenchTables, BreakLongParametersBetweenWords) {
  std::string details = "a";
  for (int i = 0; i < 40; ++i) details += " word" + std::to_string(i);
  const std::vector<std::string> lines = storage_lines(a_case({measured("sell:c=64:sigma=16384", details, 0)}));
  ASSERT_GT(lines.size(), 3u);
  std::string joined;
  for (const std::string& line : lines) {
    if (!joined.empty()) joined += ' ';
    joined += line.substr(lines[0].find(" a word0") + 1);
  }
  EXPECT_EQ(joined, details);
}

TEST(BenchTables, NameTheFastestThoseTiedAndThoseThatChangeTheirBits) {
  Case one = a_case({measured("csr", "", 0), measured("sell", "", 0), measured("coo", "", 0)});
  one.measurements[0].rank = 3;
  one.measurements[1].rank = one.measurements[2].rank = 1;
  one.measurements[2].timing.median = 0.98e-3;
  one.measurements[0].repeatable = false;
  const std::string text = tables_of(one, false);
  EXPECT_NE(text.find("\nFastest: coo; within 5 % of it: sell.\nNot the same bits every time: csr.\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("cold"), std::string::npos) << "nothing was timed cold";
  one.measurements[0].timing.cold = Quartiles{2e-3, 0, 0};
  EXPECT_NE(tables_of(one, false).find("2.00 ms"), std::string::npos);
}

TEST(BenchTables, WhatFailedStandsInTheFirstTableOnly) {
  Measurement failed = measured("ell", "", 0);
  failed.failure = "too much padding";
  const std::string text = tables_of(a_case({failed}), false);
  EXPECT_NE(text.find("ell"), std::string::npos);
  EXPECT_NE(text.find("too much padding"), std::string::npos);
  EXPECT_EQ(text.find("stored as"), std::string::npos) << "an empty table";
  EXPECT_EQ(storage_lines(a_case({measured("csr", "", 0), failed})).size(), 1u);
}

}  // namespace
}  // namespace weft::bench
