#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace headroom::preload {

enum class Policy : std::uint8_t { observe, priority, gate, shape, automatic };
/// The words of HEADROOM_RUN_POLICY: "observe", "priority", "gate", "shape", "auto". False: not one of them, `policy` is unchanged.
bool parse_policy(const char* word, Policy& policy);
const char* text(Policy policy);

/// `cap <substring of a kernel name or *> <blocks per SM>`; the first that matches a kernel counts.
struct CapRule {
  std::array<char, 128> name;  ///< zero-terminated; "*" matches every kernel
  std::uint32_t blocks_per_sm;
};

/// What HEADROOM_RUN_POLICY and the file of HEADROOM_RUN_RULES say.
struct Rules {
  static constexpr std::size_t kMaxCaps = 64;

  Policy policy = Policy::automatic;
  bool gate = true;
  bool priority = true;
  bool timing = true;
  bool trial = true;            ///< `ab off`: auto applies its controls without comparing them
  std::uint32_t sm_target = 0;  ///< 0: leave cuBLAS alone
  std::size_t cap_count = 0;
  std::array<CapRule, kMaxCaps> caps{};  // last: what every launch reads stays together
};

/// Adds the rules of a text (one a line; blank lines and lines that begin with # are skipped) to `rules`. Returns the number of the first
/// line that is not a rule, counted from 1, or 0; the lines before it count.
std::size_t parse_rules(const char* text, std::size_t size, Rules& rules);

}  // namespace headroom::preload
