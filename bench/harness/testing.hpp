#pragma once
#include <string>

#include "result.hpp"

// What the tests of the papers' tables share.
namespace weft::bench {

inline Measurement measured(const std::string& name, double seconds, bool peer = false) {
  Measurement m;
  m.name = name;
  m.peer = peer;
  m.timing.median = seconds;
  return m;
}

}  // namespace weft::bench
