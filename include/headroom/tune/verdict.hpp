#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include "headroom/base/export.hpp"
#include "headroom/base/result.hpp"
#include "headroom/base/time.hpp"
#include "headroom/plan/candidates.hpp"
#include "headroom/trace/summary.hpp"

namespace headroom {

/// Fresh rounds in which a tuner's winner meets the best plain scheme, when one round takes `round`: as many as fit into half of the
/// search's `budget`, from 12 (a 95 % interval takes six) to 36.
HEADROOM_API int confirming_rounds(Microseconds round, std::chrono::duration<double> budget);

/// What is stored: the winner, or the plain scheme that it did not beat.
struct Verdict {
  Candidate chosen;
  RatioSummary ratio;  ///< winner / plain
  std::string reason;  ///< one line: "12.3 % less time than priority (11.0 to 13.1), SM split 108 + 24"
};

/// Trial i of both comes from the same round, measured after the search: times that chose a winner flatter it. The winner is kept only
/// when the whole interval of the ratio lies below 1 and it saves at least kSameTime: less does not carry over to the next machine of
/// the model. `invalid_input` as summarize_ratio().
HEADROOM_API Result<Verdict> confirm(const Candidate& winner, std::span<const Microseconds> winner_times, const Candidate& plain,
                                     std::span<const Microseconds> plain_times, std::uint64_t seed);

}  // namespace headroom
