#include "run_tuner.hpp"

#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "elbowroom/model/comm_environment.hpp"
#include "rank_session.hpp"

namespace elbowroom {
namespace {

/// As NCCL will find it; absent: nobody set it, or to nothing.
std::optional<std::string> setting(const RunControls& controls, std::string_view variable) {
  const auto own = std::ranges::find(controls.comm_library, variable, &std::pair<std::string, std::string>::first);
  const char* const value = own != controls.comm_library.end() ? own->second.c_str() : std::getenv(std::string(variable).c_str());
  return value == nullptr || *value == '\0' ? std::nullopt : std::optional<std::string>(value);
}

/// Neither NCCL's default nor its policy of copy engines, whatever else the value is.
bool may_be_efficiency(const std::string& policy) {
  std::istringstream words(policy);
  for (std::string word; std::getline(words, word, '|');) {
    const auto is = [&](const char* known) { return strcasecmp(word.c_str(), known) == 0; };
    if (!is("0") && !is("2") && !is("DEFAULT") && !is("ZERO")) return true;
  }
  return false;
}

std::optional<std::string> reason_to_leave_out(const RunControls& controls, const std::optional<std::string>& same_bits) {
  if (std::ranges::find(controls.off, "budget") != controls.off.end()) return "--off budget";
  if (same_bits) return same_bits;
  for (const CommVariable& variable : comm_variables()) {
    if (variable.fixes != CommVariable::Fixes::blocks) continue;
    if (const std::optional<std::string> value = setting(controls, variable.name)) return std::string(variable.name) + "=" + *value;
  }
  const std::optional<std::string> policy = setting(controls, kBlockPolicyVariable);
  if (!policy || !may_be_efficiency(*policy)) return std::nullopt;
  return std::string(kBlockPolicyVariable) + "=" + *policy;
}

/// NCCL draws the ids of communicators at random, so ranks of two jobs with one name never meet.
std::string job_of(const std::string& own) { return is_one_of_ranks() ? "ranks" : own; }

}  // namespace

BudgetQuestions budget_questions(run::Policy policy, RunBackend backend, const RunControls& controls,
                                 const std::optional<std::string>& same_bits) {
  if (std::ranges::any_of(controls.comm_rules, [](const auto& rule) { return rule.first == "budget"; })) return {true};
  const bool compares = policy == run::Policy::automatic && std::ranges::find(controls.off, "ab") == controls.off.end();
  if (!compares || backend == RunBackend::hip) return {};
  std::optional<std::string> left_out = reason_to_leave_out(controls, same_bits);
  return {!left_out, std::move(left_out)};
}

EnvironmentChanges tuner_environment(const std::string& library, const std::string& own) {
  EnvironmentChanges changes{{std::string(kTunerPluginVariable), library}, {"ELBOWROOM_RUN_JOB", job_of(own)}};
  // A run around this one has put its library there, and what was there before it beside it.
  const char* const before = std::getenv(std::string(kTunerPluginVariable).c_str());
  const bool of_another_run =
      before != nullptr && std::filesystem::path(before).filename() == std::filesystem::path(library).filename();
  if (before != nullptr && !of_another_run) changes.emplace_back("ELBOWROOM_RUN_TUNER_PLUGIN", before);
  return changes;
}

}  // namespace elbowroom
