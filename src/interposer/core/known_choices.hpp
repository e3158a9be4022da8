#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "interposer/core/rules.hpp"

namespace elbowroom::interposer {

/// What a repetition of collectives is known by beyond this process.
struct Repeated {
  std::string_view device;    ///< as the driver names it; empty: not known, or devices of several models
  std::uint32_t library = 0;  ///< version of the communication library; 0: not seen
  std::uint64_t sequence = 0;
};

/// What an earlier run settled for.
struct KnownArm {
  unsigned arm = 0;         ///< of the controls
  std::uint8_t blocks = 0;  ///< the budget; 0: none

  friend bool operator==(const KnownArm&, const KnownArm&) = default;
};

/// "priority, gate", "priority, gate, budget 8", "budget 8": `controls` as text_of_arm names them. Zero-terminated.
using ArmName = std::array<char, run::kLongestArm + 1>;
ArmName arm_name(const char* controls, std::uint8_t blocks);

/// The arm that an earlier run settled for, as `text` (run/choices.hpp) says it by the names of its controls. Absent where the text
/// says nothing of this repetition, and where these rules have no such arm. Of lines for the same repetition the last one counts.
std::optional<KnownArm> known_arm(std::string_view text, const Repeated& repeated, const Rules& rules);

}  // namespace elbowroom::interposer
