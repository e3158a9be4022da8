#pragma once

#include <cstddef>
#include <string>

#include "elbowroom/base/export.hpp"
#include "elbowroom/report/table_width.hpp"

namespace elbowroom {

struct CaseResult;
struct Origin;
struct ResultDocument;

/// Greatest line length of the text table, so that it fits a usual wide terminal.
inline constexpr std::size_t kTableWidth = 138;

/// The lines above all tables of a run, each beginning with `#`: origin of the figures, versions, and what simulated times rest on.
ELBOWROOM_API std::string table_preamble(const Origin& origin, std::size_t width = kAnyWidth);

/// One case as plain text: `#` lines that say whether the figures are measured or simulated, the scenario, isolated times and
/// critical path; aligned columns with a row of units; `*` before the best row; refusals and notes beneath, again after `#`.
/// The rows, read without `#` lines and `*`, split at blanks. Where it is wider than `width`, columns leave, those that others
/// imply first, and a line names them.
ELBOWROOM_API std::string to_table(const CaseResult& result, const Origin& origin, std::size_t width = kAnyWidth);

/// The preamble and every case.
ELBOWROOM_API std::string to_table(const ResultDocument& document);

}  // namespace elbowroom
