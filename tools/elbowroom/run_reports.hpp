#pragma once

#include <chrono>
#include <filesystem>

#include "elbowroom/report/run_report.hpp"
#include "run_request.hpp"

namespace elbowroom {

/// What the processes of a command left in `folder`, and what of the request a report says. `unseen_because` and energy are the
/// caller's.
RunReport read_reports(const std::filesystem::path& folder, const RunRequest& request);

}  // namespace elbowroom
