#include "run_choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "base/driver_version.hpp"
#include "one_line.hpp"
#include "run/choices.hpp"
#include "run/limits.hpp"
#include "run_profile.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;
using detail::ChoiceKey;
using detail::RememberedChoice;

/// What the program's communication library finds in its environment, sorted by name.
std::map<std::string, std::string> library_settings(const RunControls& controls) {
  std::map<std::string, std::string> settings;
  const Surroundings here = own_surroundings();
  if (here.comm_library) settings.insert(here.comm_library->settings.begin(), here.comm_library->settings.end());
  for (const auto& [variable, value] : controls.comm_library) settings[variable] = value;
  return settings;
}

fs::path folder_in(const char* variable) {
  const char* const value = std::getenv(variable);
  const fs::path folder = value == nullptr ? "" : value;
  return folder.is_absolute() ? folder : fs::path();
}

std::optional<RememberedChoice> choice_of(const ProcessReport& process, const ProcessReport::Trial::Choice& made,
                                          const ChoiceSurroundings& surroundings, std::int64_t now) {
  const std::optional<run::Key> sequence = run::parse_key(made.sequence);
  const std::string device = as_line(process.device.value_or("")).substr(0, run::kLongestDeviceName);
  // A report that says something else would make a document that nobody can read.
  const bool usable =
      sequence && !device.empty() && run::is_arm(made.arm.text()) && process.activity.library.version.value_or(0) <= UINT32_MAX;
  if (!usable) return std::nullopt;
  RememberedChoice choice;
  choice.key = {device, surroundings.driver, static_cast<std::uint32_t>(process.activity.library.version.value_or(0)),
                surroundings.options, *sequence};
  choice.arm = made.arm.text();
  choice.ranks = static_cast<int>(std::min<std::int64_t>(process.activity.library.ranks, 1'000'000));
  if (!made.arm.plain()) std::tie(choice.gain, choice.low, choice.high) = std::tie(made.gain, made.low, made.high);
  choice.decisions = made.decisions;
  choice.stored_at = now;
  return choice;
}

/// What an arm was worth knows the process that compared it.
bool knows_gain(const ProcessReport& process, const ArmControls& arm) {
  const bool of_controls = process.trial.decides != Decider::another_process && !arm.has(ArmControls::budget);
  return process.trial.budget.decides == Decider::this_process || of_controls;
}

bool decides(const ProcessReport* process) {
  return process->trial.budget.decides == Decider::this_process || process->trial.decides == Decider::this_process;
}

std::vector<const ProcessReport*> deciders_first(std::span<const ProcessReport> processes) {
  std::vector<const ProcessReport*> sorted;
  for (const ProcessReport& process : processes) sorted.push_back(&process);
  std::ranges::stable_partition(sorted, &decides);
  return sorted;
}

}  // namespace

ChoiceSurroundings choice_surroundings(RunBackend backend, const run::Rules& rules, const RunControls& controls,
                                       const BudgetQuestions& budgets) {
  run::Rules that_count = rules;
  that_count.timing = that_count.trial = true;
  std::string options = run::rules_text(that_count);
  for (const auto& [variable, value] : library_settings(controls)) options += fmt::format("{}={}\n", variable, value);
  if (budgets.left_out) options += "budget off\n";
  if (!options.empty()) options.pop_back();
  std::ranges::replace(options, '\n', ';');
  return {detail::version_in(backend == RunBackend::hip ? detail::kAmdDriver : detail::kNvidiaDriver), as_line(std::move(options))};
}

std::optional<std::string> choices_file() {
  fs::path cache = folder_in("XDG_CACHE_HOME");
  if (cache.empty() && !folder_in("HOME").empty()) cache = folder_in("HOME") / ".cache";
  if (cache.empty()) return std::nullopt;
  return (cache / "elbowroom" / "choices.json").string();
}

std::string choices_text(const detail::ChoiceMemory& memory, const ChoiceSurroundings& surroundings) {
  std::vector<run::KnownChoice> known;
  for (const RememberedChoice& choice : memory.choices()) {
    if (choice.key.driver != surroundings.driver || choice.key.options != surroundings.options) continue;
    known.push_back({choice.key.device, choice.key.library, choice.key.sequence, choice.arm});
  }
  return run::choices_text(known);
}

detail::NewChoices new_choices(std::span<const ProcessReport> processes, const ChoiceSurroundings& surroundings, std::int64_t now) {
  detail::NewChoices found;
  const auto disagree = [&](const ChoiceKey& key) { return std::ranges::find(found.disagreed, key) != found.disagreed.end(); };
  for (const ProcessReport* process : deciders_first(processes)) {
    for (const ProcessReport::Trial::Choice& made : process->trial.choices) {
      std::optional<RememberedChoice> choice = choice_of(*process, made, surroundings, now);
      if (!choice || disagree(choice->key)) continue;
      const auto other = std::ranges::find(found.kept, choice->key, &RememberedChoice::key);
      if (other == found.kept.end()) {
        found.kept.push_back(*std::move(choice));
      } else if (other->arm != choice->arm) {
        found.disagreed.push_back(choice->key);
        found.kept.erase(other);
      } else {
        const std::int64_t decisions = std::min(other->decisions, choice->decisions);
        if (knows_gain(*process, made.arm) && choice->gain < other->gain) *other = *std::move(choice);
        other->decisions = decisions;
      }
    }
  }
  return found;
}

}  // namespace elbowroom
