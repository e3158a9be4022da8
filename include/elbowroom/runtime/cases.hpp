#pragma once

#include <optional>
#include <string>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/experiment/tune_case.hpp"
#include "elbowroom/model/case.hpp"

namespace elbowroom {

/// One case as `elbowroom bench` runs it, with nobody watching: medians in microseconds with 95 % intervals. It runs under the
/// schemes and plans of `settings`, or under the baselines where that names none. Blocks for some hundred runs of the case and
/// needs the device to itself. Errors as bench_case().
ELBOWROOM_API Result<CaseMeasurement> bench(Backend& backend, const Case& what, BenchSettings settings = {});

/// One case as `elbowroom tune` searches it, with nobody watching. With `profile`, the path of a file, the choice is stored there,
/// and a search that was ended goes on where it was. Blocks for the budget of `settings` (60 s) and about half as much for the
/// fresh rounds, and needs the device to itself. Errors as tune_case() and add_to_profile(); what is stored is verified.
ELBOWROOM_API Result<TunedCase> tune(Backend& backend, const Case& what, TuneSettings settings = {},
                                     const std::optional<std::string>& profile = std::nullopt);

}  // namespace elbowroom
