#include "elbowroom/report/run_closing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "report/symmetric_memory.hpp"

namespace elbowroom {
namespace {

using Trial = ProcessReport::Trial;

constexpr const char* kPlain = "plain";

std::int64_t collectives_of(const ProcessReport& process) {
  const auto& collectives = process.activity.collectives;
  return std::accumulate(collectives.begin(), collectives.end(), std::int64_t{0},
                         [](std::int64_t sum, const CollectiveActivity& collective) { return sum + collective.count; });
}

const Trial::Arm* find_arm(const Trial& trial, const std::string& name) {
  const auto found = std::ranges::find(trial.arms, name, &Trial::Arm::name);
  return found == trial.arms.end() ? nullptr : &*found;
}

std::string gain_of(const Trial::Arm& arm) { return fmt::format("{:.1f} % ({:.1f}..{:.1f}, 95 %)", arm.gain, arm.low, arm.high); }

// The processes of a job run in step: the one that gained least says what the job gained at least.
std::string kept(const std::vector<const Trial*>& trials) {
  const Trial::Arm* least = nullptr;
  for (const Trial* trial : trials) {
    const Trial::Arm* arm = find_arm(*trial, trial->arm);
    if (arm != nullptr && (least == nullptr || arm->gain < least->gain)) least = arm;
  }
  const std::string& name = trials.front()->arm;
  return least == nullptr ? fmt::format("kept '{}'", name) : fmt::format("kept '{}': steps take {} less", name, gain_of(*least));
}

std::string kept_differently(const std::vector<const Trial*>& trials) {
  std::map<std::string, int> processes;
  for (const Trial* trial : trials) ++processes[trial->arm];
  std::string text = "processes chose differently:";
  for (const auto& [name, count] : processes) text += fmt::format("{} '{}' in {}", text.ends_with(':') ? "" : ",", name, count);
  return text;
}

std::string nothing_helped(const Trial& trial) {
  std::string text = "nothing helped, the program ran as it is";
  const char* before = " (gain with ";
  for (const Trial::Arm& arm : trial.arms) {
    if (arm.name == kPlain) continue;
    text += fmt::format("{}'{}' {}", before, arm.name, gain_of(arm));
    before = ", ";
  }
  return trial.arms.size() > 1 ? text + ")" : text;
}

std::string nothing_compared(const std::vector<const ProcessReport*>& processes) {
  std::int64_t collectives = 0;
  for (const ProcessReport* process : processes) collectives = std::max(collectives, collectives_of(*process));
  constexpr const char* as_it_is = "the program ran as it is: ";
  if (collectives == 0) return fmt::format("{}no collective was seen", as_it_is);
  const bool repeats = std::ranges::any_of(processes, [](const ProcessReport* process) { return process->trial.repetition > 0; });
  if (!repeats) return fmt::format("{}no repetition was found among {} collectives", as_it_is, collectives);
  return fmt::format("{}it ended before a comparison did ({} collectives)", as_it_is, collectives);
}

std::string compared(const RunReport& report) {
  std::vector<const ProcessReport*> comparing;
  std::vector<const Trial*> decided;
  for (const ProcessReport& process : report.processes) {
    if (process.trial.state.empty() || process.trial.state == "off") continue;
    comparing.push_back(&process);
    if (process.trial.decisions > 0) decided.push_back(&process.trial);
  }
  if (comparing.empty()) return {};
  if (decided.empty()) return nothing_compared(comparing);
  const auto same = [&](const Trial* trial) { return trial->arm == decided.front()->arm; };
  if (!std::ranges::all_of(decided, same)) return kept_differently(decided);
  return decided.front()->arm == kPlain ? nothing_helped(*decided.front()) : kept(decided);
}

std::string where_it_lies(const detail::SymmetricBuffers& part) {
  if (part.state == "waiting") return "on ordinary memory: it ended before they were registered";
  if (part.state != "registered") return "on ordinary memory: " + part.reason;
  const std::string compared = detail::compared_in_words(part);
  return fmt::format("on symmetric memory ({} MiB), {}", part.bytes >> 20, compared.empty() ? "uncompared" : compared);
}

// All ranks register the same or none does: the first process that says something speaks for all.
std::string on_symmetric_memory(const std::vector<ProcessReport>& processes) {
  for (const ProcessReport& process : processes) {
    const std::vector<detail::SymmetricBuffers> parts = detail::symmetric_memory_of(process).parts;
    if (parts.empty()) continue;
    std::string text;
    for (const detail::SymmetricBuffers& part : parts) text += fmt::format("; {} {}", part.what, where_it_lies(part));
    return text;
  }
  return {};
}

}  // namespace

std::string closing_line(const RunReport& report) {
  return report.policy == "auto" ? compared(report) + on_symmetric_memory(report.processes) : std::string();
}

}  // namespace elbowroom
