#pragma once
#include "core/isa.hpp"
#include "formats/bce/layout.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::bce {

const Format& format();
std::vector<Prediction> predict(const Outlook& outlook);  ///< see Format

/// A matrix in blocked ELL, with the arrays of the paper's Fig. 5 for sub-blocks (rowNo = row_numbers,
/// Ap = layout.block_rows, Aw = widths, blockPos = positions, EData = values, Offset = columns).
///
/// - row_numbers has each row once, and each piece of a long row: those of block 0, then block 1, ..., the empty rows,
///   and the rows that were cut, which are in no sub-block. In each of these groups rows ascend and pieces follow.
/// - A sub-block has `rows` = the difference of two block_rows, and t = layout.threads share a row. It is widths[s]
///   entries wide, as its longest row, rounded up to a multiple of t; all its rows have at least full_widths[s].
/// - Entry k of its row r stands at positions[s] + place_in_slice(r, k, rows, widths[s], t > 1 ? t : layout.group).
///   That is by columns, as the paper has it, for t = 1 and groups of 1; a GPU reads groups of 4 columns at once.
/// - What a row lacks is padding: column -1, value 0. So is what lies between a sub-block's end and the next position.
template <class V>
struct Storage {
  Index rows = 0;
  Layout layout;
  Array<Index> row_numbers;
  Array<Index> widths;
  Array<Index> full_widths;
  Array<Offset> positions;
  Array<Index> columns;
  Array<V> values;
};

/// The set-up on the CPU, in parallel and in linear time.
template <Value V>
Storage<V> set_up(const MatrixSource<V>& source, const Settings& settings);

/// Other values in the order of csr; `offsets` are the matrix's.
template <Value V>
void fill_values(Storage<V>& storage, const Array<Offset>& offsets, std::span<const V> csr_values);

/// What a product is made with on a device, by the user's parameters, the device and the tuning. Throws
/// Error(invalid_argument) when pieces of a row would be longer than a row that is cut.
Settings settings_for(const BuildOptions& options);

/// The parameters by which these settings, and this layout, come about on any device.
std::map<std::string, std::int64_t> numbers_of(const Layout& layout, const Settings& settings);

/// "2 blocks, widths 9 27; 30 sub-blocks, ...": a line for people.
std::string describe_layout(const Layout& layout, const Settings& settings);

/// What the kernels read, on the CPU and on a GPU. `partials` are the sums of pieces: on a CPU max_row_major_vectors
/// one after the other per piece, on a GPU max_vectors, those of vector j from j * pieces on.
template <class V>
struct View {
  Offset sub_blocks = 0;
  const Offset* block_rows = nullptr;
  const Index* widths = nullptr;
  const Index* full_widths = nullptr;
  const Index* threads = nullptr;
  const Offset* positions = nullptr;
  const Index* row_numbers = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
  Offset long_rows = 0;
  const Index* long_row_numbers = nullptr;
  const Offset* piece_starts = nullptr;
  Offset pieces = 0;
  V* partials = nullptr;
};

/// Rows of a sub-block on the CPU: a line of f64.
constexpr int cpu_lanes = 8;

/// y = alpha A x + beta y. `chunks` are the sub-blocks where hand-outs begin, chunk_count + 1 of them.
WEFT_FOR_EACH_ISA(template <class V> void multiply(const View<V>& matrix, const Offset* chunks, Offset chunk_count,
                                                   const Product<V>& product, int threads);)

}  // namespace weft::bce

WEFT_DECLARE_GPU_BUILDER(bce)

// The set-up on a GPU alone, for tests: it must give what set_up gives, bit by bit.
WEFT_DECLARE_ON_DEVICES(bce, template <Value V>::weft::bce::Storage<V> set_up(const MatrixSource<V>& source,
                                                                              const ::weft::bce::Settings& settings,
                                                                              Device device);)
