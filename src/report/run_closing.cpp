#include "elbowroom/report/run_closing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <vector>

#include "report/run_budgets.hpp"
#include "report/symmetric_memory.hpp"

namespace elbowroom {
namespace {

using Trial = ProcessReport::Trial;

constexpr const char* kSameBits = "--same-bits";  // who gives the option knows what it does

std::int64_t collectives_of(const ProcessReport& process) {
  const auto& collectives = process.activity.collectives;
  return std::accumulate(collectives.begin(), collectives.end(), std::int64_t{0},
                         [](std::int64_t sum, const CollectiveActivity& collective) { return sum + collective.count; });
}

const Trial::Arm* find_arm(const Trial& trial, const ArmControls& controls) {
  const auto found = std::ranges::find(trial.arms, controls, &Trial::Arm::controls);
  return found == trial.arms.end() ? nullptr : &*found;
}

std::string gain_of(const Trial::Arm& arm) { return fmt::format("{:.1f} % ({:.1f}..{:.1f}, 95 %)", arm.gain, arm.low, arm.high); }

/// The library may take another algorithm for another number of SMs.
std::string bits_of(const ArmControls& arm) {
  return arm.has(ArmControls::sm_target) ? "; products with an SM target may differ in their last bits" : "";
}

// The processes of a job run in step: the one that gained least says what the job gained at least.
std::string kept(const std::vector<const Trial*>& trials) {
  const Trial::Arm* least = nullptr;
  for (const Trial* trial : trials) {
    const Trial::Arm* arm = find_arm(*trial, trial->arm);
    if (arm != nullptr && (least == nullptr || arm->gain < least->gain)) { least = arm; }
  }
  const Trial& first = *trials.front();
  const char* remembered = first.remembered == first.arm ? ", as an earlier run did" : "";
  const std::string text = fmt::format("kept '{}'{}", first.arm.text(), remembered);
  return (least == nullptr ? text : fmt::format("{}: steps take {} less", text, gain_of(*least))) + bits_of(first.arm);
}

/// No comparison has ended: what an earlier run settled for was in force.
std::string not_checked(const ArmControls& remembered, bool keeps_budget) {
  if (remembered.plain() && keeps_budget) { return "no other control helped in an earlier run, which is remembered"; }
  if (remembered.plain()) { return "nothing helped in an earlier run, which is remembered: the program ran as it is"; }
  return fmt::format("kept '{}', remembered from an earlier run: this one ended before it was checked{}", remembered.text(),
                     bits_of(remembered));
}

std::string kept_differently(const std::vector<const Trial*>& trials) {
  std::map<std::string, int> processes;
  for (const Trial* trial : trials) { ++processes[trial->arm.text()]; }
  std::string text = "processes chose differently:";
  for (const auto& [name, count] : processes) { text += fmt::format("{} '{}' in {}", text.ends_with(':') ? "" : ",", name, count); }
  const std::optional<std::string>& why = trials.front()->why_alone;
  return why ? fmt::format("{} (each for itself: {})", text, *why) : text;
}

/// The priority of a graph's nodes is set where it is instantiated: no arm can change it from one launch to the next.
constexpr const char* kInGraphs = "its collectives lie in CUDA graphs, on which no control acts once they are made";

bool collectives_lie_in_graphs(const ProcessReport& process) {
  const auto acted = [](const Trial::Arm& arm) { return !arm.controls.plain() && arm.step; };
  return process.activity.launches.graph_launches > 0 && std::ranges::none_of(process.trial.arms, acted);
}

std::string nothing_helped(const Trial& trial, bool keeps_budget) {
  std::string text = keeps_budget ? "no other control helped" : "nothing helped, the program ran as it is";
  const char* before = " (gain with ";
  for (const Trial::Arm& arm : trial.arms) {
    if (arm.controls.plain()) { continue; }
    text += fmt::format("{}'{}' {}", before, arm.controls.text(), arm.step ? gain_of(arm) : "none: it acted on nothing");
    before = ", ";
  }
  if (trial.arms.size() > 1) { text += ")"; }
  const bool given_up = trial.remembered && !trial.remembered->plain();
  return given_up ? text + fmt::format("; '{}', which an earlier run kept, was given up", trial.remembered->text()) : text;
}

std::string nothing_compared(const std::vector<const ProcessReport*>& processes) {
  std::int64_t collectives = 0;
  for (const ProcessReport* process : processes) { collectives = std::max(collectives, collectives_of(*process)); }
  constexpr const char* as_it_is = "the program ran as it is: ";
  if (collectives == 0) { return fmt::format("{}no collective was seen", as_it_is); }
  const bool repeats =
      std::ranges::any_of(processes, [](const ProcessReport* process) { return process->trial.repetition.has_value(); });
  if (!repeats) { return fmt::format("{}no repetition was found among {} collectives", as_it_is, collectives); }
  const bool given_up =
      std::ranges::any_of(processes, [](const ProcessReport* process) { return process->trial.state == TrialState::settled; });
  const char* const why = given_up ? "the times of its steps did not become known" : "it ended before a comparison did";
  return fmt::format("{}{} ({} collectives)", as_it_is, why, collectives);
}

/// Absent where no process was to compare.
std::optional<std::string> compared(const RunReport& report) {
  std::vector<const ProcessReport*> comparing;
  std::vector<const Trial*> decided;
  std::vector<const Trial*> remembering;
  for (const ProcessReport& process : report.processes) {
    if (!process.trial.state || process.trial.state == TrialState::off) { continue; }
    comparing.push_back(&process);
    if (process.trial.decisions > 0) { decided.push_back(&process.trial); }
    if (process.trial.remembered) { remembering.push_back(&process.trial); }
  }
  if (comparing.empty()) { return std::nullopt; }
  const ProcessReport* decider = detail::budget_decider(report);
  const bool keeps_budget = decider != nullptr && decider->trial.budget.kept->blocks;
  if (decided.empty() && !remembering.empty()) { return not_checked(*remembering.front()->remembered, keeps_budget); }
  if (decided.empty()) { return nothing_compared(comparing); }
  const auto same = [&](const Trial* trial) { return trial->arm == decided.front()->arm; };
  if (!std::ranges::all_of(decided, same)) { return kept_differently(decided); }
  if (!decided.front()->arm.plain()) { return kept(decided); }
  const bool graphs = std::ranges::all_of(comparing, [](const auto* process) { return collectives_lie_in_graphs(*process); });
  return nothing_helped(*decided.front(), keeps_budget) + (graphs ? std::string("; ") + kInGraphs : "");
}

std::string where_it_lies(const detail::SymmetricBuffers& part) {
  if (part.state == "waiting") { return "on ordinary memory: it ended before they were registered"; }
  if (part.state != "registered") { return "on ordinary memory: " + part.reason; }
  const std::string compared = detail::compared_in_words(part);
  return fmt::format("on symmetric memory ({} MiB), {}, sums may differ in their last bits", part.bytes >> 20,
                     compared.empty() ? "uncompared" : compared);
}

// All ranks register the same or none does: the first process that says something speaks for all.
std::string on_symmetric_memory(const std::vector<ProcessReport>& processes) {
  for (const ProcessReport& process : processes) {
    const std::vector<detail::SymmetricBuffers> parts = detail::symmetric_memory_of(process).parts;
    if (parts.empty()) { continue; }
    std::string text;
    for (const detail::SymmetricBuffers& part : parts) { text += fmt::format("; {} {}", part.what, where_it_lies(part)); }
    return text;
  }
  return {};
}

std::string on_same_bits(const std::optional<std::string>& asked_by) {
  if (!asked_by || asked_by == kSameBits) { return {}; }
  return fmt::format("; a profile's SM targets, budgets and symmetric memory were left out because of {}", *asked_by);
}

// Who asks for something that excludes budgets by name knows that it does.
std::string on_budgets(const RunReport& report) {
  const bool told = report.no_budgets && (report.no_budgets->starts_with("--") || report.no_budgets == report.same_bits);
  return told ? "" : detail::budgets_in_words(report);
}

std::string on_unseen_library(const RunReport& report) {
  const std::int64_t unseen = total_activity(report.processes).library.unseen;
  if (!report.asks_library || unseen == 0) { return {}; }
  return fmt::format("; what --set asks of NCCL did not act in {} process{}, whose NCCL cannot be seen", unseen,
                     unseen == 1 ? "" : "es");
}

}  // namespace

std::optional<std::string> closing_line(const RunReport& report) {
  if (report.policy != "auto") { return std::nullopt; }
  const std::optional<std::string> text = compared(report);
  const std::string more = on_symmetric_memory(report.processes) + on_unseen_library(report);
  if (!text && more.empty()) { return std::nullopt; }
  return (text ? *text + on_budgets(report) : "") + more + on_same_bits(report.same_bits);
}

}  // namespace elbowroom
