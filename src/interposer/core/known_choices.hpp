#pragma once

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

/// The arm that an earlier run settled for, as `text` (run/choices.hpp) says it by the names of its controls. Absent where the text
/// says nothing of this repetition, and where these rules have no such arm. Of lines for the same repetition the last one counts.
std::optional<unsigned> known_arm(std::string_view text, const Repeated& repeated, const Rules& rules);

}  // namespace elbowroom::interposer
