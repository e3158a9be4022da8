#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace elbowroom::run {

/// What may be changed about a program.
enum class Policy : std::uint8_t { automatic, observe, priority, gate, shape };

/// Their words, in the order of the values.
inline constexpr std::array<const char*, 5> kPolicyWords = {"auto", "observe", "priority", "gate", "shape"};

constexpr const char* text(Policy policy) { return kPolicyWords[static_cast<std::size_t>(policy)]; }

constexpr std::optional<Policy> parse_policy(std::string_view word) {
  for (std::size_t i = 0; i < kPolicyWords.size(); ++i) {
    if (word == kPolicyWords[i]) { return static_cast<Policy>(i); }
  }
  return std::nullopt;
}

}  // namespace elbowroom::run
