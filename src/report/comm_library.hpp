#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "elbowroom/report/run_report.hpp"
#include "model/json_members.hpp"
#include "report/json_values.hpp"

/// What a run says of the communication library: read, added up, and written in both forms.
namespace elbowroom::detail {

/// 0 in the document stands for what a process does not know.
std::optional<std::int64_t> count_if_any(JsonMembers& members, const char* name);

/// `members`: the object of a process's report; `collectives`: those that the process launched.
CommLibraryActivity comm_library_of(JsonMembers members, std::span<const CollectiveActivity> collectives);

void add(CommLibraryActivity& sum, const CommLibraryActivity& more);

OrderedJson json_of(const CommLibraryActivity& library);

/// Lines of the table; none where nothing was seen and nothing is missing.
std::string lines_of(const CommLibraryActivity& library);

}  // namespace elbowroom::detail
