#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/case.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/report/origin.hpp"

namespace elbowroom {

enum class Scheme;

struct CaseSelection {
  std::vector<Scenario> scenarios;          ///< at least one, unless there is a step
  std::optional<int> trials;                ///< what the suite asks for
  std::vector<Scheme> schemes;              ///< the suite's; the baselines where it names none
  std::optional<Step> step = std::nullopt;  ///< of a step document, instead of scenarios
};

/// All that was selected, in the order in which it is run.
ELBOWROOM_API std::vector<Case> cases_of(CaseSelection selection);

/// The greatest number of ranks that a case has; there is at least one.
ELBOWROOM_API int most_ranks(std::span<const Case> cases);

/// The cases of a suite. A notice for each size that changed, as share_evenly says. `invalid_input` names every suite.
ELBOWROOM_API Result<CaseSelection> suite_cases(std::string_view suite, int gpus, const NoticeSink& notice);

/// Drops the cases in whose name the regular expression is not found. `invalid_input` in a line that begins with "only" where it is
/// none, and where nothing would be left.
ELBOWROOM_API Status keep_only(const std::string& pattern, std::vector<Scenario>& scenarios);

/// `invalid_input` names the first case that is not valid.
ELBOWROOM_API Status check_cases(const std::vector<Scenario>& scenarios);

/// Where cases are to run.
struct BackendRequest {
  std::string backend = "auto";
  bool fixed_gpus = false;  ///< a number of GPUs was asked for: fewer are not made up for by the simulator
  BackendOptions options;   ///< its sink is told what is taken instead of what was asked for
};

/// Opens the backend on at least as many devices as the cases need. The simulator takes their place where the GPUs here are too
/// few, and neither a backend nor a number was asked for. One notice says so.
ELBOWROOM_API Result<std::unique_ptr<Backend>> open_for(const BackendRequest& request, const std::vector<Scenario>& scenarios);

/// The same for cases of that many ranks.
ELBOWROOM_API Result<std::unique_ptr<Backend>> open_for(const BackendRequest& request, int ranks);

ELBOWROOM_API Origin origin_of(const Backend& backend, int gpus, std::uint64_t seed);

}  // namespace elbowroom
