#pragma once

#include <string>

#include "child_process.hpp"
#include "run_controls.hpp"

namespace elbowroom {

/// The environment that makes NCCL ask the preloaded library about each collective, where the controls have a budget for it: the library as
/// NCCL's tuner plugin, what the plugin was before, and the name of this job, by which its ranks find each other. Empty without a budget.
EnvironmentChanges tuner_environment(const RunControls& controls, const std::string& library, const std::string& job);

}  // namespace elbowroom
