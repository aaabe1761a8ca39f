#pragma once
#include "formats/registry.hpp"

namespace weft::bro_hyb {

const Format& format();

}  // namespace weft::bro_hyb
