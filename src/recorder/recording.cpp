#include "recorder/recording.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace elbowroom::recorder {

void Recording::drop_before(Time time) {
  const auto ended = [time](const auto& one) { return one.end < time; };
  std::erase_if(kernels, ended);
  std::erase_if(copies, ended);
  std::erase_if(calls, ended);
  std::erase_if(waits, ended);
  std::erase_if(clocks, [time](const ClockReading& one) { return one.at < time; });
  // Marks have no time, and go with the calls that made them.
  std::uint32_t oldest = std::numeric_limits<std::uint32_t>::max();
  for (const Call& call : calls) { oldest = std::min(oldest, call.correlation); }
  std::erase_if(marks, [oldest](const EventMark& mark) { return mark.correlation < oldest; });
}

}  // namespace elbowroom::recorder
