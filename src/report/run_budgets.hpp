#pragma once

#include <string>

#include "elbowroom/report/run_report.hpp"

namespace elbowroom::detail {

/// The process that speaks for what was kept of budgets: of those that compared the one that gained least. Null: none kept
/// anything.
const ProcessReport* budget_decider(const RunReport& report);

/// What was kept of budgets and what it was worth, or why none was compared, as an end of the closing line. Empty where there is
/// nothing to say.
std::string budgets_in_words(const RunReport& report);

/// The same of one process, for the table.
std::string budget_in_words(const ProcessReport::Trial::Budget& budget);

}  // namespace elbowroom::detail
