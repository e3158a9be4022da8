#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/plan/candidates.hpp"
#include "elbowroom/trace/summary.hpp"

namespace elbowroom {

/// Fresh rounds in which a tuner's finalists meet the baselines, when one round takes `round`. As many as fit into half of the
/// search's `time_limit`, from 12 to 144. A 97.5 % interval takes seven.
ELBOWROOM_API int confirming_rounds(Microseconds round, std::chrono::duration<double> time_limit);

/// A candidate and its times in the fresh rounds.
struct Finalist {
  Candidate candidate;
  std::vector<Microseconds> times;
};

/// What is stored: a finalist, or the baseline that none of them beat.
struct Verdict {
  Candidate chosen;
  Microseconds time{0};  ///< of what was chosen: its median
  RatioSummary ratio;    ///< finalist / plain, of the one that is or would have been chosen
  std::string reason;    ///< one line: "12.3 % less time than priority (11.0 to 13.1), SM split 108 + 24"
};

/// Trial i of all comes from the same round, measured after the search: times that chose a winner flatter it. A finalist is taken
/// only when the whole interval of its ratio lies below 1 and it saves at least kLeastGain. Of several such the fastest is taken.
/// The more there are, the wider the intervals: 95 % hold for all of them together, 97.5 % for each of two. `finalists` in the
/// order of the search; `invalid_input` without any, and as summarize_ratio().
ELBOWROOM_API Result<Verdict> confirm(std::span<const Finalist> finalists, const Finalist& plain, std::uint64_t seed);

}  // namespace elbowroom
