#include "interposer/core/durations.hpp"

#include <algorithm>
#include <limits>

namespace elbowroom::interposer {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

}  // namespace

bool DurationSamples::wants(std::uint64_t launch) const { return !converged_ && (taken_ < kFirst || launch % kEvery == 0); }

void DurationSamples::add(std::uint64_t nanoseconds) {
  samples_[taken_ % kKept] = static_cast<std::uint32_t>(std::min(nanoseconds, kMost));
  if (taken_ < kAtMost) { ++taken_; }
  const unsigned kept = std::min<unsigned>(taken_, kKept);
  std::array<std::uint32_t, kKept> sorted = samples_;
  // By insertion: in std::sort of so few g++ 13 sees accesses that are not there, and warns.
  for (unsigned i = 1; i < kept; ++i) {
    auto* const next = sorted.data() + i;
    std::rotate(std::upper_bound(sorted.data(), next, *next), next, next + 1);
  }
  median_ = sorted[(kept - 1) / 2];
  // All but one sample at each end within 15 % of the median.
  const std::uint32_t spread = kept < kEnough ? 0 : sorted[kept - 2] - sorted[1];
  converged_ = taken_ >= kAtMost || (taken_ >= kEnough && std::uint64_t{spread} * 100 <= std::uint64_t{median_} * 15);
}

}  // namespace elbowroom::interposer
