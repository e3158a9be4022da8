#include "elbowroom/backend/variability.hpp"

#include <fmt/format.h>

#include <string_view>

namespace elbowroom {
namespace {

constexpr double kMostJitter = 20;
constexpr double kLongestOfStraggler = 100;
constexpr double kLeastShare = 0.01;

Status each_within(std::string_view option, const std::vector<OfRank>& given, int ranks, double least, double greatest) {
  for (const OfRank& one : given) {
    if (one.rank < 0 || one.rank >= ranks) {
      return invalid_input(fmt::format("{}: rank {}, expected 0 to {}", option, one.rank, ranks - 1));
    }
    // Written so that NaN is refused.
    if (!(one.value >= least && one.value <= greatest)) {
      return invalid_input(fmt::format("{}: {}={}, expected {} to {}", option, one.rank, one.value, least, greatest));
    }
  }
  return {};
}

}  // namespace

Status check(const Variability& variability, int ranks) {
  if (!(variability.jitter >= 0 && variability.jitter <= kMostJitter)) {
    return invalid_input(fmt::format("--jitter: {}, expected 0 to {} percent", variability.jitter, kMostJitter));
  }
  if (Status good = each_within("--straggler", variability.stragglers, ranks, 1, kLongestOfStraggler); !good) { return good; }
  return each_within("--slow-link", variability.slow_links, ranks, kLeastShare, 1);
}

}  // namespace elbowroom
