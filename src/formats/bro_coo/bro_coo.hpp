#pragma once
#include "core/isa.hpp"
#include "formats/bit_packing.hpp"
#include "formats/gpu_builder.hpp"
#include "formats/registry.hpp"

namespace weft::bro_coo {

const Format& format();

constexpr int lanes = 32;  ///< streams of an interval: a warp takes it

/// How the entries, in csr's order, are cut. Interval i holds `lanes * steps` of them; the last has fewer steps, as
/// many as its entries fill. Lane l of an interval follows its entries l * steps, l * steps + 1, ...
struct Shape {
  Offset entries = 0;
  int steps = 32;
  int symbol_bits = 32;  ///< 32 or 64

  WEFT_HOST_DEVICE constexpr Offset interval_entries() const { return static_cast<Offset>(steps) * lanes; }
  WEFT_HOST_DEVICE constexpr Offset intervals() const {
    return entries / interval_entries() + (entries % interval_entries() != 0);
  }
  WEFT_HOST_DEVICE constexpr Offset begin_of(Offset interval) const { return interval * interval_entries(); }
  /// The matrix's own entries in an interval.
  WEFT_HOST_DEVICE constexpr Offset count_in(Offset interval) const {
    const Offset left = entries - begin_of(interval);
    return left < interval_entries() ? left : interval_entries();
  }
  WEFT_HOST_DEVICE constexpr int steps_of(Offset interval) const {
    return static_cast<int>((count_in(interval) + lanes - 1) / lanes);
  }
  /// Places for columns and values: up to 31 more than there are entries, all in the last interval.
  WEFT_HOST_DEVICE constexpr Offset places() const { return (entries + lanes - 1) / lanes * lanes; }

  WEFT_HOST_DEVICE constexpr int words_per_symbol() const { return symbol_bits / 32; }
  WEFT_HOST_DEVICE constexpr Offset words_per_lane(int interval_steps, int width) const {
    return symbols_for(static_cast<Offset>(interval_steps) * width, symbol_bits) * words_per_symbol();
  }
};

constexpr int max_steps = 256;
constexpr int max_width = 31;  ///< bits per delta

/// Entries with packed row numbers. In interval i, of n steps,
/// - the column and the value of lane l's entry s are at begin_of(i) + s * lanes + l; places without an entry (padding)
///   hold column 0 and value 0 and come after the interval's last entry;
/// - row numbers are found from deltas: the distance to the row of the entry before, in csr's order; 0 for the first
///   entry of an interval, whose row is bounds[2 i], and for padding. bounds[2 i + 1] is the row of its last entry;
/// - deltas have widths[i] bits. Each lane's form a stream (bit_packing.hpp), interleaved by symbols: symbol j of
///   lane l is at words[i] + (j * lanes + l) * words_per_symbol. Bits after the last delta are 0.
template <class V>
struct Storage {
  Shape shape;
  Index rows = 0;
  Index cols = 0;
  bool has_empty_rows = false;
  Array<Index> bounds;
  Array<std::uint8_t> widths;
  Array<Offset> words;           ///< intervals + 1
  Array<std::uint32_t> symbols;  ///< one of 64 bits takes two words, as this machine stores such a number
  Array<Index> columns;
  Array<V> values;

  std::size_t bytes() const {
    return bounds.bytes() + widths.bytes() + words.bytes() + symbols.bytes() + columns.bytes() + values.bytes();
  }
};

/// Reads the stream of a lane in words of 32 bits, whatever the symbols' length: the first half of a symbol of 64 bits
/// is the higher one, which is stored after the lower.
class DeltaReader {
 public:
  /// `width` is at least 1.
  WEFT_HOST_DEVICE constexpr DeltaReader(const std::uint32_t* interval, int lane, int words_per_symbol, int width)
      : from_(interval + static_cast<Offset>(lane) * words_per_symbol), double_(words_per_symbol == 2), width_(width) {}

  WEFT_HOST_DEVICE constexpr std::uint32_t take() {
    if (left_ < width_) {
      bits_ = bits_ << 32 | next_word();
      left_ += 32;
    }
    left_ -= width_;
    return static_cast<std::uint32_t>(bits_ >> left_) & ((std::uint32_t(1) << width_) - 1);
  }

  /// After the last delta: whether all that is left of the stream's `words` is 0, given how many deltas were taken.
  constexpr bool rest_is_zero(Offset words, Offset taken) {
    bool zero = (bits_ & ((std::uint64_t(1) << left_) - 1)) == 0;
    for (Offset word = symbols_for(taken * width_, 32); word < words; ++word) zero = next_word() == 0 && zero;
    return zero;
  }

  WEFT_HOST_DEVICE constexpr std::uint32_t next_word() {
    if (!double_) {
      const std::uint32_t word = *from_;
      from_ += lanes;
      return word;
    }
    second_ = !second_;
    if (second_) return from_[1];
    const std::uint32_t word = *from_;
    from_ += 2 * lanes;
    return word;
  }

 private:
  const std::uint32_t* from_;
  bool double_;
  bool second_ = false;  // the next word is the lower half of a symbol
  int width_;
  int left_ = 0;
  std::uint64_t bits_ = 0;
};

/// Chooses what the user has left open.
Shape choose_shape(Offset entries, const BuildOptions& options);

/// The parameters that give this shape.
std::map<std::string, std::int64_t> numbers_of(const Shape& shape);

/// The encoder on the CPU: parallel over intervals.
template <Value V>
Storage<V> encode(const Csr<V>& matrix, const Shape& shape);

/// words[i] for given widths, and after the last the words there are.
Array<Offset> place_words(const Shape& shape, const Array<std::uint8_t>& widths);

/// The matrix. The sizes of the arrays agree with the shape, but nothing else is believed: throws Error(parse), with a
/// sentence for the end of a longer one, unless what `storage` holds is what `encode` makes of a canonical matrix.
template <Value V>
Csr<V> decode(const Storage<V>& storage);

/// Whether some row has no entry.
bool any_empty_row(const Array<Offset>& offsets);

/// Writes the values, in csr's order, to their places; padding is left alone.
template <Value V>
void place_values(const Shape& shape, const V* csr_values, V* values);

/// The paper's space savings: 1 - C / O, O being coo's row numbers, 4 bytes per entry, and C all that replaces them.
double space_savings(const Shape& shape, std::size_t symbol_bytes);

/// What an operator reports about itself, but for its bytes.
OperatorInfo describe(const Shape& shape, std::size_t symbol_bytes);

/// The storage as named arrays, and back. The second throws Error(parse) where sizes or widths are wrong; `decode` then
/// looks at what the arrays hold.
template <Value V>
StoredArrays to_arrays(const Storage<V>& storage);
template <Value V>
Storage<V> from_arrays(const StoredArrays& arrays, Index rows, Index cols);

/// What the CPU kernel reads. Chunks of `chunk_intervals` are summed by one thread each; the sums of a chunk's first
/// and last row go to `carries` (two times max_row_major_vectors per chunk), since neighbours may hold more of these
/// rows.
template <class V>
struct CpuMatrix {
  Offset entries = 0;
  Offset intervals = 0;
  int steps = 1;
  int words_per_symbol = 1;
  const Index* bounds = nullptr;
  const std::uint8_t* widths = nullptr;
  const Offset* words = nullptr;
  const std::uint32_t* symbols = nullptr;
  const Index* columns = nullptr;
  const V* values = nullptr;
  Offset chunk_intervals = 1;
  V* carries = nullptr;
};

/// y += alpha A x; y has been scaled by beta before.
WEFT_FOR_EACH_ISA(template <class V>
                  void multiply_add(const CpuMatrix<V>& matrix, const Product<V>& product, int threads);)

}  // namespace weft::bro_coo

WEFT_DECLARE_GPU_BUILDER(bro_coo)
WEFT_DECLARE_GPU_LOADER(bro_coo, bro_coo::Storage<V>)
// For tests: the encoder on the GPU, copied back.
WEFT_DECLARE_ON_DEVICES(bro_coo,
                        template <Value V>::weft::bro_coo::Storage<V> encode(const MatrixSource<V>& source,
                                                                             const ::weft::bro_coo::Shape& shape,
                                                                             Device device);)
