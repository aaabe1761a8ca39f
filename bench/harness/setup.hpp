#pragma once

namespace weft::bench {

/// Seconds between the csr matrix on the host and the first product being possible, by what they were spent on.
struct Setup {
  double analysis = 0;   ///< looking at the matrix; for `auto` also building and timing what it did not choose
  double order = 0;      ///< finding another order and permuting
  double partition = 0;  ///< putting rows into parts
  double encode = 0;     ///< everything else: bringing the matrix into the format
  double upload = 0;     ///< moving the matrix, as csr, to the device

  double total() const { return analysis + order + partition + encode + upload; }
};

}  // namespace weft::bench
