#include <weft/io.hpp>

namespace weft {

template <Value V>
void write_matrix(const std::string& path, const Csr<V>& matrix, Progress progress) {
  if (path.ends_with(".weft")) return write_weft(path, matrix, std::move(progress));
  if (path.ends_with(".mtx") || path.ends_with(".mtx.gz"))
    return write_matrix_market(path, matrix, std::move(progress));
  throw Error(ErrorCode::invalid_argument,
              "cannot tell the format to write from the name " + path + ": it must end in .mtx, .mtx.gz or .weft");
}

#define WEFT_INSTANTIATE(V) template void write_matrix<V>(const std::string&, const Csr<V>&, Progress);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
