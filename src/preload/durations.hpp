#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "elbowroom/report/run_report.hpp"
#include "elbowroom/tune/profile.hpp"

namespace elbowroom::preload {

/// What a run learned: for each device and kind the mean over its processes, weighted by launches. Processes that saw no device are
/// left out.
std::vector<StoredDuration> learned_durations(std::span<const ProcessReport> processes, std::int64_t stored_at);

/// The file of run/durations.hpp: of each device the newest that the program has room for.
std::string durations_text(Profile profile);

}  // namespace elbowroom::preload
