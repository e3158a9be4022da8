#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

enum class Scheme;

struct Suite {
  std::string_view name;
  std::string_view purpose;
  int trials;  ///< counted trials when the user names none: fewer where a trial is long
  std::vector<Scenario> (*scenarios)(int gpus);
  std::span<const Scheme> schemes = {};  ///< run when the user names none; empty: the baselines
};

ELBOWROOM_API std::span<const Suite> suites();

/// A suite's sizes are for numbers of GPUs that are powers of two. Collectives of others get the greatest size below whose equal
/// shares begin at multiples of 256 B. A line says so for each size that changed.
ELBOWROOM_API std::vector<std::string> share_evenly(std::vector<Scenario>& scenarios);

/// `invalid_input` names every suite.
ELBOWROOM_API Result<Suite> find_suite(std::string_view name);

}  // namespace elbowroom
