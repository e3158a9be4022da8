#include "case_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <regex>
#include <utility>

#include "console.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "output.hpp"
#include "suites.hpp"

namespace elbowroom {
namespace {

constexpr int kDefaultGpus = 2;
constexpr const char* kFallback = "sim";

#ifdef __GLIBCXX__
constexpr auto kSearch = std::regex_constants::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kSearch = std::regex_constants::ECMAScript;
#endif

/// Drops the cases in whose name `pattern` is not found.
Status keep_only(const std::string& pattern, std::vector<Scenario>& scenarios) {
  // The library's parser recurses, and its usual search may take for ever.
  constexpr std::size_t longest = 200;
  if (pattern.size() > longest) return invalid_input(fmt::format("--only: {} bytes, expected at most {}", pattern.size(), longest));
  try {
    const std::regex expression(pattern, kSearch);
    std::erase_if(scenarios, [&](const Scenario& scenario) { return !std::regex_search(scenario.name, expression); });
  } catch (const std::regex_error&) { return invalid_input(fmt::format("--only: '{}', expected a regular expression", pattern)); }
  if (scenarios.empty()) return invalid_input(fmt::format("--only: '{}', expected to be found in the name of a case", pattern));
  return {};
}

Status check(const CaseOptions& options) {
  if (options.gpus && (*options.gpus < 2 || *options.gpus > 8)) {
    return invalid_input(fmt::format("-g: {}, expected 2 to 8", *options.gpus));
  }
  // Written so that NaN is refused.
  if (!(options.timeout_s >= 0.001 && options.timeout_s <= 86'400)) {
    return invalid_input(fmt::format("--timeout: {}, expected 0.001 to 86400 seconds", options.timeout_s));
  }
  if (options.device == "auto") return {};
  const Result<DeviceLimits> known = find_device(options.device);
  return known ? Status() : Status(invalid_input(fmt::format("--device: {}", known.error().message)));
}

Result<CaseSelection> unchecked_cases(const CaseOptions& options) {
  const std::vector<Scheme> plain(baselines().begin(), baselines().end());
  if (options.scenario_file.empty()) {
    const Result<Suite> suite = find_suite(options.suite.empty() ? "quick" : options.suite);
    if (!suite) return suite.error();
    const std::vector<Scheme> schemes = suite->schemes.empty() ? plain : std::vector(suite->schemes.begin(), suite->schemes.end());
    CaseSelection selection{suite->scenarios(options.gpus.value_or(kDefaultGpus)), suite->trials, schemes};
    for (const std::string& line : share_evenly(selection.scenarios)) print_notice(line);
    return selection;
  }
  Result<std::string> text = read_file(options.scenario_file);
  if (!text) return text.error();
  Result<Scenario> scenario = parse_scenario(*text, options.scenario_file);
  if (!scenario) return scenario.error();
  if (options.gpus) scenario->gpus = *options.gpus;
  return CaseSelection{{std::move(*scenario)}, std::nullopt, plain};
}

BackendOptions backend_options(const CaseOptions& options, NoticeSink notice) {
  BackendOptions made;
  made.device = options.device;
  made.seed = options.seed;
  made.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options.timeout_s));
  made.notice = std::move(notice);
  return made;
}

}  // namespace

void add_case_options(CLI::App& command, CaseOptions& options) {
  CLI::Option* suite = command.add_option("--suite", options.suite, "quick (default), paper, controls or library");
  command.add_option("--scenario", options.scenario_file, "An elbowroom.scenario/1 file")->excludes(suite);
  command.add_option("--only", options.only, "Only the cases in whose name this regular expression is found");
  command.add_option("--backend", options.backend, "auto, cuda, hip or sim")->capture_default_str();
  command.add_option("--device", options.device, "Catalog name the devices must have, or auto")->capture_default_str();
  command.add_option("-g,--gpus", options.gpus, "Number of GPUs instead of the suite's (2) or the file's");
  // The parser takes a negative number for a great one, and one that is too great for the greatest.
  const auto is_seed = [](const std::string& text) {
    std::uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && rest == text.data() + text.size() ? std::string()
                                                                     : fmt::format("'{}', expected 0 to 2^64 - 1", text);
  };
  command.add_option("--seed", options.seed, "Seed of data and of resampling")->check(is_seed)->capture_default_str();
  command.add_option("--timeout", options.timeout_s, "Seconds after which one run is aborted")->capture_default_str();
}

Result<CaseSelection> select_cases(const CaseOptions& options) {
  if (Status checked = check(options); !checked) return checked.error();
  Result<CaseSelection> selection = unchecked_cases(options);
  if (!selection) return selection;
  if (Status kept = keep_only(options.only, selection->scenarios); !kept) return kept.error();
  for (const Scenario& scenario : selection->scenarios) {
    if (Status valid = validate(scenario); !valid) {
      return invalid_input(fmt::format("{}: {}", scenario.name, valid.error().message));
    }
  }
  return selection;
}

Result<std::unique_ptr<Backend>> open_for(const CaseOptions& options, const std::vector<Scenario>& scenarios) {
  int needed = 0;
  for (const Scenario& scenario : scenarios) needed = std::max(needed, scenario.gpus);
  // Held back, so that a backend that is not taken in the end is not announced.
  std::vector<std::string> notices;
  const auto hold = [&notices](Severity, std::string_view line) { notices.emplace_back(line); };
  Result<std::unique_ptr<Backend>> backend = open_backend(options.backend, backend_options(options, hold));
  const bool few = backend && static_cast<int>((*backend)->devices().size()) < needed;
  if (few && options.backend == "auto" && !options.gpus && (*backend)->provenance() == Provenance::measured) {
    print_notice(fmt::format("backend {}, because {} has {} of the {} GPUs that the cases need", kFallback, (*backend)->name(),
                             (*backend)->devices().size(), needed));
    return open_backend(kFallback, backend_options(options, [](Severity, std::string_view line) { print_notice(line); }));
  }
  for (const std::string& line : notices) print_notice(line);
  if (few) {
    return invalid_input(fmt::format("gpus: {}, expected at most {} (devices of backend {})", needed, (*backend)->devices().size(),
                                     (*backend)->name()));
  }
  return backend;
}

Origin origin_of(const Backend& backend, int gpus, std::uint64_t seed) {
  const DeviceInfo& device = backend.devices().front();
  return {backend.provenance(),
          std::string(backend.name()),
          {device.name, device.limits, gpus, device.memory, device.model},
          backend.versions(),
          seed};
}

}  // namespace elbowroom
