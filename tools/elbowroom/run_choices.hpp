#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "elbowroom/report/run_report.hpp"
#include "run/rules.hpp"
#include "run_backend.hpp"
#include "run_controls.hpp"
#include "run_tuner.hpp"
#include "tune/choice_memory.hpp"

namespace elbowroom {

/// What a run's choices are made under, beyond what its processes see.
struct ChoiceSurroundings {
  std::string driver;   ///< version; empty: not known
  std::string options;  ///< rules that change the arms or what they act on, and how the communication library is set, in one line
};
ChoiceSurroundings choice_surroundings(RunBackend backend, const run::Rules& rules, const RunControls& controls,
                                       const BudgetQuestions& budgets);

/// Where choices are kept: elbowroom/choices.json below XDG_CACHE_HOME, or below .cache of HOME. Absent where neither is an
/// absolute path.
std::optional<std::string> choices_file();

/// Those that were made under these surroundings, as the interposer reads them.
std::string choices_text(const detail::ChoiceMemory& memory, const ChoiceSurroundings& surroundings);

/// What the processes of a run settled for. Where they settled for the same, the one that gained least says what it was worth. The
/// one that compared least says how often that was confirmed.
detail::NewChoices new_choices(std::span<const ProcessReport> processes, const ChoiceSurroundings& surroundings, std::int64_t now);

}  // namespace elbowroom
