#include "generate/read_matrix.hpp"

#include <weft/generate.hpp>

#include "io/matrix_market.hpp"
#include "store/csr_container.hpp"

namespace weft {

template <Value V>
AsStored<V> read_as_stored(const std::string& source, const ReadOptions& options) {
  if (is_generator(source)) return generate<V>(source, options.progress);
  io::FileBytes file = io::map_file(source);
  if (io::is_container(file.bytes)) {
    const io::Container container(std::move(file), source);
    container.verify(options.progress);
    return io::csr_from_container<V>(container);
  }
  file = io::unpacked(std::move(file), source);
  return io::parse_matrix_market_as_stored<V>(file.text(), source, options);
}

template <Value V>
Csr<V> read_matrix(const std::string& source, const ReadOptions& options) {
  return whole(read_as_stored<V>(source, options));
}

template <Value V>
MatrixSource<V> read_source(const std::string& source, const ReadOptions& options) {
  return std::visit([](const auto& stored) { return MatrixSource<V>(stored); }, read_as_stored<V>(source, options));
}

#define WEFT_INSTANTIATE(V)                                                        \
  template MatrixSource<V> read_source<V>(const std::string&, const ReadOptions&); \
  template AsStored<V> read_as_stored<V>(const std::string&, const ReadOptions&);  \
  template Csr<V> read_matrix<V>(const std::string&, const ReadOptions&);
WEFT_FOR_EACH_REAL(WEFT_INSTANTIATE)
#undef WEFT_INSTANTIATE

}  // namespace weft
