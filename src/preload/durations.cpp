#include "preload/durations.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

#include "preload/one_line.hpp"
#include "run/durations.hpp"
#include "run/limits.hpp"

namespace elbowroom::preload {
namespace {

constexpr Microseconds kLongest{4'294'967.295};  // 32 bits of nanoseconds, as run/durations.hpp has

std::uint32_t nanoseconds(Microseconds time) {
  constexpr std::int64_t greatest = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(std::llround(time.count() * 1000), 1, greatest));
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
    const std::string device = as_line(process.device.value_or("")).substr(0, run::kLongestDeviceName);
    if (device.empty()) { continue; }
    for (const KindDuration& duration : process.durations) {
      // A report that says something else would make a profile that nobody can read.
      if (!run::parse_key(duration.kind)) { continue; }
      Sum& sum = sums[{device, duration.kind}];
      sum.kernel = duration.kernel;
      sum.weighted += duration.time.count() * static_cast<double>(duration.launches);
      sum.launches += static_cast<double>(duration.launches);
    }
  }
  std::vector<StoredDuration> learned;
  for (auto& [key, sum] : sums) {
    if (sum.launches == 0) { continue; }
    const Microseconds mean = std::min(Microseconds(sum.weighted / sum.launches), kLongest);
    learned.push_back({key.first, key.second, as_line(std::move(sum.kernel)), mean, stored_at});
  }
  return learned;
}

std::string durations_text(Profile profile) {
  profile.drop_old_durations();
  std::vector<run::LearnedDuration> learned;
  for (const StoredDuration& duration : profile.durations()) {
    if (const auto kind = run::parse_key(duration.kind)) {
      learned.push_back({duration.device, *kind, nanoseconds(duration.time)});
    }
  }
  std::ranges::stable_sort(learned, {}, &run::LearnedDuration::device);
  return run::durations_text(learned);
}

}  // namespace elbowroom::preload
