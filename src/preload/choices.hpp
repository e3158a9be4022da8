#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "elbowroom/report/run_report.hpp"
#include "preload/controls.hpp"
#include "preload/variables.hpp"
#include "run/rules.hpp"
#include "tune/choice_memory.hpp"

namespace elbowroom::preload {

/// What a run's choices are made under, beyond what its processes see.
struct ChoiceSurroundings {
  std::optional<std::string> driver;  ///< version; absent: not known
  std::string options;  ///< rules that change the arms or what they act on, and how the communication library is set, in one line
};
ChoiceSurroundings choice_surroundings(std::optional<std::string> driver, const run::Rules& rules, const Controls& controls,
                                       const Variables& environment);

/// Where choices are kept: elbowroom/choices.json below XDG_CACHE_HOME, or below .cache of HOME. Absent where neither is an
/// absolute path.
std::optional<std::string> choices_file(const Variables& environment);

/// Those that were made under these surroundings, as the interposer reads them.
std::string choices_text(const detail::ChoiceMemory& memory, const ChoiceSurroundings& surroundings);

/// What the processes of a run settled for. Where they settled for the same, the one that gained least says what it was worth. The
/// one that compared least says how often that was confirmed.
detail::NewChoices new_choices(std::span<const ProcessReport> processes, const ChoiceSurroundings& surroundings, std::int64_t now);

}  // namespace elbowroom::preload
