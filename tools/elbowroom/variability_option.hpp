#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "elbowroom/backend/variability.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// How simulated GPUs differ, as the command line says it.
struct VariabilityOption {
  double jitter = 0;
  std::vector<std::string> stragglers;  ///< "RANK=FACTOR"
  std::vector<std::string> slow_links;  ///< "RANK=SHARE"

  [[nodiscard]] bool given() const { return jitter != 0 || !stragglers.empty() || !slow_links.empty(); }
};

void add_variability_options(CLI::App& command, VariabilityOption& option);

/// In range for a step of so many ranks. `invalid_input` in one line that begins with the option.
Result<Variability> variability_of(const VariabilityOption& option, int ranks);

}  // namespace elbowroom
