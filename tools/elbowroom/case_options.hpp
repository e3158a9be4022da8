#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/cases.hpp"
#include "ranks/hub.hpp"
#include "variability_option.hpp"

namespace elbowroom {

/// Which cases to run and on what, as `bench` and `tune` take it from the command line.
struct CaseOptions {
  std::optional<std::string> suite;
  std::optional<std::string> scenario_file;
  std::optional<std::string> only;
  std::string backend = "auto";
  std::string device = "auto";
  std::optional<std::string> machine;
  std::optional<int> gpus;
  VariabilityOption variability;
  std::uint64_t seed = 1;
  double timeout_s = 120;
  ranks::Hub* hub = nullptr;  ///< the other processes of this run; null: there are none
};

/// Adds the options to a command that keeps `options` alive.
void add_case_options(CLI::App& command, CaseOptions& options);

/// The range of --timeout.
Status check_timeout(const CaseOptions& options);

/// All valid. `invalid_input` in one line that names the option or the file.
Result<CaseSelection> select_cases(const CaseOptions& options);

/// The same for commands that take no step.
Result<CaseSelection> select_scenarios(const CaseOptions& options, std::string_view why_no_step);

/// Notices go to standard error. `options` were found good by select_cases().
BackendRequest backend_request(const CaseOptions& options);

}  // namespace elbowroom
