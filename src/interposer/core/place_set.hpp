#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

/// Sixty-four places for waits for the host that are under way. A place that becomes free is used again, so a mask of places is
/// only meaningful with the sequence number at which it was written: `valid` drops the bits that meant something older.
class PlaceSet {
 public:
  static constexpr unsigned kNone = 64;
  /// Takes a free place; kNone where there is none. Places are taken in turn.
  unsigned take(std::uint64_t sequence) {
    if (live_ == ~std::uint64_t{0}) { return kNone; }
    const unsigned place = (next_ + static_cast<unsigned>(std::countr_one(std::rotr(live_, static_cast<int>(next_))))) % 64;
    next_ = (place + 1) % 64;
    live_ |= bit_at(place);
    renew(place, sequence);
    return place;
  }
  void renew(unsigned place, std::uint64_t sequence) { born_[place] = newest_ = sequence; }
  void release(std::uint64_t mask) { live_ &= ~mask; }
  [[nodiscard]] std::uint64_t live() const { return live_; }
  [[nodiscard]] std::uint64_t valid(std::uint64_t mask, std::uint64_t as_of) const {
    mask &= live_;
    if (as_of >= newest_) { return mask; }
    return drop_younger(mask, as_of);
  }

 private:
  [[nodiscard]] std::uint64_t drop_younger(std::uint64_t mask, std::uint64_t as_of) const {
    for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto place = static_cast<unsigned>(std::countr_zero(rest));
      if (born_[place] > as_of) { mask &= ~bit_at(place); }
    }
    return mask;
  }

  std::uint64_t live_ = 0;
  unsigned next_ = 0;
  std::uint64_t newest_ = 0;
  std::array<std::uint64_t, 64> born_{};
};

}  // namespace elbowroom::interposer
