#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "elbowroom/report/origin.hpp"

namespace elbowroom {

/// Which cases to run and on what, as `bench` and `tune` take it from the command line.
struct CaseOptions {
  std::string suite;
  std::string scenario_file;
  std::string only;
  std::string backend = "auto";
  std::string device = "auto";
  std::optional<int> gpus;
  std::uint64_t seed = 1;
  double timeout_s = 120;
};

/// Adds the options to a command that keeps `options` alive.
void add_case_options(CLI::App& command, CaseOptions& options);

struct CaseSelection {
  std::vector<Scenario> scenarios;  ///< at least one, all valid
  std::optional<int> trials;        ///< what the suite asks for
  std::vector<Scheme> schemes;      ///< the suite's; the baselines where it names none
};

/// `invalid_input` in one line that names the option or the file.
Result<CaseSelection> select_cases(const CaseOptions& options);

/// Opens the backend on at least as many devices as the cases need. Where neither a backend nor a number of GPUs was asked for and the
/// GPUs here are too few, the simulator takes their place, with one notice that says so.
Result<std::unique_ptr<Backend>> open_for(const CaseOptions& options, const std::vector<Scenario>& scenarios);

Origin origin_of(const Backend& backend, int gpus, std::uint64_t seed);

}  // namespace elbowroom
