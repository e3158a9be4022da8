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

/// How long launches of a kind last on devices of one name, as an earlier run learned it.
struct LearnedDuration {
  std::string_view device;        ///< as its driver names it: of one line, not empty
  Key kind = 0;                   ///< of equal kernels, grids, blocks and sizes of data
  std::uint32_t nanoseconds = 0;  ///< above 0
};

/// A line "device NAME" begins what was learned on the devices of that name; the others are a kind and nanoseconds. Durations of
/// one device that follow each other share that line.
std::string durations_text(std::span<const LearnedDuration> durations);

/// The lines of a text, one after the other. Allocates nothing.
class DurationLines {
 public:
  explicit DurationLines(std::string_view text) : lines_(text) {}

  /// The next duration; absent behind the last one, and from the first line on that is none.
  std::optional<LearnedDuration> next();
  /// The number of that line, counted from 1, or 0.
  [[nodiscard]] std::size_t wrong_line() const { return wrong_; }

 private:
  DeviceLines lines_;
  std::size_t wrong_ = 0;
};

}  // namespace elbowroom::run
