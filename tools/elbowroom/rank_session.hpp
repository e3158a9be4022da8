#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "case_options.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

/// Whether a launcher started this process as one of several. What it says in error counts as no.
bool is_one_of_ranks();

/// Does a command's work where this process is alone or is rank 0 of several. Any other rank works for rank 0 until that ends, and
/// says nothing unless it loses it. The exit code.
int in_ranks(std::string_view who, CaseOptions& options, const std::function<int()>& work);

/// Whether this process is to say what every rank would: it is the only one, or rank 0.
bool speaks_for_all();

/// What cases of so many ranks run on: what this process opens, and the other ranks' like.
Result<std::unique_ptr<Backend>> open_on_ranks(const CaseOptions& options, int needed);
/// The same for the scenario with most GPUs.
Result<std::unique_ptr<Backend>> open_on_ranks(const CaseOptions& options, const std::vector<Scenario>& scenarios);

}  // namespace elbowroom
