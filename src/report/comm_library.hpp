#pragma once

#include <span>
#include <string>

#include "elbowroom/report/run_report.hpp"
#include "model/json_members.hpp"
#include "report/json_values.hpp"

/// What a run says of the communication library: read, added up, and written in both forms.
namespace elbowroom::detail {

/// `members`: the object of a process's report; `collectives`: those that the process launched.
CommLibraryActivity comm_library_of(JsonMembers members, std::span<const CollectiveActivity> collectives);

void add(CommLibraryActivity& sum, const CommLibraryActivity& more);

OrderedJson json_of(const CommLibraryActivity& library);

/// Lines of the table; none where nothing was seen and nothing is missing.
std::string lines_of(const CommLibraryActivity& library);

}  // namespace elbowroom::detail
