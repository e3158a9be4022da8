#include "run_tuner.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace elbowroom {

EnvironmentChanges tuner_environment(const RunControls& controls, const std::string& library, const std::string& job) {
  const bool budgets = std::ranges::any_of(controls.comm_rules, [](const auto& rule) { return rule.first == "budget"; });
  if (!budgets) return {};
  EnvironmentChanges changes{{"NCCL_TUNER_PLUGIN", library}, {"ELBOWROOM_RUN_JOB", job}};
  // A run around this one has put its library there, and what was there before it beside it.
  const char* const before = std::getenv("NCCL_TUNER_PLUGIN");
  const bool of_another_run =
      before != nullptr && std::filesystem::path(before).filename() == std::filesystem::path(library).filename();
  if (before != nullptr && !of_another_run) changes.emplace_back("ELBOWROOM_RUN_TUNER_PLUGIN", before);
  return changes;
}

}  // namespace elbowroom
