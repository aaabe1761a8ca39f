#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft {

/// A growing set of bit patterns: open addressing, a slot of 0 is free, so the pattern 0 is kept aside.
class BitSet64 {
 public:
  void insert(std::uint64_t bits) {
    if (bits == 0) {
      has_zero_ = true;
      return;
    }
    std::size_t slot = slot_of(bits);
    while (slots_[slot] != 0) {
      if (slots_[slot] == bits) return;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = bits;
    if (2 * ++used_ > slots_.size()) grow();
  }

  void insert(const BitSet64& other) {
    has_zero_ |= other.has_zero_;
    for (std::uint64_t bits : other.slots_)
      if (bits != 0) insert(bits);
  }

  std::int64_t size() const { return static_cast<std::int64_t>(used_) + has_zero_; }

 private:
  std::size_t slot_of(std::uint64_t bits) const { return (bits * 0x9e3779b97f4a7c15u >> 40) & (slots_.size() - 1); }

  void grow() {
    std::vector<std::uint64_t> old(2 * slots_.size());
    old.swap(slots_);
    used_ = 0;
    for (std::uint64_t bits : old)
      if (bits != 0) insert(bits);
  }

  std::vector<std::uint64_t> slots_ = std::vector<std::uint64_t>(256);
  std::size_t used_ = 0;
  bool has_zero_ = false;
};

}  // namespace weft
