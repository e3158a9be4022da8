#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interposer/core/table.hpp"
#include "run/durations.hpp"
#include "run/limits.hpp"

namespace elbowroom::interposer {

/// What an earlier run learned of how long launches of one kind last, by the key of the kind.
class KnownDurations {
 public:
  static constexpr std::size_t kCapacity = 4096;
  static_assert(kCapacity / 4 * 3 >= run::kMostDurations, "a table is filled to three quarters");

  void add(run::Key kind, std::uint32_t nanoseconds) {
    if (std::uint32_t* known = table_.obtain(kind)) { *known = nanoseconds; }
  }
  /// What a text says of the devices of that name, up to its first line that is wrong.
  void add(std::string_view text, std::string_view device) {
    run::DurationLines lines(text);
    while (const auto learned = lines.next()) {
      if (!device.empty() && learned->device == device) { add(learned->kind, learned->nanoseconds); }
    }
  }
  /// 0: not known.
  [[nodiscard]] std::uint32_t of(run::Key kind) {
    const std::uint32_t* known = table_.find(kind);
    return known == nullptr ? 0 : *known;
  }

 private:
  FixedTable<std::uint32_t, kCapacity> table_;
};

}  // namespace elbowroom::interposer
