#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace elbowroom::interposer {

/// Spreads handles (aligned pointers) and hashes alike over 64 bits.
constexpr std::uint64_t mix(std::uint64_t value) {
  value ^= value >> 32U;
  value *= 0x9e3779b97f4a7c15U;
  return value ^ (value >> 29U);
}
constexpr std::uint64_t combine(std::uint64_t seed, std::uint64_t value) { return mix(seed ^ (value + 0x9e3779b97f4a7c15U)); }

/// Calls `visit(place)` for each place of the set.
template <class Visit>
void for_each_bit(std::uint64_t set, Visit visit) {
  for (; set != 0; set &= set - 1) { visit(static_cast<unsigned>(std::countr_zero(set))); }
}

/// Map from a nonzero key to a value, open addressing in place. Never allocates, and refuses new keys at three quarters of its
/// capacity so that a search stays short. A zero-initialised table is empty.
template <class Value, std::size_t kCapacity>
class FixedTable {
  static_assert((kCapacity & (kCapacity - 1)) == 0, "a power of two");

 public:
  [[nodiscard]] Value* find(std::uint64_t key) {
    for (std::size_t at = home(key); entries_[at].key != 0; at = next(at)) {
      if (entries_[at].key == key) { return &entries_[at].value; }
    }
    return nullptr;
  }

  /// The value of `key`, made empty if it was absent; null when the table is full.
  [[nodiscard]] Value* obtain(std::uint64_t key) {
    std::size_t at = home(key);
    for (; entries_[at].key != 0; at = next(at)) {
      if (entries_[at].key == key) { return &entries_[at].value; }
    }
    if (size_ >= kCapacity / 4 * 3) { return nullptr; }
    ++size_;
    entries_[at].key = key;
    entries_[at].value = Value{};
    return &entries_[at].value;
  }

  /// Moves what follows back into the gap, so that no tombstone ever lengthens a search.
  void erase(std::uint64_t key) {
    std::size_t gap = home(key);
    while (entries_[gap].key != key) {
      if (entries_[gap].key == 0) { return; }
      gap = next(gap);
    }
    for (std::size_t at = next(gap); entries_[at].key != 0; at = next(at)) {
      const std::size_t distance_home = (at - home(entries_[at].key)) & (kCapacity - 1);
      if (distance_home >= ((at - gap) & (kCapacity - 1))) {
        entries_[gap] = entries_[at];
        gap = at;
      }
    }
    entries_[gap].key = 0;
    --size_;
  }

  void clear() {
    for (Entry& entry : entries_) { entry.key = 0; }
    size_ = 0;
  }

  template <class Visit>
  void for_each(Visit visit) {
    for (Entry& entry : entries_) {
      if (entry.key != 0) { visit(entry.key, entry.value); }
    }
  }

 private:
  struct Entry {
    std::uint64_t key;
    Value value;
  };

  static std::size_t home(std::uint64_t key) { return mix(key) & (kCapacity - 1); }
  static std::size_t next(std::size_t at) { return (at + 1) & (kCapacity - 1); }

  std::array<Entry, kCapacity> entries_{};
  std::size_t size_ = 0;
};

}  // namespace elbowroom::interposer
