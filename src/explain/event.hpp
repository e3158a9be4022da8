#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/trace.hpp"

namespace elbowroom::explain {

/// One event as Kineto writes it. Texts are views of EventParser's buffer; empty: absent. Numbers stand as they were written.
struct Event {
  std::string_view phase, category, name, process, thread;
  std::string_view ts, duration;
  std::string_view correlation, device, stream, bytes;
  std::string_view registers, shared;
  std::array<std::string_view, 3> grid, block;
  std::string_view collective, in_elements, out_elements, dtype, group_size, group, ranks, in_split, sequence;
  std::string_view wait_on_stream, wait_on_correlation;
  std::string_view sm_mhz, most_mhz, at_power_limit;
  std::string_view first_type;                 ///< of "Input type"
  std::optional<std::int64_t> first_elements;  ///< of the first tensor of "Input Dims"
};

/// Microseconds as JSON has them, "1365627949869.794", to the nanosecond; absent where it is no number or does not fit.
std::optional<Time> time_of(std::string_view text);

/// The whole number that the text is, or that a number with a fraction of zeroes is; absent otherwise.
std::optional<std::int64_t> whole_of(std::string_view text);

/// Takes one event at a time, so that a million events need no memory of their own.
class EventParser {
 public:
  /// The event, or nullptr where the text is no JSON object even after what Kineto is known to write wrongly was mended: `inf` and
  /// `nan` as numbers, control characters and lone backslashes in strings. Valid until the next call.
  const Event* parse(std::string_view text);

 private:
  bool parse_buffer();

  std::vector<char> buffer_;
  Event event_;
};

/// A JSON array of objects or one object as flat pairs of a path and a text: "[0].name". For members beside the events, which are
/// few.
struct FlatMember {
  std::string path;
  std::string value;
};
std::vector<FlatMember> flat_members(std::string_view text);

}  // namespace elbowroom::explain
