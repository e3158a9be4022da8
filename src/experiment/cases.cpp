#include "elbowroom/experiment/cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

#include "elbowroom/experiment/suites.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/scheme.hpp"

namespace elbowroom {
namespace {

constexpr const char* kFallback = "sim";

#ifdef __GLIBCXX__
constexpr auto kSearch = std::regex_constants::ECMAScript | std::regex_constants::__polynomial;
#else
constexpr auto kSearch = std::regex_constants::ECMAScript;
#endif

void tell(const NoticeSink& notice, std::string_view line) {
  if (notice) { notice(line); }
}

void tell_of_row(const Backend& backend, const NoticeSink& notice) {
  const Result<Capabilities> can = backend.capabilities();
  if (!can || !can->comm_release) { return; }
  if (const std::optional<std::string> note = note_on_release(*can->comm_release)) { tell(notice, *note); }
}

}  // namespace

Result<CaseSelection> suite_cases(std::string_view name, int gpus, const NoticeSink& notice) {
  const Result<Suite> suite = find_suite(name);
  if (!suite) { return suite.error(); }
  const std::span<const Scheme> schemes = suite->schemes.empty() ? baselines() : suite->schemes;
  CaseSelection selection{suite->scenarios(gpus), suite->trials, {schemes.begin(), schemes.end()}, std::nullopt};
  for (const std::string& line : share_evenly(selection.scenarios)) { tell(notice, line); }
  return selection;
}

Status keep_only(const std::string& pattern, std::vector<Scenario>& scenarios) {
  // The library's parser recurses, and its usual search may take for ever.
  constexpr std::size_t longest = 200;
  if (pattern.size() > longest) {
    return invalid_input(fmt::format("only: {} bytes, expected at most {}", pattern.size(), longest));
  }
  try {
    const std::regex expression(pattern, kSearch);
    std::erase_if(scenarios, [&](const Scenario& scenario) { return !std::regex_search(scenario.name, expression); });
  } catch (const std::regex_error&) { return invalid_input(fmt::format("only: '{}', expected a regular expression", pattern)); }
  if (scenarios.empty()) { return invalid_input(fmt::format("only: '{}', expected to be found in the name of a case", pattern)); }
  return {};
}

Status check_cases(const std::vector<Scenario>& scenarios) {
  for (const Scenario& scenario : scenarios) {
    const Status valid = validate(scenario);
    if (!valid) { return invalid_input(fmt::format("{}: {}", scenario.name, valid.error().message)); }
  }
  return {};
}

std::vector<Case> cases_of(CaseSelection selection) {
  std::vector<Case> cases;
  cases.reserve(selection.scenarios.size() + 1);
  for (Scenario& scenario : selection.scenarios) { cases.emplace_back(std::move(scenario)); }
  if (selection.step) { cases.emplace_back(*std::move(selection.step)); }
  return cases;
}

int most_ranks(std::span<const Case> cases) {
  int most = 0;
  for (const Case& what : cases) { most = std::max(most, ranks_of(what)); }
  return most;
}

Result<std::unique_ptr<Backend>> open_for(const BackendRequest& request, const std::vector<Scenario>& scenarios) {
  int needed = 0;
  for (const Scenario& scenario : scenarios) { needed = std::max(needed, scenario.gpus); }
  return open_for(request, needed);
}

Result<std::unique_ptr<Backend>> open_for(const BackendRequest& request, int needed) {
  // Held back, so that a backend that is not taken in the end is not announced.
  std::vector<std::string> notices;
  BackendOptions held = request.options;
  held.notice = [&notices](std::string_view line) { notices.emplace_back(line); };
  Result<std::unique_ptr<Backend>> backend = open_backend(request.backend, held);
  // What a process that drives one rank alone opens is not all that there is.
  const bool alone = backend && (!held.own_rank || (*backend)->provenance() == Provenance::simulated);
  const bool few = alone && static_cast<int>((*backend)->devices().size()) < needed;
  const NoticeSink& notice = request.options.notice;
  if (few && request.backend == "auto" && !request.fixed_gpus && (*backend)->provenance() == Provenance::measured) {
    tell(notice, fmt::format("backend {}, because {} has {} of the {} GPUs that the cases need", kFallback, (*backend)->name(),
                             (*backend)->devices().size(), needed));
    return open_backend(kFallback, request.options);
  }
  for (const std::string& line : notices) {
    if (notice) { notice(line); }
  }
  if (few) {
    return invalid_input(fmt::format("gpus: {}, expected at most {} (devices of backend {})", needed, (*backend)->devices().size(),
                                     (*backend)->name()));
  }
  if (backend) { tell_of_row(**backend, notice); }
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
