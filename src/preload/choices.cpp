#include "preload/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "elbowroom/tune/profile_key.hpp"
#include "preload/one_line.hpp"
#include "run/choices.hpp"
#include "run/limits.hpp"

namespace elbowroom::preload {
namespace {

namespace fs = std::filesystem;
using detail::ChoiceKey;
using detail::RememberedChoice;

/// What the program's communication library finds in its environment, sorted by name.
std::map<std::string, std::string> library_settings(const Controls& controls, const Variables& environment) {
  const Variables own = comm_settings(environment);
  std::map<std::string, std::string> settings(own.begin(), own.end());
  for (const auto& [variable, value] : controls.comm_library) { settings[variable] = value; }
  return settings;
}

std::optional<fs::path> folder_in(const Variables& environment, std::string_view variable) {
  const fs::path folder = value_of(environment, variable).value_or("");
  return folder.is_absolute() ? std::optional(folder) : std::nullopt;
}

std::optional<RememberedChoice> choice_of(const ProcessReport& process, const ProcessReport::Trial::Choice& made,
                                          const ChoiceSurroundings& surroundings, std::int64_t now) {
  const std::optional<run::Key> sequence = run::parse_key(made.sequence);
  const std::string device = as_line(process.device.value_or("")).substr(0, run::kLongestDeviceName);
  // A report that says something else would make a document that nobody can read.
  const bool usable =
      sequence && !device.empty() && run::is_arm(made.arm.text()) && process.activity.library.version.value_or(0) <= UINT32_MAX;
  if (!usable) { return std::nullopt; }
  RememberedChoice choice;
  choice.key = {device, surroundings.driver.value_or(""), static_cast<std::uint32_t>(process.activity.library.version.value_or(0)),
                surroundings.options, *sequence};
  choice.arm = made.arm.text();
  choice.ranks = static_cast<int>(std::min<std::int64_t>(process.activity.library.ranks.value_or(0), 1'000'000));
  if (!made.arm.plain()) { std::tie(choice.gain, choice.low, choice.high) = std::tie(made.gain, made.low, made.high); }
  choice.decisions = made.decisions.value_or(0);
  choice.stored_at = now;
  return choice;
}

/// What an arm was worth knows the process that compared it.
bool knows_gain(const ProcessReport& process) { return process.trial.decides != Decider::another_process; }

bool decides(const ProcessReport* process) { return process->trial.decides == Decider::this_process; }

std::vector<const ProcessReport*> deciders_first(std::span<const ProcessReport> processes) {
  std::vector<const ProcessReport*> sorted;
  for (const ProcessReport& process : processes) { sorted.push_back(&process); }
  std::ranges::stable_partition(sorted, &decides);
  return sorted;
}

}  // namespace

ChoiceSurroundings choice_surroundings(std::optional<std::string> driver, const run::Rules& rules, const Controls& controls,
                                       const Variables& environment) {
  run::Rules that_count = rules;
  that_count.trial = true;
  std::string options = run::rules_text(that_count);
  for (const auto& [variable, value] : library_settings(controls, environment)) {
    options += fmt::format("{}={}\n", variable, value);
  }
  if (!options.empty()) { options.pop_back(); }
  std::ranges::replace(options, '\n', ';');
  return {std::move(driver), as_line(std::move(options))};
}

std::optional<std::string> choices_file(const Variables& environment) {
  std::optional<fs::path> cache = folder_in(environment, "XDG_CACHE_HOME");
  const std::optional<fs::path> home = folder_in(environment, "HOME");
  if (!cache && home) { cache = *home / ".cache"; }
  return cache ? std::optional((*cache / "elbowroom" / "choices.json").string()) : std::nullopt;
}

std::string choices_text(const detail::ChoiceMemory& memory, const ChoiceSurroundings& surroundings) {
  std::vector<run::KnownChoice> known;
  for (const RememberedChoice& choice : memory.choices()) {
    if (choice.key.driver != surroundings.driver.value_or("") || choice.key.options != surroundings.options) { continue; }
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
      if (!choice || disagree(choice->key)) { continue; }
      const auto other = std::ranges::find(found.kept, choice->key, &RememberedChoice::key);
      if (other == found.kept.end()) {
        found.kept.push_back(*std::move(choice));
      } else if (other->arm != choice->arm) {
        found.disagreed.push_back(choice->key);
        found.kept.erase(other);
      } else {
        const std::int64_t decisions = std::min(other->decisions, choice->decisions);
        if (knows_gain(*process) && choice->gain < other->gain) { *other = *std::move(choice); }
        other->decisions = decisions;
      }
    }
  }
  return found;
}

}  // namespace elbowroom::preload
