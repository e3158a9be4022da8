#include "run_durations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace elbowroom {
namespace {

constexpr Microseconds kLongest{4'294'967.295};  // the interposer's 32 bits of nanoseconds

/// A profile holds lines of text; a kernel's name can hold anything.
std::string as_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return text;
}

std::int64_t nanoseconds(Microseconds time) {
  constexpr std::int64_t greatest = std::numeric_limits<std::uint32_t>::max();
  return std::clamp<std::int64_t>(std::llround(time.count() * 1000), 1, greatest);
}

struct Sum {
  std::string kernel;
  double weighted = 0;
  double launches = 0;
};

}  // namespace

std::vector<StoredDuration> learned_durations(std::span<const ProcessReport> processes, std::int64_t stored_at) {
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (const ProcessReport& process : processes) {
    const std::string device = as_line(process.device).substr(0, kLongestDeviceName);
    if (device.empty()) continue;
    for (const KindDuration& duration : process.durations) {
      // A report that says something else would make a profile that nobody can read.
      if (!is_launch_kind(duration.kind)) continue;
      Sum& sum = sums[{device, duration.kind}];
      sum.kernel = duration.kernel;
      sum.weighted += duration.time.count() * static_cast<double>(duration.launches);
      sum.launches += static_cast<double>(duration.launches);
    }
  }
  std::vector<StoredDuration> learned;
  for (auto& [key, sum] : sums) {
    if (sum.launches == 0) continue;
    const Microseconds mean = std::min(Microseconds(sum.weighted / sum.launches), kLongest);
    learned.push_back({key.first, key.second, as_line(std::move(sum.kernel)), mean, stored_at});
  }
  return learned;
}

std::string durations_text(Profile profile) {
  profile.drop_old_durations();
  std::map<std::string, std::string> by_device;
  for (const StoredDuration& duration : profile.durations()) {
    by_device[duration.device] += fmt::format("{} {}\n", duration.kind, nanoseconds(duration.time));
  }
  std::string text;
  for (const auto& [device, lines] : by_device) text += fmt::format("device {}\n{}", device, lines);
  return text;
}

}  // namespace elbowroom
