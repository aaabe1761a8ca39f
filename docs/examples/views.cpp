#include <weft/weft.hpp>

#include <cstdint>
#include <iostream>
#include <vector>

int main() {
  // Somebody else's CSR arrays, with 32-bit offsets: checked, but not copied.
  const std::vector<std::int32_t> offsets{0, 2, 3, 5};
  const std::vector<std::int32_t> columns{0, 1, 1, 0, 2};
  std::vector<double> values{4.0, 1.0, 5.0, 2.0, 6.0};
  weft::Plan<double> P = weft::plan(weft::csr_view(3, 3, offsets, columns, values));

  const std::vector<double> x{1.0, 1.0, 1.0};
  std::vector<double> y(3);
  P.apply(x, y);
  std::cout << y[0] << ' ' << y[1] << ' ' << y[2] << '\n';

  values[0] = 8.0;  // values may change; pass them to the plan
  P.update_values(values);
  P.apply(x, y);
  std::cout << y[0] << '\n';
}
