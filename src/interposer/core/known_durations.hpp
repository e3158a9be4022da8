#pragma once

#include <cstddef>
#include <cstdint>

#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

/// What an earlier run learned of how long launches of one kind last, by the key of the kind.
class KnownDurations {
 public:
  static constexpr std::size_t kCapacity = 4096;  ///< of which three quarters are used: kMostDurations of tune/profile.hpp

  void add(std::uint64_t kind, std::uint32_t nanoseconds) {
    if (std::uint32_t* known = table_.obtain(kind)) { *known = nanoseconds; }
  }
  /// 0: not known.
  [[nodiscard]] std::uint32_t of(std::uint64_t kind) {
    const std::uint32_t* known = table_.find(kind);
    return known == nullptr ? 0 : *known;
  }

 private:
  FixedTable<std::uint32_t, kCapacity> table_;
};

/// Adds what a text says of one device. A line "device NAME" begins what was learned on the devices of that name; the others are the key
/// of a kind, sixteen hexadecimal digits, and nanoseconds. Returns the number of the first line that is neither, counted from 1, or 0; the
/// lines before it count.
std::size_t parse_durations(const char* text, std::size_t size, const char* device, KnownDurations& known);

}  // namespace elbowroom::interposer
