#include "preload/budget_questions.hpp"

#include <strings.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "elbowroom/model/comm_environment.hpp"

namespace elbowroom::preload {
namespace {

/// As NCCL will find it; absent: nobody set it, or to nothing.
std::optional<std::string> setting(const Controls& controls, const Variables& environment, std::string_view variable) {
  return word_of(value_of(controls.comm_library, variable) ? controls.comm_library : environment, variable);
}

/// Neither NCCL's default nor its policy of copy engines, whatever else the value is.
bool may_be_efficiency(const std::string& policy) {
  std::istringstream words(policy);
  for (std::string word; std::getline(words, word, '|');) {
    const auto is = [&](const char* known) { return strcasecmp(word.c_str(), known) == 0; };
    if (!is("0") && !is("2") && !is("DEFAULT") && !is("ZERO")) { return true; }
  }
  return false;
}

std::optional<std::string> reason_to_leave_out(const Controls& controls, const std::optional<std::string>& same_bits,
                                               const Variables& environment) {
  if (controls.leaves_out("budget")) { return "--off budget"; }
  if (same_bits) { return same_bits; }
  for (const CommVariable& variable : comm_variables()) {
    if (variable.fixes != CommVariable::Fixes::blocks) { continue; }
    if (const auto value = setting(controls, environment, variable.name)) { return std::string(variable.name) + "=" + *value; }
  }
  const std::optional<std::string> policy = setting(controls, environment, kBlockPolicyVariable);
  if (!policy || !may_be_efficiency(*policy)) { return std::nullopt; }
  return std::string(kBlockPolicyVariable) + "=" + *policy;
}

}  // namespace

BudgetQuestions budget_questions(run::Policy policy, RunBackend backend, const Controls& controls,
                                 const std::optional<std::string>& same_bits, const Variables& environment) {
  if (controls.has(CommRule::budget)) { return {true}; }
  const bool compares = policy == run::Policy::automatic && !controls.leaves_out("ab");
  if (!compares || backend == RunBackend::hip) { return {}; }
  std::optional<std::string> left_out = reason_to_leave_out(controls, same_bits, environment);
  return {!left_out, std::move(left_out)};
}

Variables tuner_environment(const std::string& library, const std::string& own, bool is_one_of_ranks,
                            const Variables& environment) {
  // NCCL draws the ids of communicators at random, so ranks of two jobs with one name never meet.
  Variables changes{{std::string(kTunerPluginVariable), library}, {"ELBOWROOM_RUN_JOB", is_one_of_ranks ? "ranks" : own}};
  // A run around this one has put its library there, and what was there before it beside it.
  const std::optional<std::string> before = value_of(environment, kTunerPluginVariable);
  const bool of_another_run = before && std::filesystem::path(*before).filename() == std::filesystem::path(library).filename();
  if (before && !of_another_run) { changes.emplace_back("ELBOWROOM_RUN_TUNER_PLUGIN", *before); }
  return changes;
}

}  // namespace elbowroom::preload
