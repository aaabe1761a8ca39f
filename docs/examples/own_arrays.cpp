#include <weft/weft.hpp>

#include <iostream>
#include <vector>

int main() {
  // Entries in any order. The two at row 1, column 2 are added up.
  weft::Coo<double> entries{.rows = 3,
                            .cols = 3,
                            .row_indices = {1, 0, 1, 2, 1},
                            .column_indices = {2, 0, 2, 2, 1},
                            .values = {1.5, 4.0, 0.5, 6.0, 5.0}};
  const weft::Csr<double> A = weft::to_csr(entries);
  std::cout << A.nonzeros() << " nonzeros\n";

  // An index out of range is refused, with a sentence that names the entry.
  entries.column_indices[0] = 7;
  try {
    weft::to_csr(entries);
    return 1;
  } catch (const weft::Error& error) {
    std::cout << error.what() << '\n';
  }
}
