#include "case_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/most_ranks.hpp"
#include "base/number_of.hpp"
#include "console.hpp"
#include "device_option.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "machine_option.hpp"
#include "output.hpp"

namespace elbowroom {
namespace {

constexpr int kDefaultGpus = 2;
constexpr const char* kDefaultSuite = "quick";

Status check(const CaseOptions& options) {
  if (Status timeout = check_timeout(options); !timeout) { return timeout; }
  if (options.machine) {
    if (Result<MachineSpec> machine = machine_of(*options.machine); !machine) { return machine.error(); }
  }
  const Result<std::optional<DeviceLimits>> known = described_device(options.device);
  return known ? Status() : Status(known.error());
}

/// The library names what an option holds; here it is the option.
Error of_option(const Error& error) { return {error.kind, "--" + error.message}; }

Status check_gpus(const CaseOptions& options) {
  if (!options.gpus || (*options.gpus >= 2 && *options.gpus <= kMostRanks)) { return {}; }
  return invalid_input(fmt::format("-g: {}, expected 2 to {}", *options.gpus, kMostRanks));
}

/// The document says how many ranks there are.
Status check_gpus(const CaseOptions& options, const Step& step, std::string_view file) {
  if (!options.gpus || *options.gpus == step.ranks) { return {}; }
  return invalid_input(fmt::format("-g: {}, expected {} (the ranks of {})", *options.gpus, step.ranks, file));
}

/// Real GPUs differ as they do.
Status check_variability(const CaseOptions& options, const CaseSelection& selection) {
  if (!options.variability.given()) { return {}; }
  if (options.backend != "sim") {
    return invalid_input(fmt::format("--jitter, --straggler, --slow-link: given with --backend {}, expected sim", options.backend));
  }
  int ranks = selection.step ? selection.step->ranks : kMostRanks;
  for (const Scenario& scenario : selection.scenarios) { ranks = std::min(ranks, scenario.gpus); }
  const Result<Variability> good = variability_of(options.variability, ranks);
  return good ? Status() : Status(good.error());
}

Result<CaseSelection> unchecked_cases(const CaseOptions& options) {
  if (!options.scenario_file) {
    if (Status gpus = check_gpus(options); !gpus) { return gpus.error(); }
    const std::string suite = options.suite.value_or(kDefaultSuite);
    Result<CaseSelection> cases = suite_cases(suite, options.gpus.value_or(kDefaultGpus), notices());
    return cases ? cases : Result<CaseSelection>(of_option(cases.error()));
  }
  Result<std::string> text = read_input(*options.scenario_file);
  if (!text) { return text.error(); }
  Result<Case> what = parse_case(*text, *options.scenario_file == "-" ? "standard input" : *options.scenario_file);
  if (!what) { return what.error(); }
  CaseSelection selection{{}, std::nullopt, {baselines().begin(), baselines().end()}};
  if (auto* step = std::get_if<Step>(&*what)) {
    selection.step = std::move(*step);
    return selection;
  }
  selection.scenarios.push_back(std::move(std::get<Scenario>(*what)));
  if (options.gpus) { selection.scenarios.front().gpus = *options.gpus; }
  return selection;
}

}  // namespace

Status check_timeout(const CaseOptions& options) {
  // Written so that NaN is refused.
  if (options.timeout_s >= 0.001 && options.timeout_s <= 86'400) { return {}; }
  return invalid_input(fmt::format("--timeout: {}, expected 0.001 to 86400 seconds", options.timeout_s));
}

void add_case_options(CLI::App& command, CaseOptions& options) {
  CLI::Option* suite = command.add_option("--suite", options.suite, "quick (default), paper, controls or library");
  command
      .add_option("--scenario", options.scenario_file,
                  "Instead of a suite an elbowroom.scenario/1 or elbowroom.step/1 file; - for standard input")
      ->excludes(suite);
  command.add_option("--only", options.only, "Only the cases in whose name this regular expression is found");
  command.add_option("--backend", options.backend, "auto, cuda, hip or sim")->capture_default_str();
  command.add_option("--device", options.device, "Name the devices must have, a device file for the simulator, or auto")
      ->capture_default_str();
  command.add_option("--machine", options.machine, machine_help() + "; of the simulator");
  add_variability_options(command, options.variability);
  command.add_option("-g,--gpus", options.gpus, "Number of GPUs instead of the suite's (2) or the file's");
  // The parser takes a negative number for a great one, and one that is too great for the greatest.
  const auto is_seed = [](const std::string& text) {
    return detail::number_of<std::uint64_t>(text) ? std::string() : fmt::format("'{}', expected 0 to 2^64 - 1", text);
  };
  command.add_option("--seed", options.seed, "Seed of data, of resampling and of jitter")->check(is_seed)->capture_default_str();
  command.add_option("--timeout", options.timeout_s, "Seconds after which one run is aborted")->capture_default_str();
}

Result<CaseSelection> select_cases(const CaseOptions& options) {
  if (Status checked = check(options); !checked) { return checked.error(); }
  Result<CaseSelection> selection = unchecked_cases(options);
  if (!selection) { return selection; }
  const Status gpus = selection->step ? check_gpus(options, *selection->step, *options.scenario_file) : check_gpus(options);
  if (!gpus) { return gpus.error(); }
  if (selection->step && options.only) { return invalid_input("--only: given with a step, which is one case"); }
  const Status kept = options.only ? keep_only(*options.only, selection->scenarios) : Status();
  if (!kept) { return of_option(kept.error()); }
  if (Status valid = check_cases(selection->scenarios); !valid) { return valid.error(); }
  if (Status unequal = check_variability(options, *selection); !unequal) { return unequal.error(); }
  return selection;
}

Result<CaseSelection> select_scenarios(const CaseOptions& options, std::string_view why_no_step) {
  Result<CaseSelection> selection = select_cases(options);
  if (!selection || !selection->step) { return selection; }
  return invalid_input(
      fmt::format("{}: an elbowroom.step/1 document, expected elbowroom.scenario/1 ({})", *options.scenario_file, why_no_step));
}

BackendRequest backend_request(const CaseOptions& options) {
  BackendRequest request{options.backend, options.gpus.has_value(), {}};
  request.options.device = options.device;
  if (options.machine) {
    if (Result<MachineSpec> machine = machine_of(*options.machine)) { request.options.machine = *machine; }
  }
  if (Result<std::optional<DeviceLimits>> described = described_device(options.device); described && *described) {
    request.options.device = (*described)->name;
    request.options.described = std::move(**described);
  }
  if (Result<Variability> variability = variability_of(options.variability, kMostRanks)) {
    request.options.variability = *std::move(variability);
  }
  request.options.seed = options.seed;
  request.options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options.timeout_s));
  request.options.notice = notices();
  return request;
}

}  // namespace elbowroom
