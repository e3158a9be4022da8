#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case_options.hpp"

namespace elbowroom {

struct SweepArguments {
  std::string axes;                ///< as parse_sweep reads them
  std::vector<std::string> plans;  ///< at most one, which every cell's plan holds
  std::optional<int> trials;
  std::optional<std::string> json_file;
  bool dry_run = false;
};

/// `bench --sweep`: runs every cell, prints a grid for each case, and writes an `elbowroom.sweep/1` document after each cell. A
/// document of the same grid is gone on with, one of another is refused. The value is the exit code.
int run_sweep_command(const CaseOptions& cases, const SweepArguments& arguments);

}  // namespace elbowroom
