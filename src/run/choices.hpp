#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "run/device_lines.hpp"
#include "run/keys.hpp"

namespace elbowroom::run {

/// What `auto` settled for in an earlier run, where collectives repeated one sequence.
struct KnownChoice {
  std::string_view device;    ///< as its driver names it: of one line, not empty
  std::uint32_t library = 0;  ///< the communication library's version, as it names itself (22809); 0: it was not seen
  Key sequence = 0;
  std::string_view arm;  ///< as is_arm has it: "priority, gate"

  bool operator==(const KnownChoice&) const = default;
};

/// Controls by their names: 1 to kLongestArm printable characters of ASCII, no blank at the ends.
bool is_arm(std::string_view text);

/// Below the line of its device, the sequence, the version and the arm.
std::string choices_text(std::span<const KnownChoice> choices);

/// The lines of a text, one after the other. Allocates nothing.
class ChoiceLines {
 public:
  explicit ChoiceLines(std::string_view text) : lines_(text) {}

  /// The next choice; absent behind the last one, and from the first line on that is none.
  std::optional<KnownChoice> next();
  /// The number of that line, counted from 1, or 0.
  [[nodiscard]] std::size_t wrong_line() const { return wrong_; }

 private:
  DeviceLines lines_;
  std::size_t wrong_ = 0;
};

}  // namespace elbowroom::run
