#pragma once
#include <weft/types.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/column_groups.hpp"

// Numbers of few bits in symbols of a fixed length, as the BRO formats store indices (Tang et al. 2013). A stream of
// numbers fills its symbols from the most significant bit on; a number may begin in one symbol and end in the next. The
// streams of several rows are interleaved by symbols: symbol j of row r stands at j * rows + r, so that neighbouring
// threads, or lanes, read neighbours.
namespace weft {

/// The bits that `number` needs: none for 0.
WEFT_HOST_DEVICE constexpr int bits_for(std::uint32_t number) {
  int bits = 0;
  for (; number != 0; number >>= 1) ++bits;
  return bits;
}

/// How many symbols so many bits fill, the last one perhaps in part.
WEFT_HOST_DEVICE constexpr Offset symbols_for(Offset bits, int symbol_bits) {
  return (bits + symbol_bits - 1) / symbol_bits;
}

/// Writes the stream of one row, symbol after symbol. A symbol has `symbol_bits` bits, at most 64, at the low end of a
/// Symbol. Bits behind the last number are 0.
template <class Symbol>
class BitWriter {
 public:
  /// `to` is the row's first symbol, `stride` the distance to its next: the number of rows.
  WEFT_HOST_DEVICE constexpr BitWriter(Symbol* to, Offset stride, int symbol_bits)
      : to_(to), stride_(stride), symbol_bits_(symbol_bits), room_(symbol_bits) {}

  /// `number` has no more than `width` bits, and width is at most symbol_bits.
  WEFT_HOST_DEVICE constexpr void put(std::uint32_t number, int width) {
    if (width > room_) {
      const int behind = width - room_;  // bits for the next symbol
      if (room_ > 0) symbol_ |= static_cast<Symbol>(static_cast<Symbol>(number) >> behind);
      flush();
      room_ -= behind;
      symbol_ = static_cast<Symbol>(static_cast<Symbol>(number) << room_);
      if (symbol_bits_ < static_cast<int>(8 * sizeof(Symbol)))
        symbol_ = static_cast<Symbol>(symbol_ & ((Symbol(1) << symbol_bits_) - 1));
      return;
    }
    if (width == 0) return;
    room_ -= width;
    symbol_ |= static_cast<Symbol>(static_cast<Symbol>(number) << room_);
  }

  /// Writes what is begun.
  WEFT_HOST_DEVICE constexpr void finish() {
    if (room_ < symbol_bits_) flush();
  }

 private:
  WEFT_HOST_DEVICE constexpr void flush() {
    *to_ = symbol_;
    to_ += stride_;
    symbol_ = 0;
    room_ = symbol_bits_;
  }

  Symbol* to_;
  Offset stride_;
  int symbol_bits_;
  int room_;
  Symbol symbol_ = 0;
};

/// Reads such a stream, never beyond the symbol that holds the last bit asked for.
template <class Symbol>
class BitReader {
 public:
  WEFT_HOST_DEVICE constexpr BitReader(const Symbol* from, Offset stride, int symbol_bits)
      : from_(from), stride_(stride), symbol_bits_(symbol_bits) {}

  WEFT_HOST_DEVICE constexpr std::uint32_t take(int width) {
    std::uint64_t number = 0;
    while (width > 0) {
      if (left_ == 0) {
        symbol_ = *from_;
        from_ += stride_;
        left_ = symbol_bits_;
      }
      const int taken = width < left_ ? width : left_;
      left_ -= taken;
      width -= taken;
      const std::uint64_t mask = taken == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << taken) - 1;
      number = (number << (taken & 63)) | ((static_cast<std::uint64_t>(symbol_) >> left_) & mask);
    }
    return static_cast<std::uint32_t>(number);
  }

 private:
  const Symbol* from_;
  Offset stride_;
  int symbol_bits_;
  int left_ = 0;
  Symbol symbol_ = 0;
};

}  // namespace weft
