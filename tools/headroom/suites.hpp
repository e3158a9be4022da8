#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "headroom/base/result.hpp"
#include "headroom/model/scenario.hpp"
#include "headroom/plan/scheme.hpp"

namespace headroom {

struct Suite {
  std::string_view name;
  std::string_view purpose;
  int trials;  ///< counted trials when the user names none: fewer where a trial is long
  std::vector<Scenario> (*scenarios)(int gpus);
  std::span<const Scheme> schemes = {};  ///< run when the user names none; empty: the plain ones
};

std::span<const Suite> suites();

/// `invalid_input` names every suite.
Result<Suite> find_suite(std::string_view name);

}  // namespace headroom
