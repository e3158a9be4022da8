#pragma once

#include <optional>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/report/run_report.hpp"

namespace elbowroom {

/// What `auto` kept and what it was worth, or that nothing helped and why: one sentence without a newline. Where the processes kept
/// the same, the least of their gains stands for all. Absent under other policies, which compare nothing, and where no process
/// used a driver.
ELBOWROOM_API std::optional<std::string> closing_line(const RunReport& report);

}  // namespace elbowroom
