#include "report/closing_controls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "run/trial_words.hpp"

namespace elbowroom::detail {
namespace {

using Trial = ProcessReport::Trial;
using Kept = ClosingFacts::Kept;
using Bits = ClosingFacts::Bits;
using Steps = ClosingFacts::Steps;

std::int64_t collectives_of(const ProcessReport& process) {
  const auto& collectives = process.activity.collectives;
  return std::accumulate(collectives.begin(), collectives.end(), std::int64_t{0},
                         [](std::int64_t sum, const CollectiveActivity& collective) { return sum + collective.count; });
}

const Trial::Arm* find_arm(const Trial& trial, const ArmControls& controls) {
  const auto found = std::ranges::find(trial.arms, controls, &Trial::Arm::controls);
  return found == trial.arms.end() ? nullptr : &*found;
}

/// The library may take another algorithm for another number of SMs.
Bits bits_of(const ArmControls& arm) { return arm.has(ArmControls::sm_target) ? Bits::products : Bits::same; }

/// Arms of one comparison took turns.
std::optional<Steps> steps_of(const Trial& trial, const Trial::Arm& arm) {
  const auto plain = std::ranges::find_if(trial.arms, [](const Trial::Arm& one) { return one.controls.plain(); });
  if (plain == trial.arms.end() || !plain->step || !arm.step) { return std::nullopt; }
  return Steps{*plain->step, *arm.step, /*in_turns=*/true};
}

// The processes of a job run in step: the one that gained least says what the job gained at least.
Kept kept(const std::vector<const Trial*>& trials) {
  const Trial* least = nullptr;
  const auto gain = [](const Trial& trial) { return find_arm(trial, trial.arm)->gain; };
  for (const Trial* trial : trials) {
    if (find_arm(*trial, trial->arm) == nullptr) { continue; }
    if (least == nullptr || gain(*trial) < gain(*least)) { least = trial; }
  }
  const ArmControls& arm = trials.front()->arm;
  Kept kept{.what = arm.text(), .may_change = bits_of(arm)};
  if (least != nullptr) { kept.steps = steps_of(*least, *find_arm(*least, arm)); }
  if (!kept.steps) { kept.why_not_compared = "which steps gained by"; }
  return kept;
}

std::string kept_differently(const std::vector<const Trial*>& trials) {
  std::map<std::string, int> processes;
  for (const Trial* trial : trials) { ++processes[trial->arm.text()]; }
  std::vector<std::string> words;
  words.reserve(processes.size());
  for (const auto& [name, count] : processes) { words.push_back(fmt::format("'{}' in {}", name, count)); }
  return fmt::format("the processes kept {}", fmt::join(words, ", "));
}

/// The priority of a graph's nodes is set where it is instantiated: no arm can change it from one launch to the next.
bool collectives_lie_in_graphs(const ProcessReport& process) {
  const auto acted = [](const Trial::Arm& arm) { return !arm.controls.plain() && arm.step; };
  return process.activity.launches.graph_launches > 0 && std::ranges::none_of(process.trial.arms, acted);
}

/// A comparison came to its end, and the program runs best as it is.
std::vector<std::string> nothing_helped(const Trial& trial, bool in_graphs) {
  if (in_graphs) { return {"its collectives lie in CUDA graphs, on which no control acts"}; }
  std::vector<std::string> tried;
  for (const Trial::Arm& arm : trial.arms) {
    if (!arm.controls.plain()) { tried.push_back(fmt::format("'{}'", arm.controls.text())); }
  }
  std::vector<std::string> reasons{tried.empty() ? "no control gained anything"
                                                 : fmt::format("no gain by {}", fmt::join(tried, " or "))};
  if (trial.remembered && !trial.remembered->plain()) {
    reasons.push_back(fmt::format("'{}' of an earlier run was given up", trial.remembered->text()));
  }
  return reasons;
}

std::string nothing_compared(const std::vector<const ProcessReport*>& processes) {
  std::int64_t collectives = 0;
  for (const ProcessReport* process : processes) { collectives = std::max(collectives, collectives_of(*process)); }
  const auto any = [&](const auto& holds) { return std::ranges::any_of(processes, holds); };
  if (!any([](const ProcessReport* process) { return process->trial.repetition.has_value(); })) {
    return fmt::format("no repetition was found among {} collectives", collectives);
  }
  const bool given_up = any([](const ProcessReport* process) { return process->trial.state == TrialState::settled; });
  return fmt::format("{} ({} collectives)",
                     given_up ? "the times of its steps did not become known" : "it ended before a comparison did", collectives);
}

/// What `auto` kept of its arms, or why none.
void add_trials(const std::vector<const ProcessReport*>& comparing, ClosingFacts& facts) {
  std::vector<const Trial*> decided;
  std::optional<ArmControls> remembered;
  for (const ProcessReport* process : comparing) {
    if (process->trial.decisions > 0) { decided.push_back(&process->trial); }
    if (!remembered) { remembered = process->trial.remembered; }
  }
  if (decided.empty() && remembered && !remembered->plain()) {
    facts.kept.push_back({.what = remembered->text(),
                          .why_not_compared = "as an earlier run found, not checked: the program ended before",
                          .may_change = bits_of(*remembered)});
  } else if (decided.empty()) {
    facts.left_alone.push_back(remembered ? "no control gained anything in an earlier run, which is remembered"
                                          : nothing_compared(comparing));
  } else if (std::ranges::any_of(decided, [&](const Trial* trial) { return trial->arm != decided.front()->arm; })) {
    const std::optional<std::string>& why = decided.front()->why_alone;
    facts.kept.push_back({.what = kept_differently(decided), .why_not_compared = why ? "each for itself: " + *why : ""});
  } else if (!decided.front()->arm.plain()) {
    facts.kept.push_back(kept(decided));
  } else {
    const bool in_graphs = std::ranges::all_of(comparing, [](const auto* process) { return collectives_lie_in_graphs(*process); });
    for (std::string& reason : nothing_helped(*decided.front(), in_graphs)) { facts.left_alone.push_back(std::move(reason)); }
  }
}

/// A policy that compares nothing.
void add_applied(const RunReport& report, ClosingFacts& facts) {
  const AppliedControls applied = total_activity(report.processes).applied;
  const std::string policy = report.policy == "auto" ? "--off ab" : "--policy " + report.policy;
  std::vector<std::string> words;
  if (applied.priority > 0) { words.push_back(fmt::format("priority of {} collectives", applied.priority)); }
  if (applied.gate > 0) { words.push_back(fmt::format("a gate before {} launches", applied.gate)); }
  if (applied.shape > 0) { words.push_back(fmt::format("caps of {} launches", applied.shape)); }
  if (applied.sm_target > 0) { words.push_back(fmt::format("SM targets of {} products", applied.sm_target)); }
  if (words.empty()) { return facts.left_alone.push_back(fmt::format("{} found nothing to act on", policy)); }
  facts.kept.push_back({.what = fmt::format("{}: {}", policy, fmt::join(words, ", ")),
                        .why_not_compared = "not compared",
                        .may_change = applied.sm_target > 0 ? Bits::products : Bits::same});
}

}  // namespace

void add_controls(const RunReport& report, ClosingFacts& facts) {
  if (report.processes.empty()) { return; }
  std::vector<const ProcessReport*> comparing;
  std::int64_t collectives = 0;
  for (const ProcessReport& process : report.processes) {
    collectives += collectives_of(process);
    if (process.trial.state && process.trial.state != TrialState::off) { comparing.push_back(&process); }
  }
  for (const auto& [what, processes] : total_activity(report.processes).passed_through) {
    if (what != run::kContextEnded) { facts.left_alone.push_back(what); }
  }
  if (collectives == 0) { return facts.left_alone.push_back("no collective of NCCL was seen"); }
  return report.policy == "auto" && !comparing.empty() ? add_trials(comparing, facts) : add_applied(report, facts);
}

}  // namespace elbowroom::detail
