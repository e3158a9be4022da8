#pragma once

#include <cstdint>
#include <span>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "experiment/case_entries.hpp"

namespace elbowroom::detail {

/// Writes what was seen of a case's schedules into the measurement: times alone, yardsticks, a result and a timeline for each
/// schedule. `entries` have their times, and their recordings where the measurement has no reason why not.
Status write_results(const Backend& backend, CaseTrials& trials, std::span<const CaseEntry> entries, std::uint64_t seed,
                     CaseMeasurement& measurement);

}  // namespace elbowroom::detail
